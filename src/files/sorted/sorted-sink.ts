// A sink that sorts rows by their codes and writes them as Parquet, in bounded memory: rows are packed as they come.

import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import type { Output } from '../disk/output.js';
import { storedBy } from '../formats/parquet/parquet-sink.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import type { SinkColumns, TableRows, TableSink } from '../formats/table.js';
import type { ValueRanges } from '../rows/text-rows.js';
import { type StoredColumn, storedColumn } from './packed-rows.js';
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
    const stored: StoredColumn[] = this.#stored.map((index) =>
      storedColumn(elementOf(all[index]!), storedBy(all[index]!)),
    );
    this.#code = derived.code;
    this.#status = derived.status;
    this.#parquet = new SortedParquet(hexcodes, output, all, derived, this.#stored);
    this.#held = new HeldRows(stored, memoryBytes);
    this.#memoryBytes = memoryBytes;
    this.#tick = tick;
  }

  async write({ rowCount, values }: TableRows): Promise<void> {
    const stored = this.#stored.map((index) => values[index] ?? []);
    const codes = values[this.#code]!;
    const statuses = values[this.#status]!;
    const held = this.#held;
    for (let row = 0; row < rowCount; row++) {
      held.begin();
      held.rows.add((codes[row] ?? null) as string | null, STATUS_NUMBERS.get(statuses[row])!, stored, row);
    }
    this.spillIfFull();
  }

  /** Begins a row that is made of bytes; see PackedRows. */
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
