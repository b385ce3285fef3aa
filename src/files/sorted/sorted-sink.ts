// A sink that sorts rows by their codes and writes them as Parquet, in bounded memory: rows are packed as they come.

import { RECORD_BYTES, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import type { Output } from '../disk/output.js';
import type { Wanted } from '../driver.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import { plainWidth } from '../formats/parquet/plain-column.js';
import type { SinkColumns, TableRows, TableSink } from '../formats/table.js';
import type { Run } from '../request.js';
import { plainAdder, ValueRows } from '../rows/plain-values.js';
import type { TextRows, ValueRanges } from '../rows/text-rows.js';
import { isWantedRow, type RowWriter, type WrittenColumns } from '../rows/write-text.js';
import { FROM_LAT, FROM_LNG, FROM_RESOLUTION } from './packed-rows.js';
import { SortedParquet } from './sorted-parquet.js';
import { HeldRows, SortedRuns } from './sorted-runs.js';

/** Rows between two calls of the run's tick. */
const ROWS_OF_A_TURN = 8192;
const NO_RANGES: ValueRanges = { starts: new Int32Array(0), ends: new Int32Array(0) };
const STATUS_NUMBERS = new Map<unknown, number>(ROW_STATUSES.map((word, status) => [word, status]));

export class SortedSink implements TableSink {
  readonly #parquet: SortedParquet;
  readonly #held: HeldRows;
  readonly #runs = new SortedRuns();
  readonly #memoryBytes: number;
  readonly #tick: () => void;
  /** Indexes of the stored columns among all, of the codes and of the status. */
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
    for (const window of this.#values.windows({ rowCount, values: stored })) {
      this.add(window, records.subarray(recordAt(first)), 'all', this.#sources, 0);
      first += window.rowCount;
    }
  }

  /** Adds wanted rows of a window. @param sources of the stored columns @param resolution of all rows */
  add(
    { text, rowCount, columns, latLngDeg }: TextRows,
    records: Uint8Array,
    wanted: Wanted,
    sources: Int32Array,
    resolution: number,
  ): void {
    const held = this.#held;
    const ranges = Array.from(sources, (source) => columns[source] ?? NO_RANGES);
    for (let row = 0; row < rowCount; row++) {
      if (!isWantedRow(records, row, wanted)) continue;
      held.begin();
      held.rows.begin(records, recordAt(row), latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!, resolution);
      held.rows.addRanges(sources, text.bytes, ranges, row);
    }
    if (held.bytes >= this.#memoryBytes) this.#spill();
  }

  async close(): Promise<void> {
    if (!this.#runs.isEmpty) {
      if (this.#held.count > 0) this.#spill();
      // All rows are on the disk: from now on the memory serves the merge of runs.
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

/** Rows of bytes into a sorting sink. */
export class SortedRowWriter implements RowWriter {
  readonly #sink: SortedSink;
  readonly #sources: Int32Array;
  readonly #resolution: number;

  /** @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values */
  constructor(
    { hexcodes, request, targets, tick }: Run,
    columns: SinkColumns,
    { kept, added, values }: WrittenColumns,
    halves: readonly (0 | 1 | null)[],
  ) {
    const memoryBytes = request.sort!.memoryBytes;
    this.#sink = new SortedSink(hexcodes, targets.output, columns, memoryBytes, () =>
      tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 }),
    );
    const sources = kept.map(({ index }, c) =>
      halves[c] === 0 ? FROM_LAT : halves[c] === 1 ? FROM_LNG : index,
    );
    const border = added.flatMap(({ index }) => (index < 0 ? [] : [index]));
    const ofAll = values.includes('resolution') ? [FROM_RESOLUTION] : [];
    this.#sources = Int32Array.from([...sources, ...ofAll, ...border]);
    this.#resolution = request.resolution;
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    this.#sink.add(rows, records, wanted, this.#sources, this.#resolution);
  }

  async close(): Promise<void> {
    await this.#sink.close();
  }

  remove(): void {
    this.#sink.remove();
  }
}
