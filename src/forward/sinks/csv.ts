// Positions as CSV (RFC 4180), for sinks that are files.
import { eachRow, type PositionRow } from './sink.js';

/** All members but the attributes of the device, which have no columns of their own. */
const COLUMNS = [
  'id',
  'unique_id',
  'name',
  'fix_time',
  'device_time',
  'server_time',
  'lat',
  'lng',
  'hexcodes',
  'resolution',
  'admin_code',
  'status',
  'speed_kn',
  'course',
  'altitude_m',
  'accuracy_m',
  'valid',
  'protocol',
] as const satisfies readonly (keyof PositionRow)[];

export const CSV_HEADER = `${COLUMNS.join(',')}\n`;

/** Whole lines of NDJSON as CSV, without the header. */
export async function csvOf(lines: Buffer): Promise<Buffer> {
  let text = '';
  await eachRow(lines, (row) => {
    text += `${COLUMNS.map((name) => fieldOf(row[name])).join(',')}\n`;
  });
  return Buffer.from(text);
}

function fieldOf(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
