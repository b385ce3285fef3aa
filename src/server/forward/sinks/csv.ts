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

/**
 * A text that a spreadsheet takes for a formula: `=cmd|…`, `@SUM(…`, `-2+…`. A telephone number (`+84 90 123`) is none.
 */
const FORMULA = /^[=@\t\r]|^[+-](?![\d\s.()/-]*$)/;
/** Control characters but tabs and line ends: databases refuse NUL, and no field of a table has the others. */
const CONTROL = /(?![\t\r\n])\p{Cc}/gu;

function fieldOf(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? harmless(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text of a device as it may stand in a table that people open. NDJSON keeps it as it came. */
function harmless(text: string): string {
  const shown = text.replace(CONTROL, '\ufffd');
  return FORMULA.test(shown) ? `'${shown}` : shown;
}
