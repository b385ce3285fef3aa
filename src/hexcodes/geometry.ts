// The entry hexcodes/geometry: shapes, neighbours, parents, children and suggestions, computed with h3-js on top of a
// loaded library. Encode and decode do not use it.

export {
  area,
  boundary,
  children,
  distance,
  edge,
  gridDisk,
  neighbors,
  parent,
  radius,
} from './geometry/cells.js';
export type { Codebook, LatLng, Position, ReadCode } from './geometry/codebook.js';
export {
  type CellFeature,
  type CenterFeature,
  type CodeProperties,
  cellCollection,
  cellFeature,
  centerFeature,
  type FeatureCollection,
} from './geometry/codebook.js';
export { type Area, CellSet, type CoverOptions, cover } from './geometry/cover.js';
export { type FoundCode, type FoundPosition, type FoundText, findCode } from './geometry/find-code.js';
export { type OtherText, otherText } from './geometry/other-text.js';
export {
  lengthen,
  type Slip,
  type Suggestion,
  type SuggestOptions,
  shorten,
  suggest,
} from './geometry/suggest.js';
export {
  type CompassPoint,
  type FindPlacesOptions,
  findPlaces,
  type NamedPlace,
  type PlaceKind,
  type PlaceNear,
  placeNear,
} from './library/places.js';
