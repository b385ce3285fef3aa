// The memory ceiling for reading one file: declared sizes and counts are compared with it before memory is allocated.

import { getHeapStatistics } from 'node:v8';
import { badInput, brokenAt, type CliFailure, type FaultLocation, requireCount } from '../exit-codes.js';
import type { TableRows } from '../formats/table.js';
import { grouped } from '../terminal/say.js';

// Contents that are read as a whole, up to the ceiling: packed content may unpack to any size.

/** An input as far as it is read here. */
interface Content {
  /** Name in messages. */
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Copies in memory: the pieces and their concatenation. */
const COPIES = 2;

/**
 * All bytes of an input, in a buffer of their own.
 * @param what as the subject of a sentence
 * @param wayOut besides a higher ceiling
 * @param factor memory for a byte where it is used
 * @throws CliFailure BAD_INPUT as soon as they exceed the ceiling
 */
export async function wholeContent(
  { name, chunks }: Content,
  what: string,
  wayOut: string,
  factor = COPIES,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks()) {
    size += chunk.length;
    requireBelowCeiling({ file: name }, factor * size, what, wayOut);
    parts.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts.splice(0)) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const MIB = 2 ** 20;
const VARIABLE = 'HEXCODES_READ_MEMORY';
/** Smallest value of the variable, in MiB. */
const LEAST = 16;
const MOST = 65_536;
const DEFAULT_MAX_BYTES = 1024 * MIB;

/**
 * Bytes that reading one file may take: `HEXCODES_READ_MEMORY` in MiB, by default half of Node's heap, at most 1 GiB.
 * @throws CliFailure USAGE for an invalid value
 */
export function ceilingBytes(): number {
  const text = process.env[VARIABLE];
  if (text === undefined || text === '')
    return Math.min(DEFAULT_MAX_BYTES, Math.floor(getHeapStatistics().heap_size_limit / 2));
  return requireCount(VARIABLE, text, LEAST, MOST, ' of MiB') * MIB;
}

/**
 * Refuses what is larger than the ceiling.
 * @param bytes that would be held, approximately
 * @param what as the subject of the sentence: `a row group`
 * @param wayOut besides a higher ceiling
 * @throws CliFailure BAD_INPUT that names file, subject, size, limit and the remedy
 */
export function requireBelowCeiling(
  location: FaultLocation,
  bytes: number,
  what: string,
  wayOut: string,
): void {
  if (bytes > ceilingBytes()) throw beyondCeiling(location, bytes, what, wayOut);
}

/** The failure of `requireBelowCeiling`. */
export function beyondCeiling(
  location: FaultLocation,
  bytes: number,
  what: string,
  wayOut: string,
): CliFailure {
  return badInput(
    location,
    `${what} takes ${mebibytes(bytes)} of memory, and one file may take ${mebibytes(ceilingBytes())}`,
    `${wayOut} ${VARIABLE}=MiB allows more, where the machine has it.`,
  );
}

function mebibytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${grouped(Math.ceil(bytes / MIB))} MiB` : 'an endless number of MiB';
}

// Rows of a column format in windows with a bounded amount of text: few bytes of a file can stand for gigabytes of
// values, as where all rows refer to one long text of a dictionary.

/** Rows of a window at most. */
const MAX_ROWS = 16_384;
/** Values of a window at most, if it has more than one row. */
const MAX_VALUES = 1 << 22;
/** Characters and bytes after which a window ends. */
const WINDOW_TEXT = 16 * MIB;
/** Characters and bytes of one row. As JSON with escapes six times as many must fit a string. */
export const MAX_ROW_TEXT = 64 * MIB;

/** A value of a column by the number of its row. */
export type ValueReader = (row: number) => unknown;

/** The origin of windows, for messages. */
export interface WindowSource {
  readonly file: string;
  /** Number of row 0, from 1. */
  readonly firstRow: number;
  readonly names: readonly string[];
}

/** Characters of a text, bytes of a binary value; 0 for all others. */
export function textSizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

/**
 * The rows from 0 to `rowCount` in windows.
 * @param readers of each column; an error that one throws becomes a fault of its row and column
 * @throws CliFailure BAD_INPUT for a row with more than 64 MiB of text
 */
export function* rowWindows(
  rowCount: number,
  readers: readonly ValueReader[],
  source: WindowSource,
): Generator<TableRows> {
  const most = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_VALUES / Math.max(1, readers.length))));
  for (let start = 0; start < rowCount; ) {
    let count = Math.min(most, rowCount - start);
    const sizes = new Float64Array(count);
    const values = readers.map((read, c) => {
      const column = new Array<unknown>(count);
      let total = 0;
      for (let i = 0; i < count; i++) {
        const value = readAt(read, start + i, source, c);
        const size = sizes[i]! + textSizeOf(value);
        total += size;
        if (i > 0 && total > WINDOW_TEXT) {
          count = i;
          break;
        }
        if (size > MAX_ROW_TEXT) throw longRow(source, start, c);
        sizes[i] = size;
        column[i] = value;
      }
      return column;
    });
    for (const column of values) column.length = count;
    yield { rowCount: count, values };
    start += count;
  }
}

function readAt(read: ValueReader, row: number, source: WindowSource, column: number): unknown {
  try {
    return read(row);
  } catch (error) {
    const { file, firstRow, names } = source;
    throw brokenAt({ file, row: firstRow + row, column: names[column] }, error);
  }
}

/** The failure for a row with too much text. */
export function longRow({ file, firstRow, names }: WindowSource, row: number, column: number): Error {
  return badInput(
    { file, row: firstRow + row, column: names[column] },
    `the row has more than ${MAX_ROW_TEXT / MIB} MiB of text, which is as much as one row may have`,
    'Drop the column with --drop, if it is not needed, or split the text before.',
  );
}
