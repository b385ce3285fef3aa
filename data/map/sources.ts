// Reads data/sources/: the 63 former provinces with lines of their own, and the land of Viet Nam and its
// neighbours, both as rings on the grid of map vertices (STEPS_PER_DEGREE to a degree).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { FORMER_PROVINCES, VERTEX_STEP } from './partition.js';

export const UNITS_FILE = 'data/sources/units.json';
export const LAND_FILE = 'data/sources/land.json.gz';
export const LICENCE_FILE = 'data/LICENSE';

export const STEPS_PER_DEGREE = 1_000_000 / VERTEX_STEP;

/** The content of LAND_FILE: outer rings, open, flat x, y pairs; inland water belongs to the land around it. */
export interface LandSource {
  readonly from: string;
  readonly notice: string;
  readonly box: readonly [west: number, south: number, east: number, north: number];
  readonly stepsPerDegree: number;
  readonly rings: Readonly<Record<string, readonly (readonly number[])[]>>;
}

/** An open ring, x and y in turn, in steps. */
export type Ring = Int32Array;

export interface Polygon {
  /** The unit, or -1 where the file names a country only. */
  readonly unit: number;
  /** The country, empty for units. */
  readonly country: string;
  readonly ring: Ring;
}

interface EncodedUnits {
  readonly features: readonly {
    readonly properties: { readonly name: string };
    readonly geometry:
      | { readonly type: 'Polygon'; readonly coordinates: string[]; readonly encodeOffsets: number[][] }
      | {
          readonly type: 'MultiPolygon';
          readonly coordinates: string[][];
          readonly encodeOffsets: number[][][];
        };
  }[];
}

/** The former provinces' polygons; no unit of the source has a hole. */
export function readUnits(): Polygon[] {
  const file = JSON.parse(readFileSync(UNITS_FILE, 'utf8')) as EncodedUnits;
  const polygons: Polygon[] = [];
  for (const { properties, geometry } of file.features) {
    const unit = unitOfName(properties.name);
    const parts =
      geometry.type === 'Polygon'
        ? [[geometry.coordinates, geometry.encodeOffsets] as const]
        : geometry.coordinates.map((rings, i) => [rings, geometry.encodeOffsets[i]!] as const);
    for (const [rings, offsets] of parts) {
      if (rings.length !== 1)
        throw new Error(`Unit ${properties.name} has a hole, which no unit of this source had.`);
      polygons.push({ unit, country: '', ring: decodeRing(rings[0]!, offsets[0]!) });
    }
  }
  const units = new Set(polygons.map((p) => p.unit));
  if (units.size !== FORMER_PROVINCES.length) throw new Error(`The source has ${units.size} units, not 63.`);
  return polygons;
}

/** The land of all countries of the source. */
export function readLand(): Polygon[] {
  const land = JSON.parse(gunzipSync(readFileSync(LAND_FILE)).toString('utf8')) as LandSource;
  const scale = STEPS_PER_DEGREE / land.stepsPerDegree;
  return Object.entries(land.rings).flatMap(([country, rings]) =>
    rings.map((ring) => ({ unit: -1, country, ring: Int32Array.from(ring, (v) => v * scale) })),
  );
}

/** The text form of ECharts' map files: zigzag deltas from an offset, one UTF-16 unit each, 1024 to a degree. */
function decodeRing(text: string, offset: readonly number[]): Ring {
  let x = offset[0]!;
  let y = offset[1]!;
  const ring: number[] = [];
  for (let i = 0; i + 1 < text.length; i += 2) {
    x += unzigzag(text.charCodeAt(i) - 64);
    y += unzigzag(text.charCodeAt(i + 1) - 64);
    ring.push(toSteps(x), toSteps(y));
  }
  return openRing(ring);
}

const unzigzag = (v: number) => (v >> 1) ^ -(v & 1);
const toSteps = (v: number) => Math.round((v * STEPS_PER_DEGREE) / 1024);

/** Without the repeated first vertex and without repeats in a row. */
export function openRing(flat: readonly number[]): Ring {
  const ring: number[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] !== ring.at(-2) || flat[i + 1] !== ring.at(-1)) ring.push(flat[i]!, flat[i + 1]!);
  }
  while (ring.length > 2 && ring[0] === ring.at(-2) && ring[1] === ring.at(-1)) ring.length -= 2;
  return Int32Array.from(ring);
}

/** The source writes names without marks, with "province" or "City" behind. */
function unitOfName(name: string): number {
  const wanted = plain(name.replace(/ province$| city$|^tỉnh /i, ''));
  const unit = FORMER_PROVINCES.findIndex(({ name: own }) => plain(own) === (ALIASES[wanted] ?? wanted));
  if (unit < 0) throw new Error(`The source's unit "${name}" is none of the 63 former provinces.`);
  return unit;
}

const ALIASES: Record<string, string> = { hochiminh: 'tphcm', thuathienhue: 'hue' };

function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[Đđ]/g, 'd')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}
