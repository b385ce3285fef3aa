// A sink that sorts rows by their codes and writes them as Parquet, in bounded memory: rows are packed as they come.

import { RECORD_BYTES, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import type { Output } from '../disk/output.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import { plainWidth } from '../formats/parquet/plain-column.js';
import type { SinkColumns, TableRows, TableSink } from '../formats/table.js';
import { plainAdder } from '../rows/plain-values.js';
import type { ValueRanges } from '../rows/text-rows.js';
import { ValueRows } from '../rows/value-rows.js';
import { SortedParquet } from './sorted-parquet.js';
import { HeldRows, SortedRuns } from './sorted-runs.js';

/** Rows between two calls of the run's tick. */
const ROWS_OF_A_TURN = 8192;
const STATUS_NUMBERS = new Map<unknown, number>(ROW_STATUSES.map((word, status) => [word, status]));

export class SortedSink implements TableSink {
  readonly #parquet: SortedParquet;
  readonly #held: HeldRows;
  readonly #runs = new SortedRuns();
  readonly #memoryBytes: number;
  readonly #tick: () => void;
  /** Places of the stored columns among all, of the codes and of the status. */
  readonly #stored: readonly number[];
  readonly #values: ValueRows;
  /** The stored columns of rows of values: each is its own source. */
  readonly #sources: Int32Array;
  readonly #code: number;
  readonly #status: number;

  /**
   * @param columns whose `derived` are made of the codes
   * @param memoryBytes of rows; more of them are written to the disk
   * @param tick is called between two blocks of rows, and may throw
   */
  constructor(
    hexcodes: Hexcodes,
    output: Output,
    columns: SinkColumns,
    memoryBytes: number,
    tick: () => void,
  ) {
    const derived = columns.derived!;
    const all = [...columns.kept, ...columns.added];
    const made = new Set([derived.code, derived.cell, derived.admin, derived.status]);
    for (let side = 0; side < 4; side++) made.add(derived.box + side);
    this.#stored = all.flatMap((_, index) => (made.has(index) ? [] : [index]));
    const stored = this.#stored.map((index) => all[index]!);
    this.#values = new ValueRows(stored.map(plainAdder));
    this.#sources = Int32Array.from(stored.keys());
    this.#code = derived.code;
    this.#status = derived.status;
    this.#parquet = new SortedParquet(hexcodes, output, all, derived, this.#stored);
    this.#held = new HeldRows(
      stored.map((column) => plainWidth(elementOf(column))),
      memoryBytes,
    );
    this.#memoryBytes = memoryBytes;
    this.#tick = tick;
  }

  async write({ rowCount, values }: TableRows): Promise<void> {
    const stored = this.#stored.map((index) => values[index] ?? []);
    const records = recordsOf(values[this.#code]!, values[this.#status]!, rowCount);
    let first = 0;
    for (const { text, columns, rowCount: count } of this.#values.windows({ rowCount, values: stored })) {
      for (let row = 0; row < count; row++) {
        this.begin(records, recordAt(first + row), Number.NaN, Number.NaN, 0);
        this.addRanges(this.#sources, text.bytes, columns, row);
      }
      first += count;
    }
    this.spillIfFull();
  }

  /** Begins a row; see PackedRows. */
  begin(records: Uint8Array, record: number, latDeg: number, lngDeg: number, resolution: number): void {
    this.#held.begin();
    this.#held.rows.begin(records, record, latDeg, lngDeg, resolution);
  }

  addRanges(sources: Int32Array, bytes: Uint8Array, ranges: readonly ValueRanges[], row: number): void {
    this.#held.rows.addRanges(sources, bytes, ranges, row);
  }

  spillIfFull(): void {
    if (this.#held.bytes >= this.#memoryBytes) this.#spill();
  }

  async close(): Promise<void> {
    if (!this.#runs.isEmpty) {
      if (this.#held.count > 0) this.#spill();
      // All rows are on the disk: their memory is that of the runs which are merged, now.
      this.#held.release();
    }
    const rows = this.#runs.isEmpty ? this.#held.sorted() : this.#runs.merged();
    const parquet = this.#parquet;
    for (let count = 1; rows.next(); count++) {
      parquet.add(rows.words, rows.bytes, rows.at);
      if (parquet.isFull) await parquet.flush();
      if (count % ROWS_OF_A_TURN === 0) this.#tick();
    }
    await parquet.close();
  }

  /** Removes what was written to the disk. */
  remove(): void {
    this.#runs.remove();
  }

  #spill(): void {
    this.#runs.add(this.#held.sorted(), this.#tick);
    this.#held.clear();
  }
}

/** Codes and statuses as the kernel's records have them. */
function recordsOf(codes: ArrayLike<unknown>, statuses: ArrayLike<unknown>, rowCount: number): Uint8Array {
  const records = Buffer.alloc(RECORD_BYTES * rowCount);
  for (let row = 0; row < rowCount; row++) {
    records.write((codes[row] ?? '') as string, recordAt(row), 'latin1');
    records[recordStatusAt(row)] = STATUS_NUMBERS.get(statuses[row])!;
  }
  return records;
}
