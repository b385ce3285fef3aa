// The neighbours, ancestors and descendants of a hexcode's cell, as hexcodes.

import {
  cellArea,
  cellToBoundary,
  cellToChildren,
  cellToLatLng,
  cellToParent,
  edgeLength,
  getHexagonAreaAvg,
  greatCircleDistance,
  gridDisk as h3Disk,
  isValidCell,
  originToDirectedEdges,
  polygonToCells,
  UNITS,
} from 'h3-js';
import { HexcodesError } from '../errors.js';
import { shown } from '../wire/params/names.js';
import { type Codebook, h3Text, type LatLng, latLngOf, type Position, readOrThrow } from './codebook.js';

/** Longest answer of `children`: seven resolutions below the code. */
const MAX_CHILDREN = 7 ** 7;

function requireResolution(resolution: number, lowest: number, highest: number, what: string): void {
  if (!Number.isInteger(resolution) || resolution < lowest || resolution > highest) {
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `resolution of ${what} must be an integer of ${lowest} to ${highest}, not ${shown(resolution)}`,
    );
  }
}

/**
 * The hexcodes of the six cells that touch a code's cell, counter-clockwise as H3 gives them. A neighbour has the
 * admin code of its own centre. If the centre lies outside the coverage, or decode would not accept that code, it has
 * the admin code of `code`, which `encode` may never give. A neighbour for which decode accepts neither is omitted.
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param none there is no third argument: a number of rings, for instance, would be silently ignored
 * @returns up to six canonical hexcodes of the same resolution
 * @throws HexcodesError INVALID_HEXCODES, BAD_ARGUMENT
 */
export function neighbors(hexcodes: Codebook, code: string, ...none: never[]): string[] {
  if (none.length > 0)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      'neighbors(hexcodes, code) gives the first ring: it takes no more',
    );
  const read = readOrThrow(hexcodes, code);
  const own = h3Text(read.cell);
  const codes: string[] = [];
  for (const cell of h3Disk(own, 1)) {
    if (cell === own) continue;
    const theirs = packed(hexcodes, cell, read);
    if (theirs !== null) codes.push(theirs);
  }
  return codes;
}

/** Most steps of `gridDisk`: 751,501 cells. */
const MAX_STEPS = 500;

/**
 * The hexcodes of the cells within `steps` of a code's cell, the code itself first and then ring by ring. Their admin
 * codes are those of `neighbors`.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param steps 0 to 500
 * @returns up to 1 + 3 · steps · (steps + 1) canonical hexcodes of the same resolution
 * @throws HexcodesError INVALID_HEXCODES, BAD_ARGUMENT
 */
export function gridDisk(hexcodes: Codebook, code: string, steps: number): string[] {
  if (!Number.isInteger(steps) || steps < 0 || steps > MAX_STEPS)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `steps of gridDisk are an integer from 0 to ${MAX_STEPS}, not ${shown(steps)}`,
    );
  const read = readOrThrow(hexcodes, code);
  const own = h3Text(read.cell);
  return h3Disk(own, steps).flatMap((cell) =>
    cell === own ? [read.hexcodes] : (packed(hexcodes, cell, read) ?? []),
  );
}

/** The code of a cell within the province of its own centre, otherwise within that of the nearby code. */
function packed(
  hexcodes: Codebook,
  cell: string,
  { admin_code }: { readonly admin_code: string },
): string | null {
  const [lat, lng] = cellToLatLng(cell);
  const index = BigInt(`0x${cell}`);
  const theirs = hexcodes.adminCodeOf(lat!, lng!);
  return (theirs === null ? null : hexcodes.pack(index, theirs)) ?? hexcodes.pack(index, admin_code);
}

/**
 * The hexcode of the cell's H3 ancestor, within the same admin code.
 *
 * H3's hierarchy is logical: 6 to 8 % of the points of a cell lie outside the drawn shape of its ancestor.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param resolution of the ancestor, 0 up to the code's own; default one less than the code's
 * @throws HexcodesError INVALID_HEXCODES, BAD_RESOLUTION
 */
