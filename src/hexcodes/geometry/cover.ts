// The hexcodes of an area: every cell that touches it, or lies in it, for geofences and delivery zones.

import { cellToLatLng, compactCells, POLYGON_TO_CELLS_FLAGS, polygonToCellsExperimental } from 'h3-js';
import { HexcodesError } from '../errors.js';
import { cellRing } from './cell-ring.js';
import type { Codebook } from './codebook.js';

type Ring = readonly (readonly number[])[];

/** A GeoJSON polygon (RFC 7946), longitude first: an outer ring and its holes, or several of them. */
export type Area =
  | { readonly type: 'Polygon'; readonly coordinates: readonly Ring[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] };

export interface CoverOptions {
  /** H3 resolution of the cells, 0 to 15. */
  readonly resolution: number;
  /** Which cells: those that `touch` the area (default), whose `center` is in it, or that lie `inside` as a whole. */
  readonly cells?: 'touch' | 'center' | 'inside';
  /** Whether seven cells of one parent become the parent, again and again. Default false. */
  readonly compact?: boolean;
}

const FLAGS = {
  touch: POLYGON_TO_CELLS_FLAGS.containmentOverlapping,
  center: POLYGON_TO_CELLS_FLAGS.containmentCenter,
  inside: POLYGON_TO_CELLS_FLAGS.containmentFull,
} as const;
/** More would not be a zone, and not fit into memory. */
const MOST_CELLS = 2_000_000;
/** Mean area of a cell of resolution 0, square degrees at the equator. One finer resolution has a seventh of it. */
const SQUARE_DEGREES = 4_357_449 / 111.2 ** 2;

/**
 * The hexcodes of an area, in the order of their H3 indexes. A cell has the province of its centre, else of a corner;
 * cells with neither lie outside Viet Nam and are left out.
 *
 * H3's hierarchy is logical: with `compact` a code stands for the seven finer cells of its own, whose outline differs a
 * little from that of the drawn cell. `CellSet` of the same list goes by these, so that compacting changes no answer.
 *
 * @param hexcodes a loaded library
 * @param area in degrees, longitude first
 * @throws HexcodesError BAD_RESOLUTION, BAD_ARGUMENT for what is no such area or has more than 2,000,000 cells
 */
export function cover(hexcodes: Codebook, area: Area, options: CoverOptions): string[] {
  const { resolution, cells: which = 'touch', compact = false } = options ?? {};
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
    throw new HexcodesError('BAD_RESOLUTION', `A resolution is an integer from 0 to 15, not ${resolution}`);
  const flag = FLAGS[which];
  if (flag === undefined)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `cells is 'touch', 'center' or 'inside', not ${JSON.stringify(which)}`,
    );
  const found = new Set<string>();
  for (const polygon of polygonsOf(area)) {
    requireSize(polygon[0]!, resolution);
    for (const cell of polygonToCellsExperimental(polygon, resolution, flag, true)) found.add(cell);
  }
  const cells = compact ? compactCells([...found]) : [...found];
  return cells.sort().flatMap((cell) => codeOf(hexcodes, cell) ?? []);
}

/** The hexcode of a cell within the province of its centre, else of its first corner that has one; null without any. */
export function codeOf(hexcodes: Codebook, cell: string): string | null {
  const [lat, lng] = cellToLatLng(cell) as [number, number];
  const positions = [[lat, lng] as const, ...cellRing(cell).map(([x, y]) => [y, x] as const)];
  for (const [latDeg, lngDeg] of positions) {
    const admin = hexcodes.adminCodeOf(latDeg, lngDeg);
    const code = admin === null ? null : hexcodes.pack(BigInt(`0x${cell}`), admin);
    if (code !== null) return code;
  }
  return null;
}

function polygonsOf(area: Area): number[][][][] {
  const { type, coordinates } = (area ?? {}) as { type?: unknown; coordinates?: unknown };
  const polygons = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : undefined;
  if (!Array.isArray(polygons) || !polygons.every(isPolygon))
    throw new HexcodesError(
      'BAD_ARGUMENT',
      'An area is a GeoJSON Polygon or MultiPolygon: rings of at least four positions [lng, lat] in degrees',
    );
  return polygons as number[][][][];
}

function isPolygon(rings: unknown): boolean {
  const isPosition = (given: unknown): boolean =>
    Array.isArray(given) && Math.abs(given[0] as number) <= 180 && Math.abs(given[1] as number) <= 90;
  return (
    Array.isArray(rings) &&
    rings.length > 0 &&
    rings.every((ring) => Array.isArray(ring) && ring.length >= 4 && ring.every(isPosition))
  );
}

/** Checks the size by the box around the ring: no polygon in it has more cells. */
function requireSize(ring: number[][], resolution: number): void {
  let [west, south, east, north] = [180, 90, -180, -90];
  for (const [lng, lat] of ring as [number, number][]) {
    [west, east] = [Math.min(west, lng), Math.max(east, lng)];
    [south, north] = [Math.min(south, lat), Math.max(north, lat)];
  }
  const cells = ((east - west) * (north - south) * 7 ** resolution) / SQUARE_DEGREES;
  if (cells > MOST_CELLS)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `The area has up to ${Math.round(cells)} cells of resolution ${resolution}: ${MOST_CELLS} are the most, so take a coarser one`,
    );
}
