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
import { requireFlag, requireKnown, shown } from '../wire/params/names.js';
import {
  type Codebook,
  cellRing,
  h3Text,
  isWithin,
  type LatLng,
  latLngOf,
  type Position,
  readOrThrow,
  requireCodes,
} from './codebook.js';

// Positions of the coverage in cells of which it holds neither the centre nor a corner: a spit, an islet, a bend of
// the border. They lie along the edge of the coverage.

/** Size in degrees of a square of the segment table. */
const SQUARE_DEG = 0.05;
const SQUARES_A_ROW = 100_000;
/** Degrees from the edge to either side: the index has whole micro-degrees. */
const ASIDE_DEG = [1e-6, 4e-6] as const;

interface Edges {
  /** Segments, four numbers each: lng, lat, lng, lat in degrees. */
  readonly segments: Float64Array;
  /** Offsets in `segments` by square. */
  readonly bySquare: ReadonlyMap<number, readonly number[]>;
}

const KNOWN = new WeakMap<Codebook, Edges>();

const squareOf = (deg: number): number => Math.floor(deg / SQUARE_DEG);

function edgesOf(hexcodes: Codebook): Edges {
  const known = KNOWN.get(hexcodes);
  if (known !== undefined) return known;
  const lines = hexcodes.coverageEdges?.() ?? [];
  const segments = new Float64Array(lines.reduce((sum, line) => sum + 2 * line.length - 4, 0));
  const bySquare = new Map<number, number[]>();
  let at = 0;
  for (const line of lines)
    for (let i = 2; i < line.length; i += 2) {
      const ends = [line[i - 2]!, line[i - 1]!, line[i]!, line[i + 1]!].map((each) => each / 1e6);
      const [x0, y0, x1, y1] = ends as [number, number, number, number];
      segments.set(ends, at);
      for (let x = squareOf(Math.min(x0, x1)); x <= squareOf(Math.max(x0, x1)); x++)
        for (let y = squareOf(Math.min(y0, y1)); y <= squareOf(Math.max(y0, y1)); y++) {
          const square = bySquare.get(y * SQUARES_A_ROW + x);
          if (square === undefined) bySquare.set(y * SQUARES_A_ROW + x, [at]);
          else square.push(at);
        }
      at += 4;
    }
  const edges = { segments, bySquare };
  KNOWN.set(hexcodes, edges);
  return edges;
}

/**
 * Positions of a cell, in degrees, at both sides of the coverage's edge, wherever the edge runs through it.
 *
 * @param hexcodes a loaded library
 * @param cell an H3 index in hexadecimal
 * @param ring its corners, longitude first, counter-clockwise, the first one repeated at the end
 */
