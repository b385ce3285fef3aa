// A writer that sorts rows by their codes and writes them as Parquet, in bounded memory: rows are packed as they come.

import { recordAt } from '../../hexcodes/kernel/output-layout.js';
import { ROWS_OF_A_TURN, SortedRuns } from '../disk/spill-folder.js';
import type { Wanted } from '../driver.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import { plainWidth } from '../formats/parquet/plain-column.js';
import type { SinkColumns } from '../formats/table.js';
import type { Run } from '../request.js';
import type { TextRows } from '../rows/text-rows.js';
import { isWantedRow, type RowWriter, type WrittenColumns } from '../rows/write-text.js';
import { compareKeys, FROM_LAT, FROM_LNG, FROM_RESOLUTION, PackedRows } from './packed-rows.js';
import { SortedParquet } from './sorted-parquet.js';

/** Rows that are packed as they come, and written in the order of their codes. */
export class SortedRowWriter implements RowWriter {
  readonly #parquet: SortedParquet;
  readonly #held: PackedRows;
  readonly #runs = new SortedRuns('hexcodes-sort', 'rows', compareKeys);
  readonly #memoryBytes: number;
  readonly #tick: () => void;

  /**
   * @param columns whose `derived` are made of the codes
   * @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values
   */
  constructor(
    { hexcodes, request, targets, tick }: Run,
    columns: SinkColumns,
    { kept, added, values }: WrittenColumns,
    halves: readonly (0 | 1 | null)[],
  ) {
    const { code, cell, admin, status, box } = columns.derived!;
    const all = [...columns.kept, ...columns.added];
    const made = new Set([code, cell, admin, status, box, box + 1, box + 2, box + 3]);
    const stored = all.flatMap((_, index) => (made.has(index) ? [] : [index]));
    this.#parquet = new SortedParquet(hexcodes, targets.output, all, columns.derived!, stored);
    const sources = [
      ...kept.map(({ index }, c) => (halves[c] === 0 ? FROM_LAT : halves[c] === 1 ? FROM_LNG : index)),
      ...(values.includes('resolution') ? [FROM_RESOLUTION] : []),
      ...added.flatMap(({ index }) => (index < 0 ? [] : [index])),
    ];
    const packed = stored.map((index, c) => ({
      width: plainWidth(elementOf(all[index]!)),
      source: sources[c]!,
    }));
    // More of them are written to the disk.
    this.#memoryBytes = request.sort!.memoryBytes;
    this.#held = new PackedRows(packed, request.resolution, this.#memoryBytes);
    this.#tick = () => tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 });
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    const held = this.#held;
    for (let row = 0; row < rows.rowCount; row++)
      if (isWantedRow(records, row, wanted)) held.add(rows, row, records, recordAt(row));
    if (held.heldBytes >= this.#memoryBytes) this.#spill();
  }

  async close(): Promise<void> {
    if (this.#runs.count > 0) {
      if (this.#held.count > 0) this.#spill();
      // All rows are on disk: the memory now serves the merge of runs.
      this.#held.release();
    }
    const rows = this.#runs.count === 0 ? this.#held.sorted() : this.#runs.merged();
    const parquet = this.#parquet;
    for (let count = 1; rows.next(); count++) {
      parquet.add(rows.words, rows.bytes, rows.at);
      if (parquet.isFull) await parquet.flush();
      if (count % ROWS_OF_A_TURN === 0) this.#tick();
    }
    await parquet.close();
  }

  remove(): void {
    this.#runs.remove();
  }

  #spill(): void {
    this.#runs.add(this.#held.sorted(), this.#tick);
    this.#held.clear();
  }
}
