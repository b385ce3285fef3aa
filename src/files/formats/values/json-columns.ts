// Columns for rows that are JSON objects: their names, and the kinds of values seen. A later row with another field
// or another kind of value does not fit the table; it is rejected, and the message names the field.

import {
  isFalsifiable,
  jsonText,
  parseExact,
  parseNumbersBy,
  stringEnd,
} from '../../../hexcodes/wire/params/json-grammar.js';
import { badInput, reasonOf } from '../../exit-codes.js';
import { requireBelowCeiling } from '../../held/ceiling.js';
import {
  BATCH_BYTES,
  BATCH_ROWS,
  type ColumnKind,
  type JsonDocument,
  type RowFit,
  type TableColumn,
} from '../table.js';

// The nesting and the memory of a JSON row, estimated before it is parsed: `[[],[],…` takes twenty times its length,
// and a value nested a million deep cannot be written again.

/** Deepest nesting of lists and objects. */
export const MAX_DEPTH = 512;
/** Longest text that is not checked: it is neither deep nor large. */
const SHORT = 2 * MAX_DEPTH;
/** Approximate memory of a character of a short text, of a list or object, and of a value. */
const SHORT_LETTER_BYTES = 4;
const CONTAINER_BYTES = 64;
const VALUE_BYTES = 24;
const LETTER_BYTES = 2;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE = 0x7d;

/** Approximate bytes that the values of a JSON text take. @throws Error for a text that is nested too deeply */
export function jsonWeight(text: string): number {
  if (text.length <= SHORT) return SHORT_LETTER_BYTES * text.length;
  let bytes = LETTER_BYTES * text.length;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(text, i);
        break;
      case OPEN:
      case OPEN_LIST:
        bytes += CONTAINER_BYTES;
        depth++;
        if (depth > MAX_DEPTH) throw new Error(`lists and objects are nested more than ${MAX_DEPTH} deep`);
        break;
      case CLOSE:
      case CLOSE_LIST:
        depth--;
        break;
      case COMMA:
        bytes += VALUE_BYTES;
        break;
    }
  }
  return bytes;
}

/** A row as text and as values, and the batch before. */
const COPIES = 3;
/** Rows of fewer bytes are below any ceiling. */
const LIGHT_BYTES = 1024 * 1024;
/** Values of all columns of a batch. */
const MAX_VALUES = 1 << 22;
/** Most distinct fields in the rows of a file. */
const MAX_FIELDS = 65_536;

/** Kinds of values that a field has had, one bit each. */
const FRACTION = 1;
const INTEGER = 2;
/** Beyond 2^53, within 64 bits. */
const LONG_INTEGER = 4;
/** Beyond 64 bits, up to 38 digits, which decimals hold. */
const HUGE_INTEGER = 8;
const LONGER_INTEGER = 16;
const TEXT = 32;
const BOOLEAN = 64;
const OTHER = 128;
const NUMBERS = FRACTION | INTEGER | LONG_INTEGER | HUGE_INTEGER | LONGER_INTEGER;

/** Kinds that are inferred from bytes. */
export const MET_IN = {
  fraction: FRACTION,
  integer: INTEGER,
  text: TEXT,
  boolean: BOOLEAN,
  nested: OTHER,
} as const;

const MAX_DIGITS = 10n ** 38n;
/** JSON with an integer that is not written as one, such as 2.0 and 1e3. */
const WHOLE_FRACTION = /\d\.0*[\s,}\]]|\d[eE]/;

function metIn(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? INTEGER : FRACTION;
    case 'bigint':
      if (BigInt.asIntN(64, value) === value) return LONG_INTEGER;
      return value < MAX_DIGITS && value > -MAX_DIGITS ? HUGE_INTEGER : LONGER_INTEGER;
    case 'string':
      return TEXT;
    case 'boolean':
      return BOOLEAN;
    default:
      return value === null || value === undefined ? 0 : OTHER;
  }
}

function typedColumn(name: string, met: number): TableColumn {
  const kind = kindOf(met);
  const isInferred = true;
  return kind === 'decimal'
    ? { name, kind, precision: 38, scale: 0, isInferred }
    : { name, kind, isInferred };
}

