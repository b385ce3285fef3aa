// Column values as text for CSV, as JSON for NDJSON and GeoJSON, and as degrees.

import { isUtf8 } from 'node:buffer';
import { numberText } from '../../../hexcodes/wire/params/json-grammar.js';
import { degreesInText } from '../../../tables/positions.js';
import { MAX_ROW_TEXT } from '../../held/ceiling.js';
import type { TableColumn, TimeUnitName } from '../table.js';

// Dates, times, durations and intervals as ISO 8601 text, exact for every 64-bit value; JavaScript's Date ends in the
// year 275760.

const UNITS_PER_SECOND: Record<TimeUnitName, bigint> = {
  s: 1n,
  ms: 1000n,
  us: 1_000_000n,
  ns: 1_000_000_000n,
};
const DIGITS: Record<TimeUnitName, number> = { s: 0, ms: 3, us: 6, ns: 9 };
const SECONDS_PER_DAY = 86_400;
/** 400 Gregorian years are always this many days. */
const CYCLE_DAYS = 146_097;

const two = (value: number): string => String(value).padStart(2, '0');

/** A date of the proleptic Gregorian calendar; years outside 0 to 9999 with a sign and at least six digits. */
export function dateText(daysSince1970: number): string {
  // Days since 1 March 2000, with which a cycle of 400 years begins: leap days are the last days of its years.
  const days = daysSince1970 - 11_017;
  const cycle = Math.floor(days / CYCLE_DAYS);
  const ofCycle = days - cycle * CYCLE_DAYS;
  const century = Math.min(3, Math.floor(ofCycle / 36_524));
  const ofCentury = ofCycle - century * 36_524;
  const four = Math.floor(ofCentury / 1461);
  const ofFour = ofCentury - four * 1461;
  const yearOfFour = Math.min(3, Math.floor(ofFour / 365));
  const ofYear = ofFour - yearOfFour * 365;
  // Months from March on have 31, 30, 31, 30, 31 days, twice, then 31 and the rest.
  const month = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = 2000 + 400 * cycle + 100 * century + 4 * four + yearOfFour + (month > 9 ? 1 : 0);
  return `${yearText(year)}-${two(month > 9 ? month - 9 : month + 3)}-${two(day)}`;
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0');
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
}

/** @param value units since 1970; @param isUtc whether it is an instant, which ends in `Z`, rather than a local time */
export function timestampText(value: bigint, unit: TimeUnitName, isUtc: boolean): string {
  const perSecond = UNITS_PER_SECOND[unit];
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const allSeconds = (value - fraction) / perSecond;
  const [days, seconds] = daysAndSeconds(allSeconds);
  return `${dateText(days)}T${clockText(seconds, fraction, unit)}${isUtc ? 'Z' : ''}`;
}

function daysAndSeconds(allSeconds: bigint): [days: number, seconds: number] {
  const seconds = Number(allSeconds);
  if (Number.isSafeInteger(seconds)) {
    const days = Math.floor(seconds / SECONDS_PER_DAY);
    return [days, seconds - days * SECONDS_PER_DAY];
  }
  // Beyond 2^53, which only a unit of seconds reaches.
  const perDay = BigInt(SECONDS_PER_DAY);
  const ofDay = ((allSeconds % perDay) + perDay) % perDay;
  return [Number((allSeconds - ofDay) / perDay), Number(ofDay)];
}

/** @param value units since midnight */
export function timeText(value: bigint, unit: TimeUnitName): string {
  const perSecond = UNITS_PER_SECOND[unit];
  return clockText(Number(value / perSecond), value % perSecond, unit);
}

function clockText(seconds: number, fraction: bigint, unit: TimeUnitName): string {
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return unit === 's' ? clock : `${clock}.${fractionText(fraction, unit)}`;
}

function fractionText(fraction: bigint, unit: TimeUnitName): string {
  return fraction.toString().padStart(DIGITS[unit], '0');
}

/** Seconds with all digits of the unit, as `PT-1.500S`. */
export function durationText(value: bigint, unit: TimeUnitName): string {
  const perSecond = UNITS_PER_SECOND[unit];
  const size = value < 0n ? -value : value;
  const fraction = unit === 's' ? '' : `.${fractionText(size % perSecond, unit)}`;
  return `PT${value < 0n ? '-' : ''}${size / perSecond}${fraction}S`;
}

/** Months, days and nanoseconds, which have no fixed ratio, as `P14M3DT4.500000000S`. */
export function intervalText(months: number, days: number, nanoseconds: bigint): string {
  return `P${months}M${days}D${durationText(nanoseconds, 'ns').slice(1)}`;
}

// UUIDs as text of 36 characters and as 16 bytes (RFC 9562).
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function uuidBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll('-', ''), 'hex'));
}

/** A value as text in CSV; empty for null. */
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
  // No text begins with these bytes, but well-known binary does.
  const isWkb = value.length >= MIN_WKB_BYTES && value[0]! <= 1;
  return Buffer.from(value).toString(isWkb ? 'hex' : 'utf8');
}

/** A JSON string without its quotes, any other JSON as it is. */
function bareText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** Text that JSON writes unchanged: no control characters, quotes, backslashes or lone surrogates. */
const PLAIN_TEXT = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/**
 * As `jsonTextOf`, for the values of one column: the writer is chosen once, and plain text needs no call of
 * JSON.stringify.
 */
export function jsonWriterOf(column: TableColumn): (value: unknown) => string {
  if (column.kind !== 'text') return (value) => jsonTextOf(column, value);
  return (value) =>
    typeof value === 'string' && PLAIN_TEXT.test(value) ? `"${value}"` : JSON.stringify(value ?? null);
}

