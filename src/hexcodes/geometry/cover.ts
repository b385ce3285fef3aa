// The hexcodes of an area: every cell that touches it, or lies in it, for geofences and delivery zones.

import {
  cellToBoundary,
  cellToChildren,
  cellToLatLng,
  cellToParent,
  compactCells,
  getHexagonAreaAvg,
  getResolution,
  latLngToCell,
  POLYGON_TO_CELLS_FLAGS,
  polygonToCells,
  polygonToCellsExperimental,
  UNITS,
} from 'h3-js';
import { HexcodesError } from '../errors.js';
import { requireFlag, requireKnown } from '../library/options.js';
import { type Codebook, h3Text, type LatLng, latLngOf, type Position, readOrThrow } from './codebook.js';
import { edgePositions } from './coverage-edge.js';
import { cellRing } from './geojson.js';

interface NamedCell {
  readonly name: string;
  /** Index of its code in the list. */
  readonly order: number;
}

/**
 * Cells with names: whether positions lie in the cells of a list of hexcodes, as `cover` makes it. A position is in a
 * cell of the list if its cell of the finest resolution of the list has it as its H3 ancestor: so a compacted list
 * answers as the one that it was made of. A position without a hexcode, abroad, is in none; which province it has plays
 * no part.
 */
export class CellSet {
  readonly #hexcodes: Codebook;
  readonly #names = new Map<string, NamedCell>();
  /** Descending. */
  readonly #resolutions: readonly number[];

  /**
   * @param hexcodes a loaded library
   * @param codes in any accepted spelling; with a name each. The first code of the list that holds a position names it
   * @throws HexcodesError INVALID_HEXCODES for the first text that is not one
   */
  constructor(hexcodes: Codebook, codes: Iterable<string | readonly [code: string, name: string]>) {
    this.#hexcodes = hexcodes;
    const resolutions = new Set<number>();
    let order = 0;
    for (const each of codes) {
      const [code, name] = typeof each === 'string' ? [each, ''] : each;
      const { cell, resolution } = readOrThrow(hexcodes, code);
      resolutions.add(resolution);
      const text = h3Text(cell);
      if (!this.#names.has(text)) this.#names.set(text, { name, order });
      order++;
    }
    this.#resolutions = [...resolutions].sort((a, b) => b - a);
  }

  /** How many cells the list has. */
  get size(): number {
    return this.#names.size;
  }

  /** The finest resolution of the list, 0 for an empty one. */
  get resolution(): number {
    return this.#resolutions[0] ?? 0;
  }

  /**
   * Whether a position in degrees has a hexcode and lies in one of the cells.
   * @throws HexcodesError NOT_A_COORDINATE
   */
  has(position: Position): boolean {
    return this.nameAt(position) !== undefined;
  }

  /**
   * The name of the first cell of the list that holds a position in degrees; undefined for none.
   * @throws HexcodesError NOT_A_COORDINATE
   */
  nameAt(position: Position): string | undefined {
    const [lat, lng] = latLngOf(position);
    if (this.#hexcodes.adminCodeOf(lat, lng) === null) return undefined;
    return this.nameOf(latLngToCell(lat, lng, this.resolution));
  }

  /** The zone of an H3 cell of the finest resolution, in hexadecimal; whether it has a hexcode is not asked. */
  nameOf(cell: string): string | undefined {
    let first: NamedCell | undefined;
    for (const [i, resolution] of this.#resolutions.entries()) {
      const found = this.#names.get(i === 0 ? cell : cellToParent(cell, resolution));
      if (found !== undefined && (first === undefined || found.order < first.order)) first = found;
    }
    return first?.name;
  }
}

/** Degrees. Does not cross the 180th meridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const EARTH_RADIUS_KM = 6371.007180918475;
/** Approximate number of cells in one strip. */
const STRIP_CELLS = 500;

const inRadians = (deg: number): number => (deg * Math.PI) / 180;

/** About how many cells a box has; cells are up to a third larger or smaller than on average. */
export function estimatedCells({ west, south, east, north }: Box, resolution: number): number {
  const areaKm2 =
    EARTH_RADIUS_KM ** 2 * inRadians(east - west) * (Math.sin(inRadians(north)) - Math.sin(inRadians(south)));
  return areaKm2 / getHexagonAreaAvg(resolution, UNITS.km2);
}

/** The H3 indexes, hexadecimal, of the cells whose centre lies in the box. */
export function cellsWithin({ west, south, east, north }: Box, resolution: number): string[] {
  const corners = [
    [south, west],
    [south, east],
    [north, east],
    [north, west],
  ];
  return polygonToCells(corners, resolution);
}

/** The corners of a cell as a closed ring of GeoJSON. */
export function ringOf(cell: string): [lng: number, lat: number][] {
  return cellToBoundary(cell, true) as [number, number][];
}

/** Into how many strips `codesWithin` cuts a box. */
export const stripsOf = (box: Box, resolution: number): number =>
  Math.max(1, Math.ceil(estimatedCells(box, resolution) / STRIP_CELLS));

/**
 * The hexcodes of the cells whose centre lies in the box and in a province, strip by strip from south to north, so that
 * the caller can do other things between two of them.
 */
export function* codesWithin(hexcodes: Codebook, box: Box, resolution: number): Generator<string[]> {
  const { west, south, east, north } = box;
  const strips = stripsOf(box, resolution);
  for (let i = 0; i < strips; i++) {
    const low = south + ((north - south) * i) / strips;
    const high = south + ((north - south) * (i + 1)) / strips;
    yield cellsWithin({ west, south: low, east, north: high }, resolution).flatMap((cell) => {
      const [lat, lng] = cellToLatLng(cell);
      const admin = hexcodes.adminCodeOf(lat!, lng!);
      const code = admin === null ? null : hexcodes.pack(BigInt(`0x${cell}`), admin);
      return code === null ? [] : [code];
    });
  }
}

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
const MAX_CELLS = 2_000_000;
/** Mean area of a cell of resolution 0, square degrees at the equator. One finer resolution has a seventh of it. */
const SQUARE_DEGREES = 4_357_449 / 111.2 ** 2;

/**
 * The hexcodes of an area, in the order of their H3 indexes. A cell has the province of its centre, else of a corner,
 * else of the edge of the coverage within it; cells without any lie outside Viet Nam and are left out. So no position
 * of the area that has a hexcode is missed with `touch`.
 *
 * H3's hierarchy is logical: with `compact` a code stands for the seven finer cells of its own, whose outline differs a
 * little from that of the drawn cell. `CellSet` of the same list goes by these, so that compacting changes no answer:
 * cells become their parent only where all seven have a code, and the parent, too.
 *
 * @param hexcodes a loaded library
 * @param area in degrees, longitude first
 * @throws HexcodesError BAD_RESOLUTION; BAD_ARGUMENT for what is not an area or has more than 2,000,000 cells, and for
 *   an option of another name or value
 */
export function cover(hexcodes: Codebook, area: Area, options: CoverOptions): string[] {
  if (typeof options !== 'object' || options === null)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      'The third argument of cover is an object: { resolution, cells, compact }',
    );
  requireKnown(options, ['resolution', 'cells', 'compact'], 'cover');
  const { resolution, cells: which = 'touch', compact = false } = options;
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
    throw new HexcodesError('BAD_RESOLUTION', `A resolution is an integer from 0 to 15, not ${resolution}`);
  const flag = Object.hasOwn(FLAGS, which) ? FLAGS[which] : undefined;
  if (flag === undefined)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `cells is 'touch', 'center' or 'inside', not ${JSON.stringify(which)}`,
    );
  requireFlag(compact, 'compact');
  const found = new Set<string>();
  for (const polygon of polygonsOf(area)) {
    requireSize(polygon[0]!, resolution);
    for (const cell of polygonToCellsExperimental(polygon, resolution, flag, true)) found.add(cell);
  }
  const codes = new Map<string, string>();
  for (const cell of found) {
    const code = codeOf(hexcodes, cell);
    if (code !== null) codes.set(cell, code);
  }
  if (compact) compactInto(hexcodes, codes);
  return [...codes.keys()].sort().map((cell) => codes.get(cell)!);
}