function kindOf(met: number): ColumnKind {
  if (met === 0 || met === TEXT) return 'text';
  if (met === BOOLEAN) return 'boolean';
  if ((met & ~NUMBERS) !== 0) return 'json';
  if ((met & FRACTION) !== 0) return (met & ~(FRACTION | INTEGER)) === 0 ? 'double' : 'json';
  if ((met & LONGER_INTEGER) !== 0) return 'json';
  return (met & HUGE_INTEGER) !== 0 ? 'decimal' : 'long';
}

/** Collects the fields of rows. */
export class FieldInference {
  readonly #met = new Map<string, number>();

  /** @throws Error for rows that have more fields together than a table has columns */
  add(row: Record<string, unknown>): void {
    for (const name of Object.keys(row)) this.#met.set(name, (this.#met.get(name) ?? 0) | metIn(row[name]));
    if (this.#met.size > MAX_FIELDS)
      throw new Error(
        `its rows have more than ${MAX_FIELDS} fields with different names, as many as a table has columns`,
      );
  }

  get size(): number {
    return this.#met.size;
  }

  get names(): readonly string[] {
    return [...this.#met.keys()];
  }

  /** Notes kinds of MET_IN for a field. */
  meet(name: string, kinds: number): void {
    this.#met.set(name, (this.#met.get(name) ?? 0) | kinds);
  }

  /**
   * The columns, in the order in which the fields appeared.
   * @param isTyped whether the target has types; else all numbers are of one kind
   */
  columns(isTyped: boolean): TableColumn[] {
    return Array.from(this.#met, ([name, met]) =>
      typedColumn(name, isTyped || (met & NUMBERS) === 0 ? met : (met & ~NUMBERS) | FRACTION),
    );
  }
}

/** The value of a row for inference: numbers written with a point or an exponent are not integers. */
export function inferredValue({ text, value }: JsonDocument): Record<string, unknown> {
  if (!WHOLE_FRACTION.test(text)) return value;
  const asWritten = parseNumbersBy(text, (digits) =>
    /[.eE]/.test(digits) ? 0.5 : /^-?\d{1,15}$/.test(digits) ? Number(digits) : exactInteger(digits),
  );
  return asWritten as Record<string, unknown>;
}

function exactInteger(digits: string): number | bigint {
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

/** Indexes of columns by their names. */
const indexes = new WeakMap<readonly TableColumn[], ReadonlyMap<string, number>>();

function indexesOf(columns: readonly TableColumn[]): ReadonlyMap<string, number> {
  const known = indexes.get(columns) ?? new Map(columns.map(({ name }, c) => [name, c]));
  indexes.set(columns, known);
  return known;
}

/**
 * The values of a batch in columns. A row costs as much as it has members, whatever the number of columns.
 * @param firstRow number of its first row, for messages
 * @throws CliFailure BAD_INPUT that names row and field, for a row that does not fit the columns
 */
export function valuesOf(
  columns: readonly TableColumn[],
  rows: readonly Record<string, unknown>[],
  file: string,
  firstRow: number,
  fit: RowFit,
): unknown[][] {
  const values = columns.map(() => new Array<unknown>(rows.length).fill(null));
  const known = indexesOf(columns);
  for (const [i, row] of rows.entries()) {
    let at = 0;
    for (const name of Object.keys(row)) {
      // Members usually come in the order of the columns.
      const c = columns[at]?.name === name ? at : known.get(name);
      at++;
      if (c !== undefined) values[c]![i] = fittingIn(columns[c]!, row[name], file, firstRow + i, fit);
      else if (fit !== 'any')
        throw badInput(
          { file, row: firstRow + i, column: name },
          'a field that none of the first rows has',
          'A table needs its columns at the start: name the fields to keep with --keep, or write NDJSON.',
        );
    }
  }
  return values;
}

function fittingIn(column: TableColumn, value: unknown, file: string, row: number, fit: RowFit): unknown {
  const fitted = valueIn(column, value, fit);
  if (fitted !== undefined) return fitted;
  const { name, kind } = column;
  const words =
    kind === 'double' ? 'a number' : kind === 'long' || kind === 'decimal' ? 'an integer' : `a ${kind}`;
  throw badInput(
    { file, row, column: name },
    `${jsonText(value)} where the first rows have ${words}`,
    typeof value === 'number' || typeof value === 'bigint'
      ? 'Name the file instead of a pipe: then all rows are looked at before the first is written.'
      : 'Drop the column with --drop, or write NDJSON.',
  );
}

/** A value in the form of its column; undefined if it does not fit. */
export function valueIn({ kind }: TableColumn, value: unknown, fit: RowFit): unknown {
  if (value === null) return null;
  // Documents that are passed on may have an object in any column.
  if (kind === 'json' || (fit === 'any' && typeof value === 'object')) return jsonText(value);
  return fit === 'any' ? value : fittedTo(kind, value, fit);
}

/** The value in the form of the kind; undefined if it does not fit. */
function fittedTo(kind: ColumnKind, value: unknown, fit: RowFit): unknown {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  switch (kind) {
    case 'double':
      if (!isNumber || fit === 'names' || typeof value === 'number') return isNumber ? value : undefined;
      return BigInt(Number(value)) === value ? Number(value) : undefined;
    case 'long':
      return isNumber && isWhole(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value)
        ? BigInt(value)
        : undefined;
    case 'decimal':
      return isNumber && isWhole(value) && BigInt(value) < MAX_DIGITS && BigInt(value) > -MAX_DIGITS
        ? BigInt(value)
        : undefined;
    default:
      return typeof value === (kind === 'text' ? 'string' : 'boolean') ? value : undefined;
  }
}

function isWhole(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/**
 * Parses one JSON object of a file.
 * @throws CliFailure BAD_INPUT for any other JSON, for text that is not JSON, and for JSON that is nested too deeply or
 *   passes the ceiling
 */
export function parseObject(text: string, file: string, row: number): JsonDocument {
  let value: unknown;
  let weight: number;
  try {
    weight = jsonWeight(text);
  } catch (error) {
    throw badInput({ file, row }, reasonOf(error), 'Take the deeper members out of the row.');
  }
  if (weight > LIGHT_BYTES)
    requireBelowCeiling({ file, row }, COPIES * weight, 'the row', 'Split it into several.');
  const hasBigints = isFalsifiable(text);
  try {
    value = hasBigints ? parseExact(text) : JSON.parse(text);
  } catch (error) {
    throw badInput({ file, row }, `not JSON (${reasonOf(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badInput({ file, row }, `not a JSON object: ${text.slice(0, 40)}`);
  }
  return { text, value: value as Record<string, unknown>, hasBigints, weight };
}

/** Collects documents into batches that are bounded in rows and bytes. */
export class DocumentBatch {
  #documents: JsonDocument[] = [];
  #bytes = 0;

  get size(): number {
    return this.#documents.length;
  }

  /** @returns whether the batch is full */
  add(document: JsonDocument): boolean {
    this.#documents.push(document);
    this.#bytes += document.weight;
    return this.isFull;
  }

  get isFull(): boolean {
    return this.#documents.length >= BATCH_ROWS || this.#bytes >= BATCH_BYTES;
  }

  /**
   * Adds documents between two indexes until it is full.
   * @returns the index after the last one added
   */
  addFrom(documents: readonly JsonDocument[], from: number, to: number): number {
    let at = from;
    while (at < to) if (this.add(documents[at++]!)) break;
    return at;
  }

  /** Removes and returns the documents so far. */
  take(): JsonDocument[] {
    const taken = this.#documents;
    this.#documents = [];
    this.#bytes = 0;
    return taken;
  }
}

/** The documents of a table, narrow ones with the number of their first row, from 1. */
export async function* rowBatches(
  first: JsonDocument[],
  others: AsyncIterable<JsonDocument[]>,
  columns: number,
): AsyncGenerator<readonly [documents: JsonDocument[], row: number]> {
  let row = 1;
  function* narrow(batch: JsonDocument[]): Generator<readonly [JsonDocument[], number]> {
    for (const documents of narrowBatches(batch, columns)) {
      yield [documents, row];
      row += documents.length;
    }
  }
  yield* narrow(first);
  for await (const batch of others) yield* narrow(batch);
}

/**
 * Documents in batches whose columns hold a bounded number of values: each may have many fields of its own.
 * @param columns of the table
 */
export function* narrowBatches(documents: JsonDocument[], columns: number): Generator<JsonDocument[]> {
  const most = Math.max(1, Math.floor(MAX_VALUES / Math.max(1, columns)));
  if (documents.length <= most) {
    yield documents;
    return;
  }
  for (let start = 0; start < documents.length; start += most) yield documents.slice(start, start + most);
}
