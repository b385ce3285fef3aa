// Rows of Parquet as ranges of bytes, one row group at a time: plain values and dictionaries of texts and numbers are
// printed from their pages, all other columns value by value.

import { isUtf8 } from 'node:buffer';
import { brokenAt } from '../../exit-codes.js';
import {
  addPlain,
  type Group,
  GroupWindows,
  printNumbers,
  type Ranges,
  type Unfilled,
  type WantedRows,
} from '../../rows/group-windows.js';
import {
  addValue,
  type GrowingBytes,
  rangesOf,
  type TextRows,
  type ValueRanges,
} from '../../rows/text-rows.js';
import type { ColumnKind } from '../table.js';
import { readBy } from '../values/column-text.js';
import {
  columnValues,
  type DegreesMemory,
  type GroupReading,
  groupsOf,
  type ParquetFile,
  readCoordinates,
  SMALLER_GROUPS,
  soundColumn,
} from './parquet-source.js';
import { elementOf } from './parquet-types.js';
import { plainWidth } from './plain-column.js';
import { type PageBytes, type PlainPage, plainPages, type SoundChunk } from './sound-chunk.js';

const CONTINUED = 0x80;
/** Arrays of printed numbers; words of all others. */
const ARRAYS: Partial<Record<ColumnKind, new (buffer: ArrayBuffer) => ArrayLike<number>>> = {
  double: Float64Array,
  float: Float32Array,
  int: Int32Array,
};

/** Types of the format whose plain values are printed here, by the kind of their column. */
const PRINTED: Readonly<Partial<Record<ColumnKind, readonly string[]>>> = {
  text: ['BYTE_ARRAY'],
  double: ['DOUBLE'],
  float: ['FLOAT'],
  int: ['INT32'],
  uint: ['INT32'],
  long: ['INT64'],
};

/**
 * Windows of rows; the memory of one may be reused by the next.
 * @throws CliFailure BAD_INPUT
 */
export async function* parquetWindows(
  parquet: ParquetFile,
  file: string,
  wanted: WantedRows,
): AsyncGenerator<TextRows> {
  const columns = parquet.fields.map(({ column }) => column);
  const memory = [0, 1].map((): DegreesMemory => ({ degrees: new Float64Array(0) }));
  async function* groups(): AsyncGenerator<Group> {
    for await (const reading of groupsOf(parquet, file, undefined, wanted.skippedRows))
      yield {
        what: 'a row group',
        wayOut: SMALLER_GROUPS,
        groupStart: reading.groupStart,
        rows: reading.rows,
        degrees: (column, half) => readCoordinates(reading, columns[column]!.name, memory[half]),
        read: (column) => readColumn(reading, column, wanted.isTyped),
      };
  }
  yield* new GroupWindows(file, columns, wanted).of(groups());
}

/** Fills the ranges of a column. @throws CliFailure BAD_INPUT */
async function readColumn(
  reading: GroupReading,
  { index, text, ranges, add }: Unfilled,
  isTyped: boolean,
): Promise<void> {
  const { parquet, pages, rows, groupStart, file } = reading;
  const { column, shape } = parquet.fields[index]!;
  const { name } = column;
  const location = { file, row: groupStart + 1, column: name };
  let row = 0;
  try {
    const sound = await soundColumn(reading, location, { bytes: 0 });
    const [only] = sound;
    const width = isTyped ? plainWidth(elementOf(column)) : -1;
    const isRead = isTyped ? column.kind !== 'boolean' : isPrinted(parquet, index, only!);
    if (sound.length === 1 && isRead) {
      const at = text.at;
      if (new PlainValues(column.kind, width, text).read(plainPages(only!, pages, rows), ranges)) return;
      text.at = at;
    }
    const values = await columnValues(reading, name);
    const read = shape === null ? null : readBy(shape);
    for (; row < rows; row++)
      addValue(text, ranges, row, read === null ? values[row] : read(values[row]), add);
  } catch (error) {
    throw brokenAt({ ...location, row: location.row + row }, error);
  } finally {
    pages.clear();
  }
}

