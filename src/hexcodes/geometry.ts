// The entry hexcodes/geometry: shapes, neighbours, parents, children and suggestions, computed with h3-js on top of a
// loaded library. Encode and decode do not use it.

export { CellSet } from './geometry/cell-set.js';
export type { Codebook, ReadCode } from './geometry/codebook.js';
export { type Area, type CoverOptions, cover } from './geometry/cover.js';
export { children, gridDisk, neighbors, parent } from './geometry/family.js';
export {
  type CellFeature,
  type CenterFeature,
  type CodeProperties,
  cellCollection,
  cellFeature,
  centerFeature,
  type FeatureCollection,
} from './geometry/geojson.js';
export type { LatLng, Position } from './geometry/position.js';
export { area, boundary, distance, edge, radius } from './geometry/shape.js';
export { lengthen, shorten } from './geometry/short-codes.js';
export { type Slip, type Suggestion, type SuggestOptions, suggest } from './geometry/suggest.js';
