// Rows of CSV and TSV as ranges of bytes, by the kernel; fields that have quotes within them are split off as texts.

import type { Kernel } from '../../../hexcodes/kernel/kernel.js';
import { type TextMemory, textMemoryOf } from '../../../hexcodes/kernel/text-memory.js';
import { csvFields } from '../../../hexcodes/wire/rows/csv-fields.js';
import { GrowingBytes, numberIn, type TextRows, type ValueRanges, wasUsual } from '../../rows/text-rows.js';
import type { ReadColumns, TableColumn } from '../table.js';
import { degreesOf } from '../values/column-text.js';
import type { CsvText } from './csv.js';
import { raggedFault, TORN_FAULT } from './dialect.js';

const QUOTE = 34;
const TEXT: TableColumn = { name: '', kind: 'text' };
/** Bytes of the kernel for a field's bounds: its start and its end. */
const BOUNDS_BYTES = 8;

/** Reads the rows of inputs with one header. */
export class CsvRowReader {
  readonly #memory: TextMemory;
  readonly #most: number;
  /** Bounds of the fields of a window, as noted by the kernel. */
  readonly #scanned: readonly ValueRanges[];
  readonly #latLngDeg: Float64Array;
  readonly #text = new GrowingBytes(1 << 20);
  /** Offset of the next row in the block. */
  #at = 0;
  /** Why rows of a window are not read: they have more or fewer fields than the header. */
  readonly #unread = new Map<number, string>();

  /** @param most rows of a window */
  constructor(
    private readonly kernel: Kernel,
    private readonly names: readonly string[],
    private readonly delimiter: number,
    private readonly read: ReadColumns,
    most: number,
  ) {
    this.#memory = textMemoryOf(kernel);
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
   * Windows of rows from an offset on; the memory of one is reused by the next.
   * @param nextRow number of the first row not yet returned, for messages
   * @returns `endOffset`: the end of a block, from which reading can resume; -1 after other windows
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
      text.at = 0;
      text.add(block);
      offset += block.length;
      for (this.#at = 0; this.#at < block.length; ) {
        text.at = block.length;
        this.#unread.clear();
        const rowCount = this.#readWindow(block);
        if (rowCount === 0) break;
        const rows = {
          text,
          rowCount,
          columns: this.#scanned,
          latLngDeg: this.#latLngDeg,
          unread: this.#unread,
        };
        yield { rows, endOffset: this.#at < block.length ? -1 : offset };
      }
    }
  }

  /**
   * Reads rows from an offset of a block on, up to a full window.
   * @returns their number
   */
  #readWindow(block: Uint8Array): number {
    const memory = this.#memory;
    const { exports, input } = this.kernel;
    const { blockAt } = memory;
    memory.block.set(this.#at === 0 ? block : block.subarray(this.#at), this.#at);
    const { lat, lng, code } = this.read;
    const isDecode = code >= 0;
    exports.useCsvColumns(this.names.length, isDecode ? code : lat, lng, -1, this.delimiter);
    exports.useCsvFields(this.#most, blockAt);
    const end = blockAt + block.length;
    const rowCount = exports.scanCsv(blockAt + this.#at, end, this.#most, isDecode, 0);
    if (!isDecode) this.#latLngDeg.set(input.subarray(0, 2 * rowCount));
    for (let row = memory.nextLeft(0, rowCount); row < rowCount; row = memory.nextLeft(row + 1, rowCount)) {
      if (memory.hasLeftFields(row)) this.#readFields(block, row);
      if (!isDecode) this.#readDegrees(row);
      memory.leaveToHost(row);
    }
    this.#at = exports.csvEnd.value - blockAt;
    return rowCount;
  }

  /** Reads the fields of a row whose number of fields differs from the header, or that has quotes within fields. */
  #readFields(block: Uint8Array, row: number): void {
    const [start, end] = this.#memory.rowBounds(row);
    const line = block.subarray(start, end);
    const text = this.#text;
    const width = this.names.length;
    let column = 0;
    let isTorn = false;
    for (let at = 0; at <= line.length; column++) {
      const isQuoted = line[at] === QUOTE;
      const first = isQuoted ? line.indexOf(QUOTE, at + 1) : at - 1;
      let close = first;
      while (isQuoted && close >= 0 && line[close + 1] === QUOTE) close = line.indexOf(QUOTE, close + 2);
      if (isQuoted && close < 0) close = line.length;
      const found = line.indexOf(this.delimiter, close + 1);
      const stop = found < 0 ? line.length : found;
      const { starts, ends } = this.#scanned[Math.min(column, width - 1)]!;
      if (column < width && (!isQuoted || (close === first && stop === close + 1))) {
        starts[row] = start + (isQuoted ? at + 1 : at);
        ends[row] = start + (isQuoted ? close : stop);
      } else if (column < width && stop === close + 1) {
        starts[row] = text.at;
        addUnquoted(text, line, at + 1, close);
        ends[row] = text.at;
      } else if (column < width) {
        // Text after the closing quote.
        const field = Buffer.from(line.buffer, line.byteOffset + at, stop - at).toString();
        isTorn ||= csvFields(field, this.delimiter) === undefined;
        starts[row] = text.at;
        text.addText(csvFields(field, this.delimiter, true)?.[0] ?? '');
        ends[row] = text.at;
      }
      at = stop + 1;
    }
    if (isTorn) this.#unread.set(row, TORN_FAULT);
    else if (column !== width) this.#unread.set(row, raggedFault(column, width));
    for (; column < width; column++) {
      const { starts, ends } = this.#scanned[column]!;
      starts[row] = text.at;
      ends[row] = text.at;
    }
  }

  #readDegrees(row: number): void {
    const { bytes } = this.#text;
    if (this.#unread.has(row)) {
      this.#latLngDeg.fill(Number.NaN, 2 * row, 2 * row + 2);
      return;
    }
    for (const half of [0, 1] as const) {
      const { starts, ends } = this.#scanned[half === 0 ? this.read.lat : this.read.lng]!;
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
 * Rewrites the positions of a window as numbers of JSON.
 * @param half 0 for latitudes, 1 for longitudes
 * @param ofPoints whether only those of points of GeoJSON; other values stay unchanged
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

/** Adds the text between two quotes, in which two stand for one. */
function addUnquoted(text: GrowingBytes, line: Uint8Array, start: number, end: number): void {
  text.reserve(end - start);
  const { bytes } = text;
  for (let p = start; p < end; p++) {
    bytes[text.at++] = line[p]!;
    if (line[p] === QUOTE) p++;
  }
}
