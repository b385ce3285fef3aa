// Makes the shapes of the map beside the page: cutting the provinces out of the boundary index takes most of a second.
import { ProvinceBorders } from '../../geometry/province-borders.js';

addEventListener('message', ({ data }: MessageEvent<{ index: Uint8Array }>) => {
  const borders = new ProvinceBorders(data.index);
  postMessage(Array.from({ length: 34 }, (_, admin) => borders.ofAdmin(admin)));
});
