// Rows of bytes into a sorting sink: values are packed as they lie in the window.

import { RECORD_BYTES } from '../../hexcodes/kernel/output-layout.js';
import type { Wanted } from '../driver.js';
import type { SinkColumns } from '../formats/table.js';
import type { Run } from '../request.js';
import type { TextRows, ValueRanges } from '../rows/text-rows.js';
import { isWantedRow, type RowWriter, type WrittenColumns } from '../rows/write-text.js';
import { FROM_LAT, FROM_LNG, FROM_RESOLUTION } from './packed-rows.js';
import { SortedSink } from './sorted-sink.js';

const NO_RANGES: ValueRanges = { starts: new Int32Array(0), ends: new Int32Array(0) };

export class SortedRowWriter implements RowWriter {
  readonly #sink: SortedSink;
  readonly #sources: Int32Array;
  readonly #resolution: number;

  /** @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values */
  constructor(
    { hexcodes, request, targets, tick }: Run,
    columns: SinkColumns,
    { kept, added }: WrittenColumns,
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
    this.#sources = Int32Array.from([...sources, FROM_RESOLUTION, ...border]);
    this.#resolution = request.resolution;
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    const { rowCount, latLngDeg, text, columns } = rows;
    const ranges = Array.from(this.#sources, (source) => columns[source] ?? NO_RANGES);
    for (let row = 0; row < rowCount; row++) {
      if (!isWantedRow(records, row, wanted)) continue;
      const [lat, lng] = [latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!];
      this.#sink.begin(records, RECORD_BYTES * row, lat, lng, this.#resolution);
      this.#sink.addRanges(this.#sources, text.bytes, ranges, row);
    }
    this.#sink.spillIfFull();
  }

  async close(): Promise<void> {
    await this.#sink.close();
  }

  remove(): void {
    this.#sink.remove();
  }
}
