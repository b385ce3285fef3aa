// Sorted rows as Parquet: stored values are copied, and everything that a code says is made of it here, in the order of
// the output, where rows of one cell are neighbours.

import { EACH_ITS_OWN, OK } from '../../hexcodes/kernel/kernel.js';
import {
  cellStatusAt,
  codeBytes,
  POINT_BYTES,
  positionResolutionAt,
  RECORD_BYTES,
  RECORD_TEXT_BYTES,
} from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Output } from '../disk/output.js';
import { adminChunk, adminOf, statusChunk } from '../formats/parquet/own-columns.js';
import { NONE, thriftElement } from '../formats/parquet/pages.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import { PlainColumn } from '../formats/parquet/plain-column.js';
import { ParquetFileWriter } from '../formats/parquet/write-parquet.js';
import type { DerivedColumns, TableColumn } from '../formats/table.js';
import { HEAD_WORDS, KEY_WORDS } from './packed-rows.js';

const ROW_GROUP_ROWS = 65_536;
/** Bytes at which a row group ends before. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Made when the first row group is written: h3-js takes long to load. */
type Boxes = InstanceType<typeof import('../../hexcodes/geometry/cell-boxes.js').CellBoxes>;

export class SortedParquet {
  readonly #file: ParquetFileWriter;
  readonly #plain: readonly (PlainColumn | null)[];
  readonly #stored: readonly PlainColumn[];
  readonly #records = new Uint8Array(ROW_GROUP_ROWS * RECORD_BYTES);
  readonly #admins = new Uint8Array(ROW_GROUP_ROWS);
  readonly #statuses = new Uint8Array(ROW_GROUP_ROWS);
  /** Size and text of one code, as a value. */
  readonly #code = new Uint8Array(4 + RECORD_BYTES);
  #rows = 0;
  #heldBytes = 0;
  #boxes: Boxes | null = null;
  #lastCell: { readonly text: string; readonly words: readonly [low: number, high: number] } = {
    text: '',
    words: [0, 0],
  };

  constructor(
    private readonly hexcodes: Hexcodes,
    output: Output,
    private readonly columns: readonly TableColumn[],
    private readonly derived: DerivedColumns,
    storedAt: readonly number[],
  ) {
    this.#file = new ParquetFileWriter(output);
    const { admin, status } = derived;
    const plain = columns.map((column, index) =>
      index === admin || index === status ? null : new PlainColumn(elementOf(column)),
    );
    this.#plain = plain;
    this.#stored = storedAt.map((index) => plain[index]!);
  }

  get isFull(): boolean {
    return this.#rows === ROW_GROUP_ROWS || this.#heldBytes >= MAX_HELD_BYTES;
  }

  add(words: Uint32Array, bytes: Uint8Array, at: number): void {
    const row = this.#rows++;
    const stored = this.#stored;
    const bitmap = 4 * (at + HEAD_WORDS);
    let from = bitmap + ((stored.length + 7) >> 3);
    for (let c = 0; c < stored.length; c++) {
      if ((bytes[bitmap + (c >> 3)]! >> (c & 7)) & 1) from = stored[c]!.take(bytes, from);
      else stored[c]!.addNull();
    }
    this.#heldBytes += 4 * words[at]!;
    const status = words[at + KEY_WORDS]! & 255;
    this.#statuses[row] = status;
    const records = this.#records;
    const record = RECORD_BYTES * row;
    if (status !== OK) {
      records.fill(0, record, record + RECORD_BYTES);
      this.#admins[row] = NONE;
      this.#plain[this.derived.code]!.addNull();
      return;
    }
    for (let word = 0; word < KEY_WORDS; word++) {
      const four = words[at + 1 + word]!;
      const to = record + 4 * word;
      records[to] = four >>> 24;
      records[to + 1] = four >>> 16;
      records[to + 2] = four >>> 8;
      records[to + 3] = four;
    }
    this.#admins[row] = adminOf(records, record);
    const code = this.#code;
    const length = codeBytes(records, record, code[0]);
    for (let i = 0; i < length; i++) code[4 + i] = records[record + i]!;
    code[0] = length;
    this.#plain[this.derived.code]!.take(code, 0);
  }

  /** Writes the rows so far as a row group. */
  async flush(): Promise<void> {
    const rows = this.#rows;
    if (rows === 0) return;
    const { CellBoxes } = await import('../../hexcodes/geometry/cell-boxes.js');
    this.#boxes ??= new CellBoxes();
    this.#addCells(rows, this.#boxes);
    const { admin, code } = this.derived;
    for (const [index, column] of this.columns.entries()) {
      const chunk =
        this.#plain[index]?.end() ??
        (index === admin
          ? adminChunk(this.#admins.subarray(0, rows))
          : statusChunk(this.#statuses.subarray(0, rows)));
      await this.#file.writeChunk(chunk, elementOf(column), rows);
    }
    this.#file.endGroup(rows, code);
    this.#rows = 0;
    this.#heldBytes = 0;
  }

  async close(): Promise<void> {
    await this.flush();
    const leaves = this.columns.map((column) => thriftElement(elementOf(column)));
    await this.#file.end(leaves, this.columns);
  }

  #addCells(rows: number, boxes: Boxes): void {
    const { kernel } = this.hexcodes;
    const { capacity, exports, input, inputBytes, output, outputFloats, resolutions } = kernel;
    const words = new Uint32Array(output.buffer, output.byteOffset, 2 * capacity);
    const cells = this.#plain[this.derived.cell]!;
    const sides = [0, 1, 2, 3].map((side) => this.#plain[this.derived.box + side]!);
    for (let from = 0; from < rows; from += capacity) {
      const count = Math.min(capacity, rows - from);
      inputBytes.set(this.#records.subarray(RECORD_BYTES * from, RECORD_BYTES * (from + count)));
      exports.decodeBatch(count);
      const centers = outputFloats.slice(0, (count * POINT_BYTES) / 8);
      const own = output.slice(positionResolutionAt(count, 0), positionResolutionAt(count, count));
      input.set(centers);
      resolutions.set(own);
      exports.encodeCells(count, EACH_ITS_OWN);
      for (let i = 0; i < count; i++) {
        if (this.#statuses[from + i] !== OK) {
          cells.addNull();
          for (const side of sides) side.addNull();
          continue;
        }
        let [low, high] = [words[2 * i]!, words[2 * i + 1]!];
        if (output[cellStatusAt(count, i)] !== OK) [low, high] = this.#cellOf(from + i);
        cells.addWords(low, high);
        const box = boxes.boxOf(high, low, centers[2 * i]!, centers[2 * i + 1]!, own[i]!);
        for (let side = 0; side < 4; side++) sides[side]!.addDouble(box[side]!);
      }
    }
  }

  /** The cell of a code whose centre is in no province. Leaves the kernel's output as it is. */
  #cellOf(row: number): readonly [low: number, high: number] {
    const record = this.#records.subarray(RECORD_BYTES * row, RECORD_BYTES * row + RECORD_TEXT_BYTES);
    const text = Buffer.from(record).toString('latin1').replace(/\0.*$/s, '');
    if (text === this.#lastCell.text) return this.#lastCell.words;
    const { output } = this.hexcodes.kernel;
    const kept = output.slice();
    const { cell } = this.hexcodes.read(text)!;
    output.set(kept);
    this.#lastCell = { text, words: [Number(cell & 0xffff_ffffn), Number(cell >> 32n)] };
    return this.#lastCell.words;
  }
}
