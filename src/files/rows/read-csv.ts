// Rows of CSV and TSV as ranges of bytes. Quoted fields are unquoted where they stand: they become shorter.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { type TextMemory, textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import { type CsvText, raggedFault } from '../formats/csv-header.js';
import type { TableColumn } from '../formats/table.js';
import { degreesOf } from '../formats/values/column-text.js';
import { GrowingBytes, numberIn, type TextRows, type ValueRanges, wasUsual } from './text-rows.js';

const [LF, CR, QUOTE] = [10, 13, 34] as const;
const TEXT: TableColumn = { name: '', kind: 'text' };
/** Bytes that the kernel notes of a field: where it starts and ends. */
const BOUNDS_BYTES = 8;

/** Reads the rows of inputs of one header: by the kernel, and here those with quotes to be taken out. */
export class CsvRowReader {
  readonly #kernel: Kernel;
  readonly #memory: TextMemory;
  readonly #names: readonly string[];
  readonly #delimiter: number;
  readonly #lat: number;
  readonly #lng: number;
  readonly #most: number;
  /** Where the kernel notes the fields of a window. */
  readonly #scanned: readonly ValueRanges[];
  readonly #latLngDeg: Float64Array;
  readonly #text = new GrowingBytes(1 << 20);
  #at = 0;
  #end = 0;
  #hasQuotes = false;
  #isScanned = false;
  /** Why rows of a window are not read: they have more or fewer fields than the header. */
  readonly #unread = new Map<number, string>();

  /** @param most rows of a window */
  constructor(
    kernel: Kernel,
    names: readonly string[],
    delimiter: number,
    lat: number,
    lng: number,
    most: number,
  ) {
    this.#kernel = kernel;
    this.#memory = textMemoryOf(kernel);
    this.#names = names;
    this.#delimiter = delimiter;
    this.#lat = lat;
    this.#lng = lng;
    const { memory, FIELDS, FIELDS_BYTES } = kernel.exports;
    const ofAll = Math.floor(FIELDS_BYTES.value / (BOUNDS_BYTES * names.length));
    this.#most = Math.min(most, ofAll);
    this.#scanned = names.map((_, column) => {
      const at = FIELDS.value + BOUNDS_BYTES * this.#most * column;
      return {
        starts: new Int32Array(memory.buffer, at, this.#most),
        ends: new Int32Array(memory.buffer, at + (BOUNDS_BYTES / 2) * this.#most, this.#most),
      };
    });
    this.#latLngDeg = new Float64Array(2 * this.#most);
  }

  /**
   * Windows of rows from an offset on; the memory of one is used for the next.
   * @param nextRow number of the first row that has not been given, for messages
   * @returns `endOffset`: the end of a block, where the input can be read on; -1 behind other windows
   * @throws CliFailure BAD_INPUT
   */
  async *windows(
    input: CsvText,
    from: number,
    nextRow: () => number,
  ): AsyncGenerator<{ readonly rows: TextRows; readonly endOffset: number }> {
    let offset = from;
    const text = this.#text;
    for await (const block of input.blocks(from, nextRow)) {
      this.#open(block);
      offset += block.length;
      while (this.#at < this.#end) {
        text.at = this.#end;
        this.#unread.clear();
        const rowCount = this.#readWindow(block);
        if (rowCount === 0) break;
        const rows = {
          text,
          rowCount,
          columns: this.#scanned,
          latLngDeg: this.#latLngDeg,
          isScanned: this.#isScanned,
          unread: this.#unread,
        };
        yield { rows, endOffset: this.#at < this.#end ? -1 : offset };
      }
    }
  }

  #open(block: Uint8Array): void {
    const text = this.#text;
    text.at = 0;
    text.add(block);
    this.#hasQuotes = Buffer.from(block.buffer, block.byteOffset, block.length).includes(QUOTE);
    this.#at = 0;
    this.#end = block.length;
  }

