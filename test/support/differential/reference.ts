// The reference that the differential engine compares with: positions and provinces are recorded
// (test/fixtures/places.csv), codes come from h3-js and the peer of the code format, text is read by JSON.parse and
// csv-parse, files by hyparquet and flechette. Distances to borders are those of single calls, which
// test/property/kernel/border.test.ts judges.
import { readFileSync } from 'node:fs';
import { tableFromIPC } from '@uwdata/flechette';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { Hexcodes } from '#hexcodes';
import { encodeByPeer } from '../peers/code-format.js';
import { shippedKernel } from '../shipped.js';
import { CODE_ROWS, rowsOf } from '../vectors.js';

export interface Position {
  readonly lat: number;
  readonly lng: number;
  /** null outside. */
  readonly admin: string | null;
  readonly former: string | null;
}

/** Recorded positions with their provinces. */
export const POSITIONS: readonly Position[] = rowsOf('places').map(
  ({ lat, lng, admin_code: admin, former_province: former }) => ({
    lat: Number(lat),
    lng: Number(lng),
    admin: admin === '-' ? null : admin!,
    former: former === '-' ? null : former!,
  }),
);

/** Every position of the southern hemisphere. */
const SOUTH: Position = { lat: -1, lng: 0, admin: null, former: null };

const singles = new Hexcodes(shippedKernel());
/** A position that was rounded to a float of 32 bits is in the same province. */
const keyOf = (lat: number, lng: number): string => `${lat.toFixed(4)},${lng.toFixed(4)}`;
const known = new Map(POSITIONS.map((position) => [keyOf(position.lat, position.lng), position]));

export interface Extras {
  readonly former?: boolean;
  readonly certainty?: boolean;
}

export interface Answer {
  readonly status: 'OK' | 'NOT_FOUND' | 'INVALID_REQUEST';
  readonly code: string | null;
  readonly admin: string | null;
  /** former_province, border_m and certainty, as far as they are requested. */
  readonly extras: Readonly<Record<string, string | number | null>>;
}

/** The answer to a recorded position. @throws Error for another one */
export function answerTo(lat: number, lng: number, resolution: number, asked: Extras = {}): Answer {
  const position = known.get(keyOf(lat, lng)) ?? (lat < 0 ? SOUTH : undefined);
  if (position === undefined) throw new Error(`${lat},${lng} is not a recorded position`);
  const { admin, former } = position;
  const border = admin === null ? null : singles.borderOf(lat, lng);
  const extras = {
    ...(asked.former === true ? { former_province: admin === null ? null : former } : {}),
    ...(asked.certainty === true
      ? { border_m: border?.border_m ?? null, certainty: border?.certainty ?? null }
      : {}),
  };
  if (admin === null) return { status: 'NOT_FOUND', code: null, admin, extras };
  return { status: 'OK', code: encodeByPeer(lat, lng, resolution, admin), admin, extras };
}

/** Recorded codes, without their separators. */
const bare = (code: string): string => code.replace(/[- ]/g, '').toUpperCase();
const CENTERS = new Map(CODE_ROWS.map((row) => [bare(row.code), row]));

/** Encodes and decodes for the peers of test/support/peers/bulk-text.ts, without the library. */
export const RECORDED = {
  encode(lat: number, lng: number, resolution: number) {
    const { status, code, admin } = answerTo(lat, lng, resolution);
    if (status === 'OK') return { hexcodes: code, admin_code: admin };
    throw Object.assign(new Error(status), { code: 'OUTSIDE_COVERAGE' });
  },
  decode(text: string) {
    const row = CENTERS.get(bare(text));
    return row === undefined ? null : { lat: row.centerLat, lng: row.centerLng, resolution: row.resolution };
  },
} as unknown as Hexcodes;

/** The answer to a text that is a recorded code or none. */
export function centerTo(text: string | null) {
  const row = CENTERS.get(bare(text ?? ''));
  const [lat, lng, resolution] = [row?.centerLat ?? null, row?.centerLng ?? null, row?.resolution ?? null];
  const fault = (text ?? '') === '' ? 'INVALID_REQUEST' : 'INVALID_HEXCODES';
  return { lat, lng, resolution, status: row === undefined ? fault : 'OK' };
}

export type Table = Record<string, unknown>[];

/** Rows of a file by a reader of others. */
export async function tableIn(path: string, format: string): Promise<Table> {
  const bytes = readFileSync(path);
  if (format === 'csv') return parse(bytes, { columns: true, relax_column_count: true }) as Table;
  if (format === 'ndjson')
    return bytes
      .toString()
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  if (format === 'parquet') {
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    return (await parquetReadObjects({ file })) as Table;
  }
  return tableFromIPC(new Uint8Array(bytes)).toArray() as Table;
}

/** A value as a text that is the same in every format: numbers as JavaScript prints them, nothing for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return JSON.stringify(value);
  const text = String(value).trim();
  return /^-?[\d.]+(?:[eE][+-]?\d+)?$/.test(text) ? String(Number(text)) : text;
}