/** Replaces seven children by their parent, unless the parent has no code itself. */
function compactInto(hexcodes: Codebook, codes: Map<string, string>): void {
  const children = [...codes.keys()];
  const queue = compactCells(children);
  const kept = new Set<string>();
  while (queue.length > 0) {
    const cell = queue.pop()!;
    const code = codes.get(cell) ?? codeOf(hexcodes, cell);
    if (code === null) queue.push(...cellToChildren(cell, getResolution(cell) + 1));
    else {
      kept.add(cell);
      codes.set(cell, code);
    }
  }
  for (const cell of codes.keys()) if (!kept.has(cell)) codes.delete(cell);
}

/**
 * The hexcode of a cell within the province of its centre, else of its first corner that has one, else of a piece of
 * the coverage's edge in it; null where no position of the cell has a code.
 */
export function codeOf(hexcodes: Codebook, cell: string): string | null {
  const [lat, lng] = cellToLatLng(cell) as [number, number];
  const ring = cellRing(cell);
  const positions = [[lat, lng] as const, ...ring.map(([x, y]) => [y, x] as const)];
  return (
    firstCode(hexcodes, cell, positions) ?? firstCode(hexcodes, cell, edgePositions(hexcodes, cell, ring))
  );
}

function firstCode(hexcodes: Codebook, cell: string, positions: Iterable<LatLng>): string | null {
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
  const isWithin = (given: unknown, limitDeg: number): boolean =>
    typeof given === 'number' && Math.abs(given) <= limitDeg;
  const isPosition = (given: unknown): boolean =>
    Array.isArray(given) && isWithin(given[0], 180) && isWithin(given[1], 90);
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
  if (cells > MAX_CELLS)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `The area has up to ${Math.round(cells)} cells of resolution ${resolution}: ${MAX_CELLS} are the most, so take a coarser one`,
    );
}
