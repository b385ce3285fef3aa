// Makes the shapes of the map in a worker, because cutting them out of the boundary index would block the page for
// most of a second.
import { makeShapes } from './shapes.js';

export interface ShapesRequest {
  readonly index: Uint8Array;
  readonly land: Uint8Array;
  readonly rivers: Uint8Array;
}

addEventListener('message', ({ data }: MessageEvent<ShapesRequest>) => {
  postMessage(makeShapes(data.index, data.land, data.rivers));
});
