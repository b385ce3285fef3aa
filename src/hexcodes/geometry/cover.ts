// The hexcodes of an area: every cell that touches it, or lies in it, for geofences and delivery zones.

import { cellToChildren, cellToLatLng, cellToParent, compactCells, getResolution, latLngToCell } from 'h3-js';
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
  if (which !== 'touch' && which !== 'center' && which !== 'inside')
    throw new HexcodesError('BAD_ARGUMENT', `cells is 'touch', 'center' or 'inside', not ${shown(which)}`);
  requireFlag(compact, 'compact');
  const found = new Set<string>();
  const filling = new Filling(resolution, which, found);
  for (const polygon of polygonsOf(area)) {
    requireSize(polygon[0]!, resolution);
    const segments = (polygon as unknown as Point[][]).flatMap(segmentsOf);
    for (const root of ROOTS) filling.fill(root, 0, [-1000, 1000], [], segments);
    // An area within one cell crosses no edge of the cell.
    const [lng, lat] = polygon[0]![0]!;
    if (which === 'touch') found.add(latLngToCell(lat!, lng!, resolution));
  }
  const codes = new Map<string, string>();
  for (const cell of found) {
    const code = codeOf(hexcodes, cell);
    if (code !== null) codes.set(cell, code);
  }
  if (compact) compactInto(hexcodes, codes);
  return [...codes.keys()].sort().map((cell) => codes.get(cell)!);
}

/** The base cells of format 1; none of them is a pentagon. */
const ROOTS = ['8041fffffffffff', '804bfffffffffff', '8065fffffffffff', '8069fffffffffff'];
/** Degrees beyond which no position has a hexcode. */
const DOMAIN = { west: 100, south: 5, east: 119, north: 25 };
/** Degrees from the centre of a cell of resolution 0 to its descendants; a finer cell has a root of 7 less. */
const REACH_DEG = 18;

type Point = readonly [lng: number, lat: number];

/** A line in degrees from its southern end, and the ring that it is a part of: 0 the outer one, above 0 a hole. */
interface Segment {
  readonly a: Point;
  readonly b: Point;
  readonly ring: number;
}

/**
 * The cells of one polygon, in the plane of longitude and latitude as H3 has them. Each cell of the hierarchy looks at
 * the segments near its parent alone; with none near it, it is in the area with all its descendants, or outside.
 */
class Filling {
  readonly #resolution: number;
  readonly #which: 'touch' | 'center' | 'inside';
  readonly #found: Set<string>;

  constructor(resolution: number, which: 'touch' | 'center' | 'inside', found: Set<string>) {
    this.#resolution = resolution;
    this.#which = which;
    this.#found = found;
  }

