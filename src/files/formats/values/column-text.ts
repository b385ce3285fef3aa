// Values of columns as text for CSV, as JSON for NDJSON and GeoJSON, and as degrees.

import { numberText } from '../../../hexcodes/wire/params/exact-json.js';
import { degreesInText } from '../../../tables/positions/in-values.js';
import type { TableColumn } from '../table.js';
import { dateText, durationText, timestampText, timeText } from './calendar.js';

// UUIDs as text of 36 characters and as 16 bytes (RFC 9562).
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function uuidBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll('-', ''), 'hex'));
}

/** A value as text, as CSV holds it; empty for null. */
export function textOf(column: Omit<TableColumn, 'name'>, value: unknown): string {
  if (value === null || value === undefined) return '';
  switch (column.kind) {
    case 'double':
    case 'float':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'timestamp':
      return timestampText(value as bigint, column.unit ?? 'ms', column.isUtc === true);
    case 'date':
      return dateText(value as number);
    case 'time':
      return `${timeText(value as bigint, column.unit ?? 'ms')}${column.isUtc === true ? 'Z' : ''}`;
    case 'duration':
      return durationText(value as bigint, column.unit ?? 'ms');
    case 'decimal':
      return decimalText(value as bigint, column.scale ?? 0);
    case 'binary':
      return Buffer.from(value as Uint8Array).toString('base64');
    case 'json':
      return bareText(value as string);
    default:
      return String(value);
  }
}

/** Bytes of a point in well-known binary. */
const MIN_WKB_BYTES = 21;

/** As `textOf`, but bytes as UTF-8: a code is text, also in a column without a type. */
export function codeTextOf(column: TableColumn, value: unknown): string {
  if (!(value instanceof Uint8Array)) return textOf(column, value);
  // No text begins so, but a geometry in well-known binary does.
  const isWkb = value.length >= MIN_WKB_BYTES && value[0]! <= 1;
  return Buffer.from(value).toString(isWkb ? 'hex' : 'utf8');
}

/** A JSON string without its quotes, any other JSON as it is. */
function bareText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** Text that JSON writes as it is: no control characters, quotes, backslashes or halves of pairs. */
const PLAIN_TEXT = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** As `jsonTextOf`, for the values of one column: chosen once, and without a call of JSON.stringify for plain text. */
export function jsonWriterOf(column: TableColumn): (value: unknown) => string {
  if (column.kind !== 'text') return (value) => jsonTextOf(column, value);
  return (value) =>
    typeof value === 'string' && PLAIN_TEXT.test(value) ? `"${value}"` : JSON.stringify(value ?? null);
}

/**
 * A value as JSON text: numbers and booleans as they are, with all digits; kinds that JSON does not have as strings.
 */
export function jsonTextOf(column: Omit<TableColumn, 'name'>, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  switch (column.kind) {
    case 'double':
    case 'float':
      return typeof value === 'number' ? numberText(value) : String(value);
    case 'int':
    case 'uint':
    case 'long':
    case 'ulong':
    case 'boolean':
      return String(value);
    case 'decimal':
      return column.isInferred === true ? String(value) : JSON.stringify(textOf(column, value));
    case 'text':
      return JSON.stringify(value);
    case 'json':
      return oneLine(value as string);
    default:
      return JSON.stringify(textOf(column, value));
  }
}

/** JSON without line ends, which it may have between its tokens: each row of NDJSON is one line. */
function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
}

function decimalText(value: bigint, scale: number): string {
  if (scale <= 0) return (value * 10n ** BigInt(-scale)).toString();
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/**
 * A value as a coordinate in degrees; NaN if it is not one. Text must be a number, with a point or a comma, or degrees,
 * minutes and seconds; blanks around it are allowed.
 *
 * @param axis the coordinate: a hemisphere of the other one (`21E` as a latitude) is refused
 */
export function degreesOf(column: TableColumn, value: unknown, axis: 'lat' | 'lng'): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    return degreesInText(column.kind === 'json' ? bareText(value) : value, axis);
  }
  if (typeof value === 'bigint') {
    return column.kind === 'decimal' ? Number(decimalText(value, column.scale ?? 0)) : Number(value);
  }
  return Number.NaN;
}