function* edgePositions(
  hexcodes: Codebook,
  cell: string,
  ring: readonly (readonly [lng: number, lat: number])[],
): Generator<LatLng> {
  const { segments, bySquare } = edgesOf(hexcodes);
  const resolution = getResolution(cell);
  const isInCell = (lng: number, lat: number): boolean => latLngToCell(lat, lng, resolution) === cell;
  const lngs = ring.map(([lng]) => lng);
  const lats = ring.map(([, lat]) => lat);
  const [west, east] = [squareOf(Math.min(...lngs)), squareOf(Math.max(...lngs))];
  const [south, north] = [squareOf(Math.min(...lats)), squareOf(Math.max(...lats))];
  for (const [square, offsets] of squaresWithin(bySquare, { west, south, east, north }))
    for (const at of offsets) {
      const [x0, y0, x1, y1] = segments.subarray(at, at + 4) as unknown as [number, number, number, number];
      // A long segment has pieces in several squares; the first square in the cell suffices.
      if (square !== undefined && Math.max(squareOf(Math.min(x0, x1)), west) !== square % SQUARES_A_ROW)
        continue;
      const piece = withinRing(ring, x0, y0, x1, y1);
      if (piece === null) continue;
      const [from, to] = piece;
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [acrossX, acrossY] = [(y0 - y1) / length, (x1 - x0) / length];
      for (const t of [(from + to) / 2, from, to, from + (to - from) * 0.01, to - (to - from) * 0.01]) {
        const [lng, lat] = [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
        if (isInCell(lng, lat)) yield [lat, lng];
        for (const aside of ASIDE_DEG)
          for (const side of [-aside, aside]) {
            const [x, y] = [lng + side * acrossX, lat + side * acrossY];
            if (isInCell(x, y)) yield [y, x];
          }
      }
    }
}

interface Squares {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Squares of a cell that have segments; all squares of the table where the cell covers more than the table has. */
function* squaresWithin(
  bySquare: ReadonlyMap<number, readonly number[]>,
  { west, south, east, north }: Squares,
): Generator<readonly [square: number | undefined, offsets: readonly number[]]> {
  if ((east - west + 1) * (north - south + 1) > bySquare.size) {
    for (const offsets of bySquare.values()) yield [undefined, offsets];
    return;
  }
  for (let y = south; y <= north; y++)
    for (let x = west; x <= east; x++) {
      const square = y * SQUARES_A_ROW + x;
      const offsets = bySquare.get(square);
      if (offsets !== undefined) yield [square, offsets];
    }
}

/** The piece of a segment in a convex ring, as fractions of its length; null if it is outside. */
function withinRing(
  ring: readonly (readonly [number, number])[],
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): [from: number, to: number] | null {
  let [from, to] = [0, 1];
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1]!;
    const [bx, by] = ring[i]!;
    // Distances inside the edge, to its left, scaled by its length.
    const atStart = (bx - ax) * (y0 - ay) - (by - ay) * (x0 - ax);
    const atEnd = (bx - ax) * (y1 - ay) - (by - ay) * (x1 - ax);
    if (atStart < 0 && atEnd < 0) return null;
    if (atStart < 0) from = Math.max(from, atStart / (atStart - atEnd));
    else if (atEnd < 0) to = Math.min(to, atStart / (atStart - atEnd));
  }
  return from <= to ? [from, to] : null;
}

interface NamedCell {
  readonly name: string;
  /** Index of its code in the list. */
  readonly order: number;
}

/**
 * Zones by cells: whether positions lie in the cells of a list of hexcodes, as `cover` makes it. A position is in a
 * cell of the list if the cell is the H3 ancestor of the position's cell at the finest resolution of the list; so a
 * compacted list gives the same answers as the original. A position without a hexcode, abroad, is in none; its
 * province plays no part.
 */
export class CellSet {
  readonly #hexcodes: Codebook;
  readonly #names = new Map<string, NamedCell>();
  /** Resolutions of the list, descending. */
  readonly #resolutions: readonly number[];

