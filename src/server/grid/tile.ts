// Tiles of the web's maps (z/x/y in the Mercator projection), and the grid in one: which resolution its zoom shows, and
// the codes of the cells that touch it.

import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { cover } from '../../hexcodes/geometry/cover.js';
import type { CellFeature } from '../../hexcodes/geometry/geojson.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';

// Cells as a vector tile (Mapbox Vector Tile 2.1): one layer of polygons, whole ones also where they reach beyond the
// tile, so that the outline of a cell is the same in each tile that it touches.

const LAYER = 'grid';
/** Steps across a tile. */
const EXTENT = 4096;
const POLYGON = 3;

/** No layer, and so no bytes, where there are no cells. */
export function vectorTileOf(tile: Tile, cells: readonly CellFeature[]): Uint8Array {
  if (cells.length === 0) return new Uint8Array(0);
  const features = cells.map(({ geometry, properties }) => {
    const ring = geometry.coordinates[0]!.map(([lng, lat]): [number, number] => {
      const [right, down] = inTile(tile, lng, lat);
      return [Math.round(right * EXTENT), Math.round(down * EXTENT)];
    });
    // Counter-clockwise on the map; a tile has its outer rings the other way round.
    return { type: POLYGON, geometry: [ring.reverse()], tags: { ...properties } };
  });
  return fromGeojsonVt({ [LAYER]: { features } as never }, { version: 2, extent: EXTENT });
}

export interface Tile {
  readonly zoom: number;
  /** From 0, west to east and north to south. */
  readonly x: number;
  readonly y: number;
}

/**
 * Resolution by zoom: the finest one of which a tile has up to some 180 cells at the equator, by the mean area. One
 * with cells on its edges and smaller ones than the mean has at most 256 (test/unit/server/grid.test.ts).
 */
export const RESOLUTION_OF_ZOOM = [
  0, 0, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 13, 14, 15,
] as const;
export const MAX_ZOOM = RESOLUTION_OF_ZOOM.length - 1;

/** Degrees around all provinces and their sea. */
const COVERAGE = { south: 5, west: 100, north: 25, east: 119 } as const;
/**
 * A cell of resolution 0 reaches no further beyond its centre, in degrees there; each finer one is smaller by a root of
 * seven.
 */
const REACH_DEG = 15;

const INTEGER = /^(?:0|[1-9]\d{0,7})$/;

/** @returns the tile of three texts, or the faults of those that name none */
export function readTile(z: string, x: string, y: string): Tile | ParameterFault[] {
  const zoom = INTEGER.test(z) ? Number(z) : Number.NaN;
  if (!(zoom <= MAX_ZOOM)) return [{ parameter: 'z', message: `must be an integer from 0 to ${MAX_ZOOM}` }];
  const most = 2 ** zoom - 1;
  const faults = Object.entries({ x, y }).flatMap(([parameter, text]) =>
    INTEGER.test(text) && Number(text) <= most
      ? []
      : [{ parameter, message: `must be an integer from 0 to ${most} at zoom ${zoom}` }],
  );
  return faults.length > 0 ? faults : { zoom, x: Number(x), y: Number(y) };
}

/** The longitude of a column's western edge and the latitude of a row's northern edge, in degrees. */
const lngDegOf = (x: number, zoom: number): number => (x / 2 ** zoom) * 360 - 180;
const latDegOf = (y: number, zoom: number): number =>
  (Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / 2 ** zoom))) * 180) / Math.PI;

/**
 * Where a position lies in a tile: 0, 0 at its north-western corner, 1, 1 at its south-eastern one; beyond it outside.
 */
export function inTile({ zoom, x, y }: Tile, lngDeg: number, latDeg: number): [right: number, down: number] {
  const mercator = Math.asinh(Math.tan((latDeg * Math.PI) / 180)) / Math.PI;
  return [((lngDeg + 180) / 360) * 2 ** zoom - x, ((1 - mercator) / 2) * 2 ** zoom - y];
}

/**
 * The codes of the cells that touch a tile, in the order of their H3 indexes. Cells of no province have none. Tiles far
 * from Viet Nam take no work.
 */
export function codesIn(hexcodes: Hexcodes, { zoom, x, y }: Tile): string[] {
  const resolution = RESOLUTION_OF_ZOOM[zoom]!;
  const reach = REACH_DEG / 7 ** (resolution / 2);
  const west = Math.max(lngDegOf(x, zoom), COVERAGE.west - reach);
  const east = Math.min(lngDegOf(x + 1, zoom), COVERAGE.east + reach);
  const north = Math.min(latDegOf(y, zoom), COVERAGE.north + reach);
  const south = Math.max(latDegOf(y + 1, zoom), COVERAGE.south - reach);
  if (west >= east || south >= north) return [];
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return cover(hexcodes, { type: 'Polygon', coordinates: [ring] }, { resolution });
}
