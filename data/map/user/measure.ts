// `npm run data -- --measure FILE`: how often an index names the right province, by distance to its nearest border.
// FILE is the truth: polygons, on which points are drawn, or a CSV of positions with the province of each; or positions
// alone (a CSV, the towns of data/sources/, or the word land), of which the distances are told, and the share of right
// provinces that the index expects of them. Positions may have a weight, as the people of a town, and an extent.
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { NO_ADMIN } from '#dist/hexcodes/kernel/index-file.js';
import type { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { STEPS_PER_DEGREE } from '../plane/grid.js';
import { LineField } from '../plane/line-field.js';
import { readUnits } from '../sources.js';
import { BoundaryFileError, readUserFile } from './user-file.js';

/** Metres at which a line of the table ends; the last one takes all distances. */
export const ENDS_M = [100, 500, 2000, 5000, Number.POSITIVE_INFINITY] as const;

interface Sample {
  readonly latDeg: number;
  readonly lngDeg: number;
  /** Index in ADMIN_UNITS; undefined where nobody has said it. */
  readonly admin: number | undefined;
  /** 1, or its share of the people of a town. */
  readonly weight: number;
}

interface MeasureOptions {
  /** A file, or `land`: points on the land that the index is drawn from. */
  readonly path: string;
  /** The property or column with codes or names of provinces; without it a CSV has positions alone. */
  readonly codeProperty: string | undefined;
  /** Points that are drawn on polygons. */
  readonly points: number;
  readonly seed: number;
  /** Column of a CSV with the weight of each position, as the people who live there; each counts for 1 without. */
  readonly weight?: string | undefined;
  /** Kilometres: each position is a disc of this radius, in which points are drawn. */
  readonly aroundKm?: number;
}

export interface Measured {
  /** Counts by ENDS_M: positions, how many have the right province, and their weight. */
  readonly bands: readonly { positions: number; right: number; weight: number }[];
  /** Positions in no province of the index. */
  readonly outside: number;
  /** The mean of what the index expects of the positions in a province; null where it has no bands. */
  readonly expected: number | null;
  readonly hasTruth: boolean;
  readonly isWeighted: boolean;
}

/** Points of one disc. */
const POINTS_AROUND = 50;
const KM_PER_DEGREE = 111.195;

/** @throws BoundaryFileError for a file that cannot be used */
export function measure(kernel: Kernel, options: MeasureOptions): Measured {
  const { aroundKm = 0 } = options;
  const { samples: given, hasTruth, isWeighted } = samplesOf(options);
  const samples = aroundKm > 0 ? discsOf(given, aroundKm, options.seed) : given;
  const bands = ENDS_M.map(() => ({ positions: 0, right: 0, weight: 0 }));
  let [outside, expected, all] = [0, 0, 0];
  for (const { latDeg, lngDeg, admin, weight } of samples) {
    const named = kernel.exports.regionOf(latDeg, lngDeg);
    if (named === NO_ADMIN) {
      outside++;
      continue;
    }
    const { borderM, certainty } = kernel.borderAt(latDeg, lngDeg);
    expected += weight * (certainty ?? Number.NaN);
    all += weight;
    const band = bands[ENDS_M.findIndex((endM) => (borderM ?? 5000) < endM)]!;
    band.positions++;
    band.right += Number(named === admin);
    band.weight += weight;
  }
  const mean = expected / all;
  return { bands, outside, expected: Number.isNaN(mean) ? null : mean, hasTruth, isWeighted };
}

interface Samples {
  readonly samples: Sample[];
  readonly hasTruth: boolean;
  readonly isWeighted: boolean;
}

function samplesOf(options: MeasureOptions): Samples {
  const { path, codeProperty, weight } = options;
  if (path === 'land') {
    const rings = readUnits().map(({ unit, ring }) => ({ tag: unit, ring }));
    const samples = drawnOn(rings, options).map((each) => ({ ...each, admin: undefined }));
    return { samples, hasTruth: false, isWeighted: false };
  }
  if (/\.csv$/i.test(path)) {
    const samples = positionsOf(path, codeProperty, weight);
    return { samples, hasTruth: codeProperty !== undefined, isWeighted: weight !== undefined };
  }
  if (codeProperty !== undefined) {
    const { polygons } = readUserFile(path, codeProperty);
    const rings = polygons.flatMap(({ admin, rings: each }) => each.map((ring) => ({ tag: admin, ring })));
    return { samples: drawnOn(rings, options), hasTruth: true, isWeighted: false };
  }
  if (/\/towns\.json$/.test(path)) return { samples: townsOf(path), hasTruth: false, isWeighted: true };
  throw new BoundaryFileError([
    'Polygons need --code-property NAME, the property with the code of the province.',
  ]);
}

/** Towns as data/sources/ has them: name, latitude, longitude, people. Those of unknown size count for nothing. */
function townsOf(path: string): Sample[] {
  const { towns } = JSON.parse(readFileSync(path, 'utf8')) as { towns: [string, number, number, number][] };
  return towns.map(([, latDeg, lngDeg, weight]) => ({ latDeg, lngDeg, weight, admin: undefined }));
}

/** Points drawn uniformly in a disc around each sample, which share its weight. */
function discsOf(samples: readonly Sample[], radiusKm: number, seed: number): Sample[] {
  const random = randomFrom(seed);
  return samples.flatMap(({ latDeg, lngDeg, admin, weight }) =>
    Array.from({ length: POINTS_AROUND }, () => {
      const [km, angle] = [radiusKm * Math.sqrt(random()), 2 * Math.PI * random()];
      const eastDeg = (km * Math.cos(angle)) / (KM_PER_DEGREE * Math.cos((latDeg * Math.PI) / 180));
      return {
        latDeg: latDeg + (km * Math.sin(angle)) / KM_PER_DEGREE,
        lngDeg: lngDeg + eastDeg,
        admin,
        weight: weight / POINTS_AROUND,
      };
    }),
  );
}

/** The table for people, in Markdown. */
export function measureTable({ bands, outside, expected, hasTruth, isWeighted }: Measured): string {
  const percent = (part: number, whole: number): string =>
    whole === 0 ? '' : `${((100 * part) / whole).toFixed(2)} %`;
  const inside = bands.reduce((sum, { positions }) => sum + positions, 0);
  const right = bands.reduce((sum, band) => sum + band.right, 0);
  const all = bands.reduce((sum, { weight }) => sum + weight, 0);
  const lines = bands.map(({ positions, right: hits, weight }, n) => {
    const from = n === 0 ? 0 : ENDS_M[n - 1]!;
    const range = n === ENDS_M.length - 1 ? `${from} m and more` : `${from} to ${ENDS_M[n]!} m`;
    return `| ${range} | ${positions} | ${percent(weight, all)} |${hasTruth ? ` ${percent(hits, positions)} |` : ''}`;
  });
  return [
    `| to the nearest border | positions | ${isWeighted ? 'share by weight' : 'share of them'} |${hasTruth ? ' right province |' : ''}`,
    `|---|---:|---:|${hasTruth ? '---:|' : ''}`,
    ...lines,
    `| all in a province | ${inside} | |${hasTruth ? ` ${percent(right, inside)} |` : ''}`,
    '',
    ...(hasTruth ? [`Right of all ${inside + outside}: ${percent(right, inside + outside)}.`] : []),
    `In no province: ${outside}. ` +
      (expected === null
        ? 'The index says no shares.'
        : `Right by the shares of the index: ${percent(expected, 1)}.`),
  ].join('\n');
}

/** Points uniform by area over polygons; their tag is their province. */
function drawnOn(
  rings: readonly { tag: number; ring: Int32Array }[],
  { points, seed }: MeasureOptions,
): Sample[] {
  const field = LineField.ofRings(rings);
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { ring } of rings)
    for (let i = 0; i < ring.length; i += 2) {
      west = Math.min(west, ring[i]!);
      east = Math.max(east, ring[i]!);
      south = Math.min(south, ring[i + 1]!);
      north = Math.max(north, ring[i + 1]!);
    }
  const random = randomFrom(seed);
  const sineOf = (y: number): number => Math.sin(((y / STEPS_PER_DEGREE) * Math.PI) / 180);
  const [low, high] = [sineOf(south), sineOf(north)];
  const samples: Sample[] = [];
  while (samples.length < points) {
    const x = west + random() * (east - west);
    const latDeg = (Math.asin(low + random() * (high - low)) * 180) / Math.PI;
    const admin = field.holderOf(x, latDeg * STEPS_PER_DEGREE);
    if (admin >= 0) samples.push({ latDeg, lngDeg: x / STEPS_PER_DEGREE, admin, weight: 1 });
  }
  return samples;
}

