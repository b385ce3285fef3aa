// A sink before another: takes rows in any order and hands them on sorted, in bounded memory.

import type { TableRows, TableSink } from '../formats/table.js';
import { BATCH_BYTES, BATCH_ROWS } from '../formats/table.js';
import { HeldRows } from './held-rows.js';
import { SortedRuns } from './sorted-runs.js';

export class SortedSink implements TableSink {
  readonly #inner: TableSink;
  readonly #held: HeldRows;
  readonly #runs: SortedRuns;
  readonly #memoryBytes: number;
  readonly #tick: () => void;

  /**
   * @param keyColumn whose texts sort the rows, missing ones last
   * @param memoryBytes of rows; more of them are written to the disk
   * @param tick is called between two blocks of rows, and may throw
   */
  constructor(inner: TableSink, keyColumn: number, memoryBytes: number, tick: () => void) {
    this.#inner = inner;
    this.#held = new HeldRows(keyColumn);
    this.#runs = new SortedRuns(keyColumn);
    this.#memoryBytes = memoryBytes;
    this.#tick = tick;
  }

  async write(rows: TableRows): Promise<void> {
    this.#held.add(rows);
    if (this.#held.bytes >= this.#memoryBytes) this.#runs.spill(this.#held, this.#tick);
  }

  async close(): Promise<void> {
    if (!this.#runs.isEmpty && this.#held.rowCount > 0) this.#runs.spill(this.#held, this.#tick);
    const sorted = this.#runs.isEmpty
      ? this.#held.sorted(BATCH_BYTES, BATCH_ROWS)
      : this.#runs.merged(BATCH_BYTES, BATCH_ROWS);
    for (const rows of sorted) {
      await this.#inner.write(rows);
      this.#tick();
    }
    await this.#inner.close();
  }

  /** Removes what was written to the disk. */
  remove(): void {
    this.#runs.remove();
  }
}
