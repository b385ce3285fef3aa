// Draws the lines of the console's map, land and rivers, thinned. src/console/map/shapes.ts reads both files.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { inZone, ZONES } from './coverage.js';
import { ringArea, STEPS_PER_DEGREE } from './plane/grid.js';
import { thinChain } from './plane/simplify.js';
import { type Polygon, readLand } from './sources.js';

/** Writes the numbers of both files: of 7 bits a byte, low ones first. */
interface Varints {
  readonly bytes: number[];
  put(value: number): void;
  /** The zigzag steps of vertices, x and y in turn. @param last the vertex before, which moves on */
  putSteps(xy: readonly number[], last: [x: number, y: number]): void;
}

function varints(): Varints {
  const bytes: number[] = [];
  const put = (value: number): void => {
    let left = value;
    for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
    bytes.push(left);
  };
  const putSteps = (xy: readonly number[], last: [x: number, y: number]): void => {
    xy.forEach((at, i) => {
      const step = at - last[i % 2]!;
      put(step < 0 ? -2 * step - 1 : 2 * step);
      last[i % 2] = at;
    });
  };
  return { bytes, put, putSteps };
}

// The land line: the outline of all land around. Borders between countries drop out, because both sides of one have the
// same vertices.

export const LAND_LINE_FILE = 'data/land.bin';
export const OUTLINE_FILE = 'data/sources/outline.json.gz';

/** The content of OUTLINE_FILE: closed rings, clockwise around land, x and y in turn. */
export interface OutlineSource {
  readonly from: string;
  readonly notice: string;
  /** Degrees. */
  readonly box: readonly [west: number, south: number, east: number, north: number];
  readonly stepsPerDegree: number;
  readonly rings: readonly (readonly number[])[];
}

/** Steps of the map in one step of the file, whose vertices are on a grid of 1e-4 degrees, 11 m. */
const FILE_STEP = STEPS_PER_DEGREE / 10_000;
/** How far a vertex may be from the thinned line, in steps: 133 m around our land, 3.3 km elsewhere. */
const NEAR_TOLERANCE = 0.0012 * STEPS_PER_DEGREE;
const FAR_TOLERANCE = 0.03 * STEPS_PER_DEGREE;
/** How far a vertex may be from the thinned line of the source, from which the land line is drawn, in steps. */
const NEAR_SOURCE_TOLERANCE = 0.0002 * STEPS_PER_DEGREE;
const FAR_SOURCE_TOLERANCE = 0.008 * STEPS_PER_DEGREE;
/** Islands far from our land with less than twice 200 km² are left out; in square steps. */
const MIN_FAR_AREA = 0.034 * STEPS_PER_DEGREE ** 2;
/** Islets near our land that thinning would leave nothing of: twice 0.5 km², in square steps. */
const MAX_ISLET_AREA = 0.00008 * STEPS_PER_DEGREE ** 2;
/** Land is near ours if it lies in a square of this size with a vertex of ours, or in one beside it. */
const SQUARE = 0.5 * STEPS_PER_DEGREE;
const OWN_COUNTRY = 'VNM';

/**
 * The file: numbers of 7 bits a byte, low ones first; the count of rings, then for each its count of vertices and their
 * zigzag steps.
 */
export function drawLandLine(land: readonly Polygon[]): Uint8Array {
  const { rings: outline, stepsPerDegree } = JSON.parse(
    gunzipSync(readFileSync(OUTLINE_FILE)).toString('utf8'),
  ) as OutlineSource;
  const scale = STEPS_PER_DEGREE / stepsPerDegree;
  const isNear = nearnessTo(land.filter(({ country }) => country === OWN_COUNTRY));
  const tolerance = (x: number, y: number): number => (isNear(x, y) ? NEAR_TOLERANCE : FAR_TOLERANCE);
  const rings = outline.flatMap((source) => {
    const ring = source.map((value) => value * scale);
    // Land runs clockwise in the source; a gap between two countries runs the other way, and is not a sea.
    const area = -ringArea(Int32Array.from(ring.slice(0, -2)));
    const isKept = area > 0 && (isNear(ring[0]!, ring[1]!) || area > MIN_FAR_AREA);
    if (!isKept) return [];
    const corners =
      area < MAX_ISLET_AREA ? someCorners(ring.slice(0, -2)) : thinChain(ring, tolerance).slice(0, -2);
    return corners.length < 6 ? [] : [{ corners, area }];
  });
  // Islands in such gaps lie within the land around.
  rings.sort((a, b) => b.area - a.area);
  const outermost = rings.filter(
    ({ corners: [x, y] }, i) => !rings.slice(0, i).some(({ corners }) => isInside(corners, x!, y!)),
  );
  return encode(outermost.map(({ corners }) => corners));
}

/** The rings of OUTLINE_FILE, in steps of the map. @param land of all countries of the box */
export function outlineOf(land: readonly Polygon[]): number[][] {
  const isNear = nearnessTo(land.filter(({ country }) => country === OWN_COUNTRY));
  return outerRings(land).flatMap((ring) => {
    const area = -ringArea(Int32Array.from(ring.slice(0, -2)));
    if (!(area > 0 && (isNear(ring[0]!, ring[1]!) || area > MIN_FAR_AREA / 2))) return [];
    const kept = thinChain(ring, (x, y) => (isNear(x, y) ? NEAR_SOURCE_TOLERANCE : FAR_SOURCE_TOLERANCE));
    return kept.length < 8 ? [] : [kept];
  });
}

function isInside(ring: readonly number[], x: number, y: number): boolean {
  let isWithin = false;
  for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
    const [x0, y0, x1, y1] = [ring[j]!, ring[j + 1]!, ring[i]!, ring[i + 1]!];
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) isWithin = !isWithin;
  }
  return isWithin;
}

