// Writes rows of bytes as Parquet in row groups of 65,536 rows, or of 64 MiB of text: values as columns of plain bytes,
// the others from the kernel's records.

import { OK } from '../../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../../../hexcodes/kernel/output-layout.js';
import type { Output } from '../../disk/output.js';
import type { Wanted } from '../../driver.js';
import type { TextRows } from '../../rows/text-rows.js';
import { type RowWriter, type WrittenColumns, wantedRows } from '../../rows/write-text.js';
import { ParquetFileWriter } from './file-writer.js';
import { adminChunk, adminOf, CodePages, resolutionChunk, statusChunk } from './own-columns.js';
import { NONE, type OwnChunk, thriftElement } from './pages.js';
import { elementOf } from './parquet-types.js';
import { PlainColumn } from './plain-column.js';

const GROUP_ROWS = 65_536;
const MAX_HELD_BYTES = 64 * 2 ** 20;

export class ParquetRowWriter implements RowWriter {
  readonly #columns: WrittenColumns;
  readonly #file: ParquetFileWriter;
  readonly #all: WrittenColumns['kept'];
  /** One for each column, null where it is made of records. */
  readonly #plain: readonly (PlainColumn | null)[];
  readonly #hasRecords: boolean;
  readonly #halves: readonly (0 | 1 | null)[];
  readonly #codeParts: Uint8Array[] = [];
  readonly #codes = new CodePages((part) => this.#codeParts.push(part));
  readonly #admins = new Uint8Array(GROUP_ROWS);
  readonly #statuses = new Uint8Array(GROUP_ROWS);
  #wanted = new Int32Array(0);
  #records = new Uint8Array(0);
  #rows = 0;

  /** @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values */
  constructor(output: Output, columns: WrittenColumns, halves: readonly (0 | 1 | null)[]) {
    this.#columns = columns;
    this.#file = new ParquetFileWriter(output);
    this.#all = [...columns.kept, ...columns.added];
    this.#plain = this.#all.map((column) => (column.index < 0 ? null : new PlainColumn(elementOf(column))));
    this.#hasRecords = this.#plain.includes(null);
    this.#halves = halves;
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    if (this.#wanted.length < rows.rowCount) {
      this.#wanted = new Int32Array(rows.rowCount);
      this.#records = new Uint8Array(RECORD_BYTES * rows.rowCount);
    }
    const count = wantedRows(records, rows.rowCount, wanted, this.#wanted);
    const own = wanted === 'all' ? records : this.#gathered(records, count);
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + GROUP_ROWS - this.#rows);
      for (const [c, column] of this.#plain.entries()) {
        if (column === null) continue;
        const half = this.#halves[c] ?? null;
        const ranges = rows.columns[this.#all[c]!.index]!;
        if (half === null) column.addRanges(rows.text.bytes, ranges, this.#wanted, from, to);
        else this.#addDegrees(column, rows, half, from, to);
      }
      if (this.#hasRecords) this.#addOwn(own, from, to);
      this.#rows += to - from;
      from = to;
      const held = this.#plain.reduce((sum, column) => sum + (column?.sizeBytes ?? 0), 0);
      if (this.#rows === GROUP_ROWS || held >= MAX_HELD_BYTES) await this.#endGroup();
    }
  }

  #addDegrees(column: PlainColumn, { latLngDeg }: TextRows, half: 0 | 1, from: number, to: number): void {
    const wanted = this.#wanted;
    for (let i = from; i < to; i++) {
      const value = latLngDeg[2 * wanted[i]! + half]!;
      if (Number.isNaN(value)) column.addNull();
      else column.addDouble(value);
    }
  }

  #gathered(records: Uint8Array, count: number): Uint8Array {
    for (let i = 0; i < count; i++) {
      const start = RECORD_BYTES * this.#wanted[i]!;
      this.#records.set(records.subarray(start, start + RECORD_BYTES), RECORD_BYTES * i);
    }
    return this.#records;
  }

  #addOwn(records: Uint8Array, from: number, to: number): void {
    this.#codes.add(from === 0 ? records : records.subarray(RECORD_BYTES * from), to - from);
    for (let row = from; row < to; row++) {
      const status = records[recordStatusAt(row)]!;
      const at = this.#rows + row - from;
      this.#admins[at] = status === OK ? adminOf(records, RECORD_BYTES * row) : NONE;
      this.#statuses[at] = status;
    }
  }

  async #endGroup(): Promise<void> {
    const rows = this.#rows;
    if (rows === 0) return;
    for (const [c, column] of this.#all.entries()) {
      const chunk =
        this.#plain[c]?.end() ?? this.#ownChunk(this.#columns.values[c - this.#columns.kept.length]!);
      await this.#file.writeChunk(chunk, elementOf(column), rows);
    }
    this.#file.endGroup(rows);
    this.#rows = 0;
  }

  #ownChunk(is: WrittenColumns['values'][number]): OwnChunk {
    const rows = this.#rows;
    if (is === 'code') return { ...this.#codes.end(), pages: this.#codeParts.splice(0) };
    if (is === 'resolution') return resolutionChunk(this.#columns.resolution, rows);
    return is === 'admin'
      ? adminChunk(this.#admins.subarray(0, rows))
      : statusChunk(this.#statuses.subarray(0, rows));
  }

  async close(): Promise<void> {
    await this.#endGroup();
    const columns = this.#all;
    await this.#file.end(
      columns.map((column) => thriftElement(elementOf(column))),
      columns,
    );
  }
}
