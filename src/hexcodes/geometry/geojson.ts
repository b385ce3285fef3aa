// Hexcodes as GeoJSON (RFC 7946): cells as polygons, centres as points. Longitude comes first; rings are closed and
// counter-clockwise.

import { cellRing } from './cell-ring.js';
import { type Codebook, h3Text, readOrThrow } from './codebook.js';

/** The properties of every feature made here. */
export interface CodeProperties {
  hexcodes: string;
  resolution: number;
  admin_code: string;
}

export interface CellFeature {
  type: 'Feature';
  id: string;
  geometry: { type: 'Polygon'; coordinates: [lng: number, lat: number][][] };
  properties: CodeProperties;
}

export interface CenterFeature {
  type: 'Feature';
  id: string;
  geometry: { type: 'Point'; coordinates: [lng: number, lat: number] };
  properties: CodeProperties;
}

export interface FeatureCollection<F> {
  type: 'FeatureCollection';
  features: F[];
}

/**
 * A code's cell as a GeoJSON polygon feature; its id is the canonical hexcode.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function cellFeature(hexcodes: Codebook, code: string): CellFeature {
  const read = readOrThrow(hexcodes, code);
  const ring = cellRing(h3Text(read.cell));
  return {
    type: 'Feature',
    id: read.hexcodes,
    geometry: { type: 'Polygon', coordinates: [ring] },
    properties: propertiesOf(read),
  };
}

/**
 * The centre of a code's cell as a GeoJSON point feature; its id is the canonical hexcode.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function centerFeature(hexcodes: Codebook, code: string): CenterFeature {
  const read = readOrThrow(hexcodes, code);
  return {
    type: 'Feature',
    id: read.hexcodes,
    geometry: { type: 'Point', coordinates: [read.lng, read.lat] },
    properties: propertiesOf(read),
  };
}

/**
 * The cells of many codes as one GeoJSON feature collection, in the order given.
 *
 * @throws HexcodesError INVALID_HEXCODES for the first text that is no hexcode
 */
export function cellCollection(hexcodes: Codebook, codes: Iterable<string>): FeatureCollection<CellFeature> {
  return { type: 'FeatureCollection', features: Array.from(codes, (code) => cellFeature(hexcodes, code)) };
}

function propertiesOf({ hexcodes, resolution, admin_code }: CodeProperties): CodeProperties {
  return { hexcodes, resolution, admin_code };
}