/** A value as JSON text: numbers and booleans with all digits; kinds that JSON does not have as strings. */
function jsonTextOf(column: Omit<TableColumn, 'name'>, value: unknown): string {
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

/** JSON without line ends between its tokens: each row of NDJSON is one line. */
export function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
}

function decimalText(value: bigint, scale: number): string {
  if (scale <= 0) return (value * 10n ** BigInt(-scale)).toString();
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/**
 * A value as a coordinate in degrees; NaN if it is not one. Text must be a number, with a point or a comma, or
 * degrees, minutes and seconds; surrounding blanks are allowed.
 * @param axis the coordinate: a hemisphere of the other one (`21E` as a latitude) is rejected
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

// Lists, structs and maps of Arrow and Parquet as JSON text, each leaf by its own type.

/** @throws Error for bytes that are not UTF-8, which a decoder would replace */
export function utf8Text(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error('text that is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** How the values of a type are read and written. */
export type Shape =
  | {
      readonly is: 'leaf';
      readonly column: Omit<TableColumn, 'name'>;
      /** Converts the reader's value to the form of `ColumnKind`; absent if it has this form. */
      readonly read?: (value: never) => unknown;
    }
  /** @param isRepeated whether empty lists are impossible */
  | { readonly is: 'list'; readonly of: Shape; readonly isRepeated?: boolean }
  /** A struct that is written as its only member. */
  | { readonly is: 'only'; readonly name: string; readonly of: Shape }
  | { readonly is: 'struct'; readonly fields: readonly (readonly [name: string, shape: Shape])[] }
  | {
      readonly is: 'map';
      readonly key: Shape;
      readonly value: Shape;
      /** Names of the members of a pair that is an object; without pairs the map is empty. */
      readonly names?: readonly [key: string, value: string];
    };

/** @param read see Shape; absent where values need none */
export function leaf(column: Omit<TableColumn, 'name'>, read?: (value: never) => unknown): Shape {
  return read === undefined ? { is: 'leaf', column } : { is: 'leaf', column, read };
}

export const toBigInt = (value: number | bigint): bigint => BigInt(value);

/** @throws Error if two fields have one name: an object holds only one of them */
export function structOf(fields: readonly (readonly [name: string, shape: Shape])[]): Shape {
  const names = fields.map(([name]) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`a struct with two fields ${twice}`);
  return { is: 'struct', fields };
}

export interface ShapedColumn {
  readonly column: TableColumn;
  /** null where the values are not read. */
  readonly shape: Shape | null;
}

/** @param shapeOf throws an Error for a type that is not read */
export function shapedColumn(name: string, shapeOf: () => Shape): ShapedColumn {
  try {
    const shape = shapeOf();
    return { column: shape.is === 'leaf' ? { name, ...shape.column } : { name, kind: 'json' }, shape };
  } catch (error) {
    return { column: { name, kind: 'text', unread: (error as Error).message }, shape: null };
  }
}

/** A value of a column in the form that `ColumnKind` gives; null for null. */
export function readBy(shape: Shape): ((value: unknown) => unknown) | null {
  if (shape.is !== 'leaf')
    return (value) =>
      (value === null || value === undefined) && !isNeverNull(shape)
        ? null
        : shapedText(shape, value, new TextBudget());
  const { read } = shape;
  if (read === undefined) return null;
  return (value) => (value === null || value === undefined ? null : read(value as never));
}

/** Limit of the text of one value, whose parts may be the same long text of a dictionary many times. */
class TextBudget {
  #left = MAX_ROW_TEXT;

  /** @throws Error where the text becomes too long */
  spent(text: string): string {
    this.#left -= text.length;
    if (this.#left < 0) throw new Error(`a value of more than ${MAX_ROW_TEXT / 2 ** 20} MiB of text`);
    return text;
  }
}

/** Whether a repeated shape is empty where there is no value. */
const isNeverNull = (shape: Shape): boolean =>
  (shape.is === 'list' && shape.isRepeated === true) || (shape.is === 'map' && shape.names !== undefined);

/** @param value lists in any kind of array, structs as objects, maps as lists of pairs */
function shapedText(shape: Shape, given: unknown, budget: TextBudget): string {
  const value = (given ?? null) === null && isNeverNull(shape) ? [] : given;
  if (value === null || value === undefined) return budget.spent('null');
  switch (shape.is) {
    case 'leaf':
      return budget.spent(
        jsonTextOf(shape.column, shape.read === undefined ? value : shape.read(value as never)),
      );
    case 'list':
      return `[${Array.from(value as ArrayLike<unknown>, (each) => shapedText(shape.of, each, budget)).join(',')}]`;
    case 'only':
      return shapedText(shape.of, (value as Record<string, unknown>)[shape.name], budget);
    case 'struct': {
      const members = shape.fields.map(
        ([name, field]) =>
          `${JSON.stringify(name)}:${shapedText(field, (value as Record<string, unknown>)[name], budget)}`,
      );
      return `{${members.join(',')}}`;
    }
    case 'map': {
      const members = new Map<string, string>();
      // The last of several pairs with one key counts.
      for (const pair of value as Iterable<Record<string, unknown>>) {
        const [key, each] = shape.names?.map((name) => pair[name]) ?? (pair as unknown as [unknown, unknown]);
        members.set(keyText(shape.key, key, budget), shapedText(shape.value, each, budget));
      }
      return `{${Array.from(members, ([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
    }
  }
}

function keyText(shape: Shape, key: unknown, budget: TextBudget): string {
  if (shape.is !== 'leaf') return shapedText(shape, key, budget);
  return budget.spent(textOf(shape.column, shape.read === undefined ? key : shape.read(key as never)));
}