  /**
   * Adds the cells of a polygon that descend from a cell.
   * @param from a position near the cell
   * @param odd the rings that hold this position
   * @param around the segments near both
   */
  fill(cell: string, level: number, from: Point, odd: readonly number[], around: readonly Segment[]): void {
    const [lat, lng] = cellToLatLng(cell) as [number, number];
    const high = REACH_DEG / 7 ** (level / 2);
    const wide = high / Math.cos(((lat + high) * Math.PI) / 180);
    const { west, south, east, north } = DOMAIN;
    if (lng + wide < west || lng - wide > east || lat + high < south || lat - high > north) return;
    const near = around.filter((segment) => touchesBox(segment, lng, lat, wide, high));
    // Beside the centre, which may be a corner of the area.
    const at = [lng + wide / 73, lat + high / 31] as const;
    const rings = ringsAt(odd, around, from, at);
    if (near.length === 0) {
      if (isInArea(rings)) for (const each of cellToChildren(cell, this.#resolution)) this.#add(each);
    } else if (level < this.#resolution) {
      for (const child of cellToChildren(cell, level + 1)) this.fill(child, level + 1, at, rings, near);
    } else if (this.#isPart(cell, ringsAt(rings, near, at, [lng, lat]), near)) this.#add(cell);
  }

  #isPart(cell: string, rings: readonly number[], near: readonly Segment[]): boolean {
    const which = this.#which;
    if ((which !== 'inside' && isInArea(rings)) || which === 'center') return isInArea(rings);
    const outline = segmentsOf(cellRing(cell), 0);
    // Outside of the outer ring no hole counts.
    const edges = rings.includes(0) ? near : near.filter(({ ring }) => ring === 0);
    const isCut = edges.some((edge) => outline.some((side) => meet(edge, side)));
    const [lat, lng] = cellToLatLng(cell) as [number, number];
    const holds = ({ a }: Segment): boolean => isInArea(ringsAt([0], outline, [lng, lat], a));
    if (which === 'inside') return isInArea(rings) && !isCut && !near.some(holds);
    return isCut || edges.some((edge) => edge.ring > 0 && holds(edge));
  }

  #add(cell: string): void {
    this.#found.add(cell);
    if (this.#found.size > MAX_CELLS) throw tooMany(this.#found.size, this.#resolution);
  }
}

/** A longitude is 360° more where a step of the ring is over 180° wide: it crosses the 180th meridian, as H3 has it. */
function segmentsOf(given: readonly Point[], ring: number): Segment[] {
  const isFar = given.some(([lng], i) => Math.abs(lng - given.at(i - 1)![0]) > 180);
  const points = isFar ? given.map(([lng, lat]): Point => [lng < 0 ? lng + 360 : lng, lat]) : given;
  return points.map((b, i) => {
    const a = points.at(i - 1)!;
    // A line between two areas is the same for both, whatever the direction of their rings.
    return a[1] < b[1] || (a[1] === b[1] && a[0] < b[0]) ? { a, b, ring } : { a: b, b: a, ring };
  });
}

/** Whether a segment touches a box around a position. */
function touchesBox({ a, b }: Segment, lng: number, lat: number, wide: number, high: number): boolean {
  const [east, north] = [b[0] - a[0], b[1] - a[1]];
  return (
    Math.abs(a[0] + b[0] - 2 * lng) <= Math.abs(east) + 2 * wide &&
    Math.abs(a[1] + b[1] - 2 * lat) <= north + 2 * high &&
    Math.abs(east * (lat - a[1]) - north * (lng - a[0])) <= wide * north + high * Math.abs(east)
  );
}

const isInArea = (rings: readonly number[]): boolean => rings.length === 1 && rings[0] === 0;

/**
 * The rings that hold a position, by those of another and the segments around both. One on a segment is east of it, if
 * the other is farther north.
 */
function ringsAt(
  odd: readonly number[],
  around: readonly Segment[],
  from: Point,
  to: Point,
): readonly number[] {
  const rings = new Set(odd);
  for (const { a, b, ring } of around)
    if (
      turn(from, to, a) > 0 !== turn(from, to, b) > 0 &&
      turn(a, b, from) > 0 !== turn(a, b, to) > 0 &&
      !rings.delete(ring)
    )
      rings.add(ring);
  return [...rings];
}

/** The side of the line through two positions on which a third lies: above 0 is its left, 0 the line. */
const turn = (a: Point, b: Point, [lng, lat]: Point): number =>
  (b[0] - a[0]) * (lat - a[1]) - (b[1] - a[1]) * (lng - a[0]);

/** Whether two segments that are not parallel have a position in common. */
function meet({ a, b }: Segment, { a: c, b: d }: Segment): boolean {
  const [atA, atB, atC, atD] = [turn(c, d, a), turn(c, d, b), turn(a, b, c), turn(a, b, d)];
  return atA !== atB && atA * atB <= 0 && atC * atD <= 0;
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
  const atCentre = firstCode(hexcodes, cell, [cellToLatLng(cell) as [number, number]]);
  if (atCentre !== null) return atCentre;
  const ring = cellRing(cell);
  const corners = ring.map(([x, y]) => [y, x] as const);
  return firstCode(hexcodes, cell, corners) ?? firstCode(hexcodes, cell, edgePositions(hexcodes, cell, ring));
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
