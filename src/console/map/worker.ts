// Makes the shapes of the map beside the page, where cutting them out of the boundary index would hold up most of a
// second.
import { makeShapes } from './shapes.js';

export interface ShapesRequest {
  readonly index: Uint8Array;
  readonly land: Uint8Array;
  readonly rivers: Uint8Array;
}

addEventListener('message', ({ data }: MessageEvent<ShapesRequest>) => {
  postMessage(makeShapes(data.index, data.land, data.rivers));
});
