// Rows of NDJSON as ranges of bytes: lines of plain members in known columns are read where they stand, all other lines
// value by value, as formats/json/ reads them.

import { isUtf8 } from 'node:buffer';
import type { Input } from '../disk/input.js';
import { parseObject, valuesOf } from '../formats/json/json-columns.js';
import { MAX_LINE_BYTES, textOfLine, tooLongLine } from '../formats/lines.js';
import type { TableColumn } from '../formats/table.js';
import { degreesOf, textOf } from '../formats/values/column-text.js';
import { addPlain } from './plain-values.js';
import {
  ABSENT,
  BOOLEAN,
  ESCAPED,
  FRACTION,
  INTEGER,
  LineScanner,
  NULL,
  TEXT,
  unescaped,
} from './scan-line.js';
import { GrowingBytes, numberIn, type TextRows, type ValueRanges } from './text-rows.js';

const LF = 10;
const HIGH = 2 ** 32;
const LETTER_T = 116;
/** Room for a value that is written behind the block. */
const VALUE_BYTES = 32;

interface Start {
  /** Bytes and rows that an earlier run has converted. */
  readonly skip: number;
  readonly skippedRows: number;
}

/** Reads the rows of inputs by the columns of the first. */
export class NdjsonRowReader {
  readonly #columns: readonly TableColumn[];
  readonly #scanner: LineScanner;
  readonly #isTyped: boolean;
  readonly #lat: number;
  readonly #lng: number;
  readonly #most: number;
  readonly #ranges: ValueRanges[];
  readonly #latLngDeg: Float64Array;
  readonly #text = new GrowingBytes(1 << 20);
  #view = new DataView(this.#text.bytes.buffer);

  /**
   * @param most rows of a window
   * @param isTyped whether ranges are plain values as columns of types have them, instead of texts
   */
  constructor(columns: readonly TableColumn[], lat: number, lng: number, most: number, isTyped: boolean) {
    this.#columns = columns;
    this.#scanner = new LineScanner(columns.map(({ name }) => name));
    this.#isTyped = isTyped;
    this.#lat = lat;
    this.#lng = lng;
    this.#most = most;
    this.#ranges = columns.map(() => ({ starts: new Int32Array(most), ends: new Int32Array(most) }));
    this.#latLngDeg = new Float64Array(2 * most);
  }