  /**
   * @param hexcodes a loaded library
   * @param codes in any accepted spelling, optionally with a name each; the first code of the list that holds a
   * position names it
   * @throws HexcodesError INVALID_HEXCODES for the first text that is not a hexcode, BAD_ARGUMENT for no list
   */
  constructor(hexcodes: Codebook, codes: Iterable<string | readonly [code: string, name: string]>) {
    requireCodes(hexcodes, codes);
    this.#hexcodes = hexcodes;
    const resolutions = new Set<number>();
    let order = 0;
    for (const each of codes) {
      const [code, name = ''] = Array.isArray(each) ? (each as string[]) : [each as string];
      const { cell, resolution } = readOrThrow(hexcodes, code!);
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

  /** The zone of an H3 cell of the finest resolution, in hexadecimal, whether or not it has a hexcode. */
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

/** Number of strips into which `codesWithin` cuts a box. */
export const stripsOf = (box: Box, resolution: number): number =>
  Math.max(1, Math.ceil(estimatedCells(box, resolution) / STRIP_CELLS));

/**
 * The hexcodes of the cells whose centre lies in the box and in a province, strip by strip from south to north, so
 * that the caller can do other work between two strips.
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
  readonly cells?: 'touch' | 'center' | 'inside' | undefined;
  /** Whether seven cells of one parent are replaced by the parent, at every level. Default false. */
  readonly compact?: boolean | undefined;
}

const FLAGS = {
  touch: POLYGON_TO_CELLS_FLAGS.containmentOverlapping,
  center: POLYGON_TO_CELLS_FLAGS.containmentCenter,
  inside: POLYGON_TO_CELLS_FLAGS.containmentFull,
} as const;
/** Larger zones would not fit into memory. */
const MAX_CELLS = 2_000_000;
/**
 * Mean area of a cell of resolution 0, in square degrees at the equator. Each finer resolution has a seventh of it.
 */
const SQUARE_DEGREES = 4_357_449 / 111.2 ** 2;

/**
 * The hexcodes of an area, in the order of their H3 indexes. A cell has the province of its centre, else of a corner,
 * else of the edge of the coverage within it; cells with none of these lie outside Viet Nam and are omitted. So with
 * `touch` no position of the area that has a hexcode is missed. H3's hierarchy is logical: with `compact` a code
 * stands for its seven finer cells, whose outline differs a little from that of the drawn cell. `CellSet` of the list
 * follows the hierarchy, so that compacting changes no answer: cells are replaced by their parent only where all
 * seven and the parent have a code.
 * @param hexcodes a loaded library
 * @param area in degrees, longitude first
 * @throws HexcodesError BAD_RESOLUTION; BAD_ARGUMENT for anything but an area of up to 2,000,000 cells, and for an
 * option of another name or value
 */
export function cover(hexcodes: Codebook, area: Area, options: CoverOptions): string[] {
  requireKnown(options, ['resolution', 'cells', 'compact'], 'cover');
  const { resolution, cells: which = 'touch', compact = false } = options;
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `A resolution is an integer from 0 to 15, not ${shown(resolution)}`,
    );
  const flag = Object.hasOwn(FLAGS, which) ? FLAGS[which] : undefined;
  if (flag === undefined)
    throw new HexcodesError('BAD_ARGUMENT', `cells is 'touch', 'center' or 'inside', not ${shown(which)}`);
  requireFlag(compact, 'compact');
  const found = new Set<string>();
  for (const polygon of polygonsOf(area)) {
    requireSize(polygon[0]!, resolution);
    for (const cell of polygonToCellsExperimental(polygon, resolution, flag, true)) found.add(cell);
    // H3 omits a cell that contains a whole hole, if its centre is in the hole.
    if (which === 'touch')
      for (const [corner] of polygon.slice(1)) found.add(latLngToCell(corner![1]!, corner![0]!, resolution));
    if (found.size > MAX_CELLS) throw tooMany(found.size, resolution);
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
  const isPosition = (given: unknown): boolean =>
    Array.isArray(given) && isWithin(given[0], 180) && isWithin(given[1], 90);
  return (
    Array.isArray(rings) &&
    rings.length > 0 &&
    rings.every((ring) => Array.isArray(ring) && ring.length >= 4 && ring.every(isPosition))
  );
}

/** Limits the size by the box around the ring: no polygon in it has more cells. */
function requireSize(ring: number[][], resolution: number): void {
  let [west, south, east, north] = [180, 90, -180, -90];
  for (const [lng, lat] of ring as [number, number][]) {
    [west, east] = [Math.min(west, lng), Math.max(east, lng)];
    [south, north] = [Math.min(south, lat), Math.max(north, lat)];
  }
  const cells = ((east - west) * (north - south) * 7 ** resolution) / SQUARE_DEGREES;
  if (cells > MAX_CELLS) throw tooMany(cells, resolution);
}

const tooMany = (cells: number, resolution: number): HexcodesError =>
  new HexcodesError(
    'BAD_ARGUMENT',
    `The area has up to ${Math.round(cells)} cells of resolution ${resolution}: ${MAX_CELLS} are the most, so take a coarser one`,
  );
