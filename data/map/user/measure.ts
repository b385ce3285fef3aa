// `npm run data -- --measure FILE`: how often an index names the right province, by distance to its nearest border.
// FILE is the truth: polygons, on which points are drawn, or a CSV of positions with the province of each; or a CSV of
// positions alone, of which the distances are told, and the share of right provinces that the index expects of them.
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { NO_ADMIN } from '#dist/hexcodes/kernel/index-file.js';
import type { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { STEPS_PER_DEGREE } from '../plane/grid.js';
import { LineField } from '../plane/line-field.js';
import { BoundaryFileError, readUserFile } from './user-file.js';

/** Metres at which a line of the table ends; the last one takes all distances. */
export const ENDS_M = [100, 500, 2000, 5000, Number.POSITIVE_INFINITY] as const;

interface Sample {
  readonly latDeg: number;
  readonly lngDeg: number;
  /** Index in ADMIN_UNITS; undefined where nobody has said it. */
  readonly admin: number | undefined;
}

export interface MeasureOptions {
  readonly path: string;
  /** The property or column with codes or names of provinces; without it a CSV has positions alone. */
  readonly codeProperty: string | undefined;
  /** Points that are drawn on polygons. */
  readonly points: number;
  readonly seed: number;
}

export interface Measured {
  /** Counts by ENDS_M. */
  readonly bands: readonly { positions: number; right: number }[];
  /** Positions in no province of the index. */
  readonly outside: number;
  /** The mean of what the index expects of the positions in a province; null where it has no bands. */
  readonly expected: number | null;
  readonly hasTruth: boolean;
}

/** @throws BoundaryFileError for a file that cannot be used */
export function measure(kernel: Kernel, options: MeasureOptions): Measured {
  const { path, codeProperty } = options;
  const isCsv = /\.csv$/i.test(path);
  if (!isCsv && codeProperty === undefined)
    throw new BoundaryFileError([
      'Polygons need --code-property NAME, the property with the code of the province.',
    ]);
  const samples = isCsv ? positionsOf(path, codeProperty) : drawn(options);
  const bands = ENDS_M.map(() => ({ positions: 0, right: 0 }));
  let [outside, expected] = [0, 0];
  for (const { latDeg, lngDeg, admin } of samples) {
    const named = kernel.exports.regionOf(latDeg, lngDeg);
    if (named === NO_ADMIN) {
      outside++;
      continue;
    }
    const { borderM, certainty } = kernel.borderAt(latDeg, lngDeg);
    expected += certainty ?? Number.NaN;
    const band = bands[ENDS_M.findIndex((endM) => (borderM ?? 5000) < endM)]!;
    band.positions++;
    band.right += Number(named === admin);
  }
  const inside = bands.reduce((sum, { positions }) => sum + positions, 0);
  const mean = expected / inside;
  return { bands, outside, expected: Number.isNaN(mean) ? null : mean, hasTruth: codeProperty !== undefined };
}

/** The table for people, in Markdown. */
export function measureTable({ bands, outside, expected, hasTruth }: Measured): string {
  const percent = (part: number, whole: number): string =>
    whole === 0 ? '' : `${((100 * part) / whole).toFixed(2)} %`;
  const inside = bands.reduce((sum, { positions }) => sum + positions, 0);
  const right = bands.reduce((sum, band) => sum + band.right, 0);
  const lines = bands.map(({ positions, right: hits }, n) => {
    const from = n === 0 ? 0 : ENDS_M[n - 1]!;
    const range = n === ENDS_M.length - 1 ? `${from} m and more` : `${from} to ${ENDS_M[n]!} m`;
    return `| ${range} | ${positions} | ${percent(positions, inside)} |${hasTruth ? ` ${percent(hits, positions)} |` : ''}`;
  });
  return [
    `| to the nearest border | positions | share of them |${hasTruth ? ' right province |' : ''}`,
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

/** Points uniform by area over the polygons of a file. */
function drawn({ path, codeProperty, points, seed }: MeasureOptions): Sample[] {
  const { polygons } = readUserFile(path, codeProperty!);
  const rings = polygons.flatMap(({ admin, rings: each }) => each.map((ring) => ({ tag: admin, ring })));
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
    if (admin >= 0) samples.push({ latDeg, lngDeg: x / STEPS_PER_DEGREE, admin });
  }
  return samples;
}

function positionsOf(path: string, column: string | undefined): Sample[] {
  const rows = parse(readFileSync(path), { columns: true, bom: true }) as Record<string, string>[];
  const faults: string[] = [];
  const samples = rows.map((row, n) => {
    const [latDeg, lngDeg] = [Number(row.lat || Number.NaN), Number(row.lng || Number.NaN)];
    if (!(Math.abs(latDeg) <= 90 && Math.abs(lngDeg) <= 180))
      faults.push(`Row ${n + 2}: lat ${row.lat} and lng ${row.lng} are no position in degrees.`);
    const text = column === undefined ? undefined : (row[column] ?? '');
    const admin = text === undefined ? undefined : adminNamed(text);
    if (admin === -1)
      faults.push(`Row ${n + 2}: ${column} ${JSON.stringify(text)} is neither code nor name of a province.`);
    return { latDeg, lngDeg, admin };
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