/** The lines that bound land on one side only, joined to closed rings; each ends with its first vertex. */
function outerRings(land: readonly Polygon[]): number[][] {
  type Line = readonly [x0: number, y0: number, x1: number, y1: number];
  const lines = new Map<string, Line>();
  for (const { ring } of land) {
    for (let i = 0, j = ring.length - 2; i < ring.length; j = i, i += 2) {
      const line: Line = [ring[j]!, ring[j + 1]!, ring[i]!, ring[i + 1]!];
      const back = [line[2], line[3], line[0], line[1]].join();
      if (lines.delete(back)) continue;
      // Two countries may both have a line: each vertex is left as often as it is reached.
      let key = line.join();
      while (lines.has(key)) key += ' again';
      lines.set(key, line);
    }
  }
  const leaving = new Map<string, Line[]>();
  for (const line of lines.values()) {
    const at = `${line[0]},${line[1]}`;
    leaving.set(at, [...(leaving.get(at) ?? []), line]);
  }
  const rings: number[][] = [];
  for (const [, starts] of leaving) {
    for (let line = starts.pop(); line !== undefined; line = starts.pop()) {
      const ring = [line[0], line[1]];
      // As many lines reach a vertex as leave it, so a walk ends where it began.
      for (let next: Line | undefined = line; next !== undefined; ) {
        ring.push(next[2], next[3]);
        const isClosed: boolean = next[2] === ring[0] && next[3] === ring[1];
        next = isClosed ? undefined : leaving.get(`${next[2]},${next[3]}`)?.pop();
      }
      rings.push(ring);
    }
  }
  return rings;
}

/** At most eight vertices of a ring, evenly chosen. */
function someCorners(ring: readonly number[]): number[] {
  const count = ring.length / 2;
  const kept = Math.min(8, count);
  return Array.from({ length: kept }, (_, i) => Math.floor((i * count) / kept)).flatMap((at) => [
    ring[2 * at]!,
    ring[2 * at + 1]!,
  ]);
}

/** Whether a point is near our land or in a zone of our archipelagos. */
function nearnessTo(own: readonly Polygon[]): (x: number, y: number) => boolean {
  const squares = new Set<string>();
  const add = (column: number, row: number): void => {
    for (let dx = -1; dx <= 1; dx++)
      for (let dy = -1; dy <= 1; dy++) squares.add(`${column + dx} ${row + dy}`);
  };
  for (const { ring } of own)
    for (let i = 0; i < ring.length; i += 2)
      add(Math.floor(ring[i]! / SQUARE), Math.floor(ring[i + 1]! / SQUARE));
  return (x, y) =>
    squares.has(`${Math.floor(x / SQUARE)} ${Math.floor(y / SQUARE)}`) ||
    ZONES.some((zone) => inZone(zone, x, y));
}

function encode(rings: readonly (readonly number[])[]): Uint8Array {
  const { put, putSteps, bytes } = varints();
  put(rings.length);
  for (const ring of rings) {
    put(ring.length / 2);
    putSteps(
      ring.map((value) => Math.round(value / FILE_STEP)),
      [0, 0],
    );
  }
  return Uint8Array.from(bytes);
}

// The rivers: the lines of the source.

const RIVERS_SOURCE = 'data/sources/rivers.json.gz';
export const RIVERS_FILE = 'data/rivers.bin';

/** The content of RIVERS_SOURCE, which cut-rivers.py writes: each line its level, then x and y in turn. */
interface RiverSource {
  readonly stepsPerDegree: number;
  readonly lines: readonly (readonly [level: number, ...xy: number[]])[];
}

/** Steps of the map in one step of the file, whose vertices are on a grid of 1e-3 degrees, 110 m. */
const RIVERS_STEP = STEPS_PER_DEGREE / 1000;
/** How far a vertex may be from the thinned line, in steps: 170 m, less than the error of the source; 1.1 km abroad. */
const NEAR_RIVERS_TOLERANCE = 0.0015 * STEPS_PER_DEGREE;
const FAR_RIVERS_TOLERANCE = 0.01 * STEPS_PER_DEGREE;
/** Abroad smaller rivers are left out. */
const MAX_FAR_LEVEL = 2;

/**
 * The file: numbers of 7 bits a byte, low ones first; the count of lines, then for each its level (0 the widest, to 4),
 * its count of vertices and their zigzag steps.
 */
export function drawRivers(): Uint8Array {
  const source = JSON.parse(gunzipSync(readFileSync(RIVERS_SOURCE)).toString('utf8')) as RiverSource;
  const { put, putSteps, bytes } = varints();
  const scale = STEPS_PER_DEGREE / source.stepsPerDegree;
  const isNear = nearnessTo(readLand().filter(({ country }) => country === 'VNM'));
  const lines = source.lines.flatMap(([level, ...steps]) => {
    const xy = steps.map((value) => value * scale);
    const isOurs = xy.some((x, i) => i % 2 === 0 && isNear(x, xy[i + 1]!));
    if (!isOurs && level > MAX_FAR_LEVEL) return [];
    return [
      { level, kept: thinChain(xy, (x, y) => (isNear(x, y) ? NEAR_RIVERS_TOLERANCE : FAR_RIVERS_TOLERANCE)) },
    ];
  });
  put(lines.length);
  for (const { level, kept } of lines) {
    put(level);
    put(kept.length / 2);
    putSteps(
      kept.map((value) => Math.round(value / RIVERS_STEP)),
      [0, 0],
    );
  }
  return Uint8Array.from(bytes);
}