  /** Windows of rows; the memory of one is used for the next. @throws CliFailure BAD_INPUT */
  async *windows(
    input: Input,
    { skip, skippedRows }: Start,
  ): AsyncGenerator<{ readonly rows: TextRows; readonly endOffset: number }> {
    let lines = 0;
    let rows = skippedRows;
    let offset = 0;
    for await (const block of blocksOf(input, () => lines + 1)) {
      const end = offset + block.length;
      if (end <= skip) {
        for (let at = block.indexOf(LF); at >= 0; at = block.indexOf(LF, at + 1)) lines++;
        offset = end;
        continue;
      }
      const text = this.#text;
      text.at = 0;
      text.add(block);
      const isSound = isUtf8(block) && !block.includes(0);
      // An earlier run ended at the end of a block.
      for (let at = Math.max(0, skip - offset); at < block.length; ) {
        text.at = block.length;
        let rowCount = 0;
        while (at < block.length && rowCount < this.#most) {
          const feed = block.indexOf(LF, at);
          const stop = feed < 0 ? block.length : feed;
          lines++;
          if (stop - at > MAX_LINE_BYTES) throw tooLongLine(input.name, lines);
          if (
            (isSound && this.#readLine(at, stop, rowCount)) ||
            this.#readSlowly(block.subarray(at, stop), input.name, lines, rows + rowCount + 1, rowCount)
          )
            rowCount++;
          at = stop + 1;
        }
        rows += rowCount;
        const window = { text, rowCount, columns: this.#ranges, latLngDeg: this.#latLngDeg };
        if (rowCount > 0) yield { rows: window, endOffset: at < block.length ? -1 : end };
      }
      offset = end;
    }
  }

  /** Reads a line of plain members. @returns false for any other line */
  #readLine(start: number, lineEnd: number, row: number): boolean {
    const text = this.#text;
    const scanner = this.#scanner;
    if (!scanner.scan(text.bytes, start, lineEnd)) return false;
    const columns = this.#columns;
    text.reserve(lineEnd - start + VALUE_BYTES * columns.length);
    if (this.#view.buffer !== text.bytes.buffer) this.#view = new DataView(text.bytes.buffer);
    const { kinds, numbers } = scanner;
    for (let column = 0; column < columns.length; column++) {
      const { starts, ends } = this.#ranges[column]!;
      const kind = kinds[column]!;
      if (kind === ABSENT || kind === NULL) starts[row] = -1;
      else {
        starts[row] = scanner.starts[column]!;
        ends[row] = scanner.ends[column]!;
        if (!this.#fit(columns[column]!, kind, column, starts, ends, row)) return false;
      }
    }
    for (const half of [0, 1] as const) {
      const column = half === 0 ? this.#lat : this.#lng;
      const kind = kinds[column]!;
      let degrees = Number.NaN;
      if (kind === INTEGER || kind === FRACTION) degrees = numbers[column]!;
      else if (kind !== ABSENT && kind !== NULL) {
        const { starts, ends } = this.#ranges[column]!;
        degrees = numberIn(text.bytes, starts[row]!, ends[row]!);
        if (Number.isNaN(degrees)) return false;
      }
      this.#latLngDeg[2 * row + half] = degrees;
    }
    return true;
  }

  /** Makes the range of a value that of its column. @returns false for a value of another kind, or one that is left */
  #fit(
    { kind: wanted }: TableColumn,
    kind: number,
    column: number,
    starts: Int32Array,
    ends: Int32Array,
    row: number,
  ): boolean {
    const text = this.#text;
    const isNumber = kind === INTEGER || kind === FRACTION;
    switch (wanted) {
      case 'text': {
        if (kind === TEXT) return true;
        if (kind !== ESCAPED) return false;
        const end = unescaped(text.bytes, starts[row]!, ends[row]!, text.bytes, text.at);
        if (end < 0) return false;
        this.#put(starts, ends, row, end);
        return true;
      }
      case 'double':
        if (!isNumber) return false;
        if (this.#isTyped) {
          this.#view.setFloat64(text.at, this.#scanner.numbers[column]!, true);
          this.#put(starts, ends, row, text.at + 8);
        } else if (this.#scanner.usual[column] === 0) {
          starts[row] = text.at;
          text.addNumber(this.#scanner.numbers[column]!);
          ends[row] = text.at;
        }
        return true;
      case 'long': {
        if (kind !== INTEGER || !this.#isTyped) return false;
        const value = this.#scanner.numbers[column]!;
        const high = Math.floor(value / HIGH);
        this.#view.setInt32(text.at + 4, high, true);
        this.#view.setUint32(text.at, value - high * HIGH, true);
        this.#put(starts, ends, row, text.at + 8);
        return true;
      }
      case 'boolean':
        if (kind !== BOOLEAN) return false;
        if (this.#isTyped) {
          text.bytes[text.at] = text.bytes[starts[row]!] === LETTER_T ? 1 : 0;
          this.#put(starts, ends, row, text.at + 1);
        }
        return true;
      case 'json':
        if (kind === ESCAPED || !this.#isTyped) return false;
        if (kind === TEXT) {
          starts[row]!--;
          ends[row]!++;
        }
        return !isNumber || this.#scanner.usual[column] === 1;
      default:
        return false;
    }
  }

  /** The range of a value that has been written behind the others. */
  #put(starts: Int32Array, ends: Int32Array, row: number, end: number): void {
    starts[row] = this.#text.at;
    ends[row] = end;
    this.#text.at = end;
  }

  /** Reads any line. @returns false for a blank one. @throws CliFailure BAD_INPUT */
  #readSlowly(bytes: Uint8Array, file: string, line: number, number: number, row: number): boolean {
    const json = textOfLine(bytes, file, line);
    if (json === '') return false;
    const { value } = parseObject(json, file, line);
    const columns = this.#columns;
    const values = valuesOf(columns, [value], file, number, this.#isTyped ? 'types' : 'names');
    const text = this.#text;
    for (const [c, column] of columns.entries()) {
      const each = values[c]![0];
      const { starts, ends } = this.#ranges[c]!;
      if (each === null || each === undefined) {
        starts[row] = -1;
        continue;
      }
      starts[row] = text.at;
      if (this.#isTyped) addPlain(text, column, each);
      else text.addText(textOf(column, each));
      ends[row] = text.at;
    }
    this.#latLngDeg[2 * row] = degreesOf(columns[this.#lat]!, values[this.#lat]![0], 'lat');
    this.#latLngDeg[2 * row + 1] = degreesOf(columns[this.#lng]!, values[this.#lng]![0], 'lng');
    return true;
  }
}

/** Blocks of whole lines; the last may have no end. @throws CliFailure BAD_INPUT for a line that is too long */
export async function* blocksOf(input: Input, nextLine: () => number): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input.chunks()) {
    const feed = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).lastIndexOf(LF);
    if (feed >= 0) {
      yield Buffer.concat([...parts, chunk.subarray(0, feed + 1)]);
      parts = [];
      size = 0;
    }
    const rest = chunk.subarray(feed + 1);
    if (rest.length > 0) parts.push(rest);
    size += rest.length;
    if (size > MAX_LINE_BYTES) throw tooLongLine(input.name, nextLine());
  }
  if (size > 0) yield Buffer.concat(parts);
}
