// Rows of NDJSON as ranges of bytes: lines of plain members in known columns are read where they stand, all other lines
// value by value, as formats/json/ reads them.

import { isUtf8 } from 'node:buffer';
import type { Input } from '../disk/input.js';
import { parseObject, valuesOf } from '../formats/json/json-columns.js';
import { MAX_LINE_BYTES, textOfLine, tooLongLine } from '../formats/lines.js';
import type { TableColumn } from '../formats/table.js';
import { degreesOf, textOf } from '../formats/values/column-text.js';
import { GrowingBytes, numberIn, type TextRows, type ValueRanges, wasUsual } from './text-rows.js';

const [LF, CR, QUOTE, COMMA, COLON, BACKSLASH, OPEN, CLOSE] = [10, 13, 34, 44, 58, 92, 123, 125] as const;
const [TRUE, FALSE] = [0x74, 0x66] as const;

interface Start {
  /** Bytes and rows that an earlier run has converted. */
  readonly skip: number;
  readonly skippedRows: number;
}

/** Reads the rows of inputs by the columns of the first. */
export class NdjsonRowReader {
  readonly #columns: readonly TableColumn[];
  readonly #names: readonly Uint8Array[];
  /** Columns of texts; of numbers, or booleans. */
  readonly #isText: readonly boolean[];
  readonly #isNumber: readonly boolean[];
  readonly #lat: number;
  readonly #lng: number;
  readonly #most: number;
  readonly #ranges: ValueRanges[];
  readonly #latLngDeg: Float64Array;
  readonly #text = new GrowingBytes(1 << 20);

  /** @param columns of texts, numbers and booleans; @param most rows of a window */
  constructor(columns: readonly TableColumn[], lat: number, lng: number, most: number) {
    this.#columns = columns;
    this.#names = columns.map(({ name }) => Buffer.from(JSON.stringify(name)));
    this.#isText = columns.map(({ kind }) => kind === 'text');
    this.#isNumber = columns.map(({ kind }) => kind === 'double');
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
            (isSound && this.#readLine(text.bytes, at, stop, rowCount)) ||
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
  #readLine(bytes: Uint8Array, start: number, lineEnd: number, row: number): boolean {
    const end = bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (end - start < 2 || bytes[start] !== OPEN || bytes[end - 1] !== CLOSE) return false;
    const ranges = this.#ranges;
    for (const { starts } of ranges) starts[row] = -1;
    const names = this.#names;
    const last = end - 1;
    let at = start + 1;
    for (let next = 0; at < last; next++) {
      let column = next;
      if (column >= names.length || !startsWith(bytes, at, names[column]!)) {
        for (column = 0; column < names.length; column++) if (startsWith(bytes, at, names[column]!)) break;
        if (column === names.length) return false;
      }
      const { starts, ends } = ranges[column]!;
      // The last one counts of two members of one name.
      if (starts[row] !== -1) return false;
      at += names[column]!.length;
      if (bytes[at++] !== COLON) return false;
      if (bytes[at] === QUOTE) {
        if (this.#isText[column] !== true) return false;
        const from = ++at;
        for (; bytes[at] !== QUOTE; at++)
          if (at >= last || bytes[at] === BACKSLASH || bytes[at]! < 32) return false;
        starts[row] = from;
        ends[row] = at++;
      } else {
        const from = at;
        while (at < last && bytes[at] !== COMMA) at++;
        if (this.#isNumber[column] === true) {
          const value = numberIn(bytes, from, at);
          if (!wasUsual()) return false;
          if (column === this.#lat) this.#latLngDeg[2 * row] = value;
          if (column === this.#lng) this.#latLngDeg[2 * row + 1] = value;
        } else if (this.#isText[column] === true || !isBoolean(bytes, from, at)) return false;
        starts[row] = from;
        ends[row] = at;
      }
      if (at < last && bytes[at] !== COMMA) return false;
      at++;
      if (at === last) return false;
    }
    for (const half of [0, 1] as const) {
      const column = half === 0 ? this.#lat : this.#lng;
      const { starts, ends } = ranges[column]!;
      if (starts[row] === -1) this.#latLngDeg[2 * row + half] = Number.NaN;
      else if (this.#isText[column] === true) {
        const value = numberIn(bytes, starts[row]!, ends[row]!);
        if (Number.isNaN(value)) return false;
        this.#latLngDeg[2 * row + half] = value;
      }
    }
    return true;
  }

  /** Reads any line. @returns false for a blank one. @throws CliFailure BAD_INPUT */
  #readSlowly(bytes: Uint8Array, file: string, line: number, number: number, row: number): boolean {
    const json = textOfLine(bytes, file, line);
    if (json === '') return false;
    const { value } = parseObject(json, file, line);
    const columns = this.#columns;
    const values = valuesOf(columns, [value], file, number, 'names');
    const text = this.#text;
    for (const [c, column] of columns.entries()) {
      const each = values[c]![0];
      const { starts, ends } = this.#ranges[c]!;
      if (each === null || each === undefined) {
        starts[row] = -1;
        continue;
      }
      starts[row] = text.at;
      text.addText(textOf(column, each));
      ends[row] = text.at;
    }
    this.#latLngDeg[2 * row] = degreesOf(columns[this.#lat]!, values[this.#lat]![0], 'lat');
    this.#latLngDeg[2 * row + 1] = degreesOf(columns[this.#lng]!, values[this.#lng]![0], 'lng');
    return true;
  }
}

function startsWith(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

function isBoolean(bytes: Uint8Array, start: number, end: number): boolean {
  const word = bytes[start] === TRUE ? 'true' : bytes[start] === FALSE ? 'false' : '';
  if (word === '' || end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word.charCodeAt(i)) return false;
  return true;
}

/** Blocks of whole lines; the last may have no end. @throws CliFailure BAD_INPUT for a line that is too long */
async function* blocksOf(input: Input, nextLine: () => number): AsyncGenerator<Buffer> {
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
