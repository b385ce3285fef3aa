// Reads data/sources/: the polygons of the 63 former provinces, and the land of Viet Nam and its neighbours, as rings
// on the grid of the map.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { FORMER_PROVINCES } from './partition.js';
import { openRing, type Ring, STEPS_PER_DEGREE } from './plane/grid.js';

export const UNITS_FILE = 'data/sources/units.json';
export const LAND_FILE = 'data/sources/land.json.gz';
export const LICENCE_FILE = 'data/LICENSE';

/** The content of LAND_FILE: open outer rings, x and y in turn; inland water belongs to the land around it. */
export interface LandSource {
  readonly from: string;
  readonly notice: string;
  readonly box: readonly [west: number, south: number, east: number, north: number];
  readonly stepsPerDegree: number;
  readonly rings: Readonly<Record<string, readonly (readonly number[])[]>>;
}

export interface Polygon {
  /** Index in FORMER_PROVINCES; -1 for the land of a country. */
  readonly unit: number;
  /** ISO 3166 code of three letters; empty for a former province. */
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

/** The polygons of the former provinces; none of them has a hole. */
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

/**
 * ECharts' compressed rings: from an offset, a UTF-16 unit for each step of x and y, plus 64 and zigzag, 1024 to a
 * degree.
 */
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

/** The source writes names without diacritics and with "province" or "City" after them. */
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