  /** Reads rows up to a full window. @returns how many there are */
  #readWindow(block: Uint8Array): number {
    const memory = this.#memory;
    const { exports, input } = this.#kernel;
    const { blockAt } = memory;
    const columns = this.#names.length;
    // A CR at the end of the content is no text here, and to the kernel it is.
    const hasLastReturn = block[block.length - 1] === CR;
    this.#isScanned = block.length <= memory.blockBytes && !(hasLastReturn && this.#hasQuotes);
    if (!this.#isScanned) {
      const rowCount = this.#split(this.#text.bytes, 0, this.#most);
      for (let row = 0; row < rowCount; row++) this.#readDegrees(row);
      return rowCount;
    }
    const end = this.#end - (hasLastReturn ? 1 : 0);
    memory.block.set(this.#at === 0 ? block : block.subarray(this.#at), this.#at);
    exports.useCsvColumns(columns, this.#lat, this.#lng, -1, this.#delimiter);
    exports.useCsvFields(this.#most, blockAt);
    const rowCount = exports.scanCsv(blockAt + this.#at, blockAt + end, this.#most, false, 0);
    const stop = exports.csvEnd.value - blockAt;
    this.#latLngDeg.set(input.subarray(0, 2 * rowCount));
    for (let row = memory.nextLeft(0, rowCount); row < rowCount; row = memory.nextLeft(row + 1, rowCount)) {
      if (memory.hasLeftFields(row)) {
        [this.#at] = memory.rowBounds(row);
        this.#split(this.#text.bytes, row, row + 1);
      }
      this.#readDegrees(row);
      memory.leaveToHost(row);
    }
    this.#at = stop === end ? this.#end : stop;
    return rowCount;
  }

  /**
   * Splits rows here, as those from one number on to before another.
   * @returns the number of the next
   */
  #split(bytes: Uint8Array, from: number, to: number): number {
    const delimiter = this.#delimiter;
    const columns = this.#scanned;
    const end = this.#end;
    const width = columns.length;
    let at = this.#at;
    let row = from;
    while (at < end && row < to) {
      if (bytes[at] === LF) {
        at++;
        continue;
      }
      // A return alone at the end is a blank line, or a row where quotes are in the block, as for csv.ts.
      if (bytes[at] === CR && (at + 1 === end ? !this.#hasQuotes : bytes[at + 1] === LF)) {
        at += 2;
        continue;
      }
      let column = 0;
      for (let isLast = false; !isLast; column++) {
        let start = at;
        let stop: number;
        if (bytes[at] === QUOTE && at < end) {
          start = ++at;
          let into = at;
          for (; at < end; at++) {
            if (bytes[at] === QUOTE) {
              if (at + 1 < end && bytes[at + 1] === QUOTE) at++;
              else break;
            }
            if (into !== at) bytes[into] = bytes[at]!;
            into++;
          }
          if (at >= end) {
            // The quote is open at the end of the content.
            if (into > start && bytes[end - 1] === LF) into--;
            if (into > start && bytes[into - 1] === CR) into--;
          }
          stop = into;
          const behind = Math.min(at + 1, end);
          while (at < end && bytes[at] !== delimiter && bytes[at] !== LF) at++;
          isLast = at >= end || bytes[at] === LF;
          const last = isLast && at > behind && bytes[at - 1] === CR ? at - 1 : at;
          if (last > behind) {
            // Where text follows the closing quote, both quotes belong to the field.
            start--;
            bytes[into++] = QUOTE;
            bytes.copyWithin(into, behind, last);
            stop = into + last - behind;
          }
        } else {
          let byte = 0;
          while (at < end) {
            byte = bytes[at]!;
            if (byte === delimiter || byte === LF) break;
            at++;
          }
          stop = at;
          isLast = at >= end || byte === LF;
          if (isLast && stop > start && bytes[stop - 1] === CR) stop--;
        }
        at++;
        if (column < width) {
          const { starts, ends } = columns[column]!;
          starts[row] = start;
          ends[row] = stop;
        }
      }
      if (column !== width) this.#unread.set(row, raggedFault(column, width));
      for (; column < width; column++) {
        columns[column]!.starts[row] = at;
        columns[column]!.ends[row] = at;
      }
      row++;
    }
    this.#at = Math.min(at, end);
    return row;
  }

  #readDegrees(row: number): void {
    const { bytes } = this.#text;
    if (this.#unread.has(row)) {
      this.#latLngDeg.fill(Number.NaN, 2 * row, 2 * row + 2);
      return;
    }
    for (const half of [0, 1] as const) {
      const { starts, ends } = this.#scanned[half === 0 ? this.#lat : this.#lng]!;
      const start = starts[row]!;
      const stop = ends[row]!;
      let degrees = numberIn(bytes, start, stop);
      if (Number.isNaN(degrees) && stop > start) {
        const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, stop - start).toString();
        degrees = degreesOf(TEXT, text, half === 0 ? 'lat' : 'lng');
      }
      this.#latLngDeg[2 * row + half] = degrees;
    }
  }
}

/**
 * Makes the positions of a window numbers as JSON writes them.
 * @param half 0 for latitudes, 1 for longitudes
 * @param ofPoints whether only those of points of GeoJSON: other values stay as they are
 */
export function asNumbers(
  { text, rowCount, columns, latLngDeg }: TextRows,
  column: number,
  half: 0 | 1,
  ofPoints: boolean,
): void {
  const { starts, ends } = columns[column]!;
  for (let row = 0; row < rowCount; row++) {
    const degrees = latLngDeg[2 * row + half]!;
    if (ofPoints && !(Math.abs(latLngDeg[2 * row]!) <= 90 && Math.abs(latLngDeg[2 * row + 1]!) <= 180))
      continue;
    if (Number.isNaN(degrees)) starts[row] = -1;
    else {
      numberIn(text.bytes, starts[row]!, ends[row]!);
      if (wasUsual()) continue;
      starts[row] = text.at;
      text.addNumber(degrees);
      ends[row] = text.at;
    }
  }
}