function positionsOf(path: string, column: string | undefined, weights: string | undefined): Sample[] {
  const rows = parse(readFileSync(path), { columns: true, bom: true }) as Record<string, string>[];
  const faults: string[] = [];
  const samples = rows.map((row, n) => {
    const [latDeg, lngDeg] = [Number(row.lat || Number.NaN), Number(row.lng || Number.NaN)];
    if (!(Math.abs(latDeg) <= 90 && Math.abs(lngDeg) <= 180))
      faults.push(`Row ${n + 2}: lat ${row.lat} and lng ${row.lng} are not a position in degrees.`);
    const text = column === undefined ? undefined : (row[column] ?? '');
    const admin = text === undefined ? undefined : adminNamed(text);
    if (admin === -1)
      faults.push(`Row ${n + 2}: ${column} ${JSON.stringify(text)} is neither code nor name of a province.`);
    const weight = weights === undefined ? 1 : Number(row[weights] || Number.NaN);
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      faults.push(
        `Row ${n + 2}: ${weights} ${JSON.stringify(row[weights ?? ''])} is not a number from 0 on.`,
      );
    return { latDeg, lngDeg, admin, weight };
  });
  if (rows.length === 0) faults.push(`${path} has no rows.`);
  if (faults.length > 0) throw new BoundaryFileError(faults.slice(0, 20));
  return samples;
}

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/đ/gi, 'd')
    .toLowerCase()
    .replace(/^(tp\.?|thanh pho|tinh) /, '')
    .replace(/[^a-z]/g, '');

const numbers = new Map(
  ADMIN_UNITS.flatMap(({ code, name }, admin) => [
    [plain(code), admin],
    [plain(name), admin],
  ]),
);

function adminNamed(text: string): number {
  return numbers.get(plain(text)) ?? -1;
}

/** mulberry32, public domain: numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