function isPrinted({ fields, elements }: ParquetFile, index: number, { chunk }: SoundChunk): boolean {
  const element = elements[index];
  const { type } = chunk.metadata;
  if (element == null || element.repetition_type === 'REPEATED') return false;
  // A kind includes the annotation, such as the sign of an integer.
  return PRINTED[fields[index]!.column.kind]?.includes(type) === true;
}

/** Values of a column from plain pages, and from dictionaries of plain values. */
class PlainValues {
  /** @param width of plain values that are copied; 0 for texts and bytes, -1 to print them */
  constructor(
    private readonly kind: ColumnKind,
    private readonly width: number,
    private readonly text: GrowingBytes,
  ) {}

  /**
   * Fills the ranges of a column.
   * @returns false for an encoding that is not read here, or texts that are not UTF-8
   */
  read(pages: Iterable<PlainPage>, ranges: Ranges): boolean {
    const { starts, ends } = ranges;
    const firstAt = this.text.at;
    let isPlainOnly = true;
    let dictionary = rangesOf(0);
    for (const { isDictionary, indexes, isPlain, page, row, count, present, levels } of pages) {
      if (indexes === null && !isPlain) return false;
      if (isDictionary || indexes !== null || levels !== null) isPlainOnly = false;
      if (isDictionary) {
        dictionary = rangesOf(count);
        if (!this.#add(page, count, dictionary)) return false;
        continue;
      }
      const own = { starts: starts.subarray(row, row + count), ends: ends.subarray(row, row + count) };
      let values = dictionary;
      if (indexes === null) {
        values = levels === null ? own : rangesOf(present);
        if (!this.#add(page, present, values)) return false;
        if (levels === null) continue;
      }
      for (let i = 0, v = 0; i < count; i++) {
        if (levels !== null && levels[i] === 0) {
          own.starts[i] = -1;
          continue;
        }
        const entry = indexes === null ? v : indexes[v]!;
        v++;
        own.starts[i] = values.starts[entry]!;
        own.ends[i] = values.ends[entry]!;
      }
    }
    if (isPlainOnly && this.width === 8) ranges.numbersAt = firstAt;
    return true;
  }

  /** Adds plain values. @returns false for texts that are not UTF-8 */
  #add(page: PageBytes, count: number, ranges: ValueRanges): boolean {
    const [kind, text, width] = [this.kind, this.text, this.width];
    if (kind === 'text' || width === 0) return this.#addTexts(page, count, ranges);
    const words = kind === 'double' || kind === 'long' ? 2 : 1;
    const { bytes } = page.part((width > 0 ? width : 4 * words) * count);
    if (width > 0) addPlain(bytes, width, text, ranges);
    else {
      // An aligned copy; `slice` of a Buffer does not copy.
      const { buffer } = new Uint8Array(bytes);
      printNumbers(kind, new (ARRAYS[kind] ?? Uint32Array)(buffer), text, ranges);
    }
    return true;
  }

  #addTexts(page: PageBytes, count: number, { starts, ends }: ValueRanges): boolean {
    const text = this.text;
    const isText = this.kind === 'text';
    text.reserve(page.left);
    const { bytes } = page;
    const into = text.bytes;
    const from = text.at;
    let at = from;
    for (let i = 0; i < count; i++) {
      const length = page.word();
      const start = page.at;
      page.skip(length);
      starts[i] = at;
      // A text that begins within a character is invalid, though the texts together may be valid.
      if (isText && length > 0 && (bytes[start]! & 0xc0) === CONTINUED) return false;
      if (length > 64) {
        into.set(bytes.subarray(start, start + length), at);
        at += length;
      } else for (let p = start; p < start + length; p++) into[at++] = bytes[p]!;
      ends[i] = at;
    }
    text.at = at;
    return !isText || isUtf8(into.subarray(from, at));
  }
}
