// hexcodes/geometry: cells as shapes and families, on top of a loaded library. Cold and convenient, by h3-js; encode
// and decode need none of it.

export type { Codebook, ReadCode } from './geometry/codebook.js';
export { children, neighbors, parent } from './geometry/family.js';
export {
  type CellFeature,
  type CenterFeature,
  type CodeProperties,
  cellCollection,
  cellFeature,
  centerFeature,
  type FeatureCollection,
} from './geometry/geojson.js';
export { area, boundary, distance, edge, type LatLngDeg, radius } from './geometry/shape.js';
export { type Slip, type Suggestion, type SuggestOptions, suggest } from './geometry/suggest.js';