export function parent(hexcodes: Codebook, code: string, resolution?: number): string {
  const read = readOrThrow(hexcodes, code);
  const wanted = resolution === undefined ? read.resolution - 1 : resolution;
  requireResolution(wanted, 0, read.resolution, `a parent of ${read.hexcodes}`);
  const ancestor = hexcodes.pack(BigInt(`0x${cellToParent(h3Text(read.cell), wanted)}`), read.admin_code);
  // A row of the reach table includes the rows of all its descendants, so an ancestor always has its code.
  if (ancestor === null) throw new HexcodesError('BAD_DATA', `no code for the parent of ${read.hexcodes}`);
  return ancestor;
}

/**
 * The hexcodes of the cell's H3 descendants, within the same admin code. `parent` of each is `code`. Where the cell
 * lies on a border, descendants too far from the province for decode to accept them are left out.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param resolution of the descendants, at most 15 and seven below the code's own; default one more than the code's
 * @returns canonical hexcodes in H3's order, which is also their sort order: 7 per step of resolution
 * @throws HexcodesError INVALID_HEXCODES, BAD_RESOLUTION
 */
export function children(hexcodes: Codebook, code: string, resolution?: number): string[] {
  const read = readOrThrow(hexcodes, code);
  const wanted = resolution === undefined ? read.resolution + 1 : resolution;
  requireResolution(wanted, read.resolution, 15, `children of ${read.hexcodes}`);
  if (7 ** (wanted - read.resolution) > MAX_CHILDREN) {
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `resolution of children must be at most ${read.resolution + 7}: one step finer is seven times as many`,
    );
  }
  const codes: string[] = [];
  for (const cell of cellToChildren(h3Text(read.cell), wanted)) {
    const descendant = hexcodes.pack(BigInt(`0x${cell}`), read.admin_code);
    if (descendant !== null) codes.push(descendant);
  }
  return codes;
}

// Boundaries and sizes of cells on the sphere of H3, whose radius is 6371.007180918475 km.

/**
 * The corners of a code's cell, counter-clockwise, the first one not repeated: six, or up to ten where the cell
 * crosses an edge of H3's icosahedron.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @returns corners in degrees, latitude first
 * @throws HexcodesError INVALID_HEXCODES
 */
export function boundary(hexcodes: Codebook, code: string): LatLng[] {
  const { cell } = readOrThrow(hexcodes, code);
  return cellToBoundary(h3Text(cell)).map(([lat, lng]) => [lat!, lng!]);
}

/**
 * The area of a code's cell in square metres.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function area(hexcodes: Codebook, code: string): number {
  return cellArea(h3Text(readOrThrow(hexcodes, code).cell), UNITS.m2);
}

/**
 * The mean length of the edges of a code's cell in metres.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function edge(hexcodes: Codebook, code: string): number {
  const edges = originToDirectedEdges(h3Text(readOrThrow(hexcodes, code).cell));
  return edges.reduce((sum, each) => sum + edgeLength(each, UNITS.m), 0) / edges.length;
}

/**
 * How far the centre of a code's cell is from its farthest corner, in metres: the most by which encode and decode
 * can move a point.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function radius(hexcodes: Codebook, code: string): number {
  const { cell, lat, lng } = readOrThrow(hexcodes, code);
  return Math.max(
    ...cellToBoundary(h3Text(cell)).map((corner) => greatCircleDistance([lat, lng], corner, UNITS.m)),
  );
}

/**
 * The great-circle distance between two positions in metres. Each is given in degrees, or as a hexcode, which stands
 * for the centre of its cell.
 *
 * @throws HexcodesError INVALID_HEXCODES, NOT_A_COORDINATE
 */
export function distance(hexcodes: Codebook, from: string | Position, to: string | Position): number {
  return greatCircleDistance(centreOf(hexcodes, from), centreOf(hexcodes, to), UNITS.m);
}

function centreOf(hexcodes: Codebook, given: string | Position): [lat: number, lng: number] {
  if (typeof given !== 'string') return latLngOf(given);
  const { lat, lng } = readOrThrow(hexcodes, given);
  return [lat, lng];
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

/** Loads h3-js where it is a separate file, as in programs; takes 20 ms, once. */
export function loadH3(): void {
  isValidCell('0');
}
