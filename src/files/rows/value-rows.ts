// Rows whose values are known as ranges of bytes, as the writers of rows take them: sources that read value by value,
// and commands that make rows of their own, write through these.

import type { RowBytes, TableRows, TableSink } from '../formats/table.js';
import { addValue, GrowingBytes, type TextRows, type ValueAdder } from './text-rows.js';
import type { RowWriter } from './write-text.js';

/** Rows and values of a window at most, and bytes at which it ends. */
const MAX_ROWS = 4096;
const MAX_VALUES = 1 << 20;
const WINDOW_BYTES = 1 << 20;
/** Rows whose columns are all values have no records. */
const NO_RECORDS = new Uint8Array(0);
const NO_DEGREES = new Float64Array(0);
const NOTHING: ReadonlyMap<number, string> = new Map();

export class ValueRows {
  readonly #adders: readonly (ValueAdder | null)[];
  readonly #columns: readonly { readonly starts: Int32Array; readonly ends: Int32Array }[];
  readonly #maxRows: number;
  readonly #text = new GrowingBytes(1 << 16);

  /** @param adders of the columns, in their order; null for those that nobody reads */
  constructor(adders: readonly (ValueAdder | null)[]) {
    this.#adders = adders;
    this.#maxRows = Math.max(1, Math.min(MAX_ROWS, Math.floor(MAX_VALUES / Math.max(1, adders.length))));
    this.#columns = adders.map((add) => ({
      starts: new Int32Array(add === null ? 0 : this.#maxRows),
      ends: new Int32Array(add === null ? 0 : this.#maxRows),
    }));
  }

  /**
   * Windows of rows; the memory of one is used for the next.
   * @param latLngDeg of the rows, where positions are read
   * @param add adds all values of a row, or none
   * @throws Error for a value that a column does not hold
   */
  *windows(
    { rowCount, values, unread = NOTHING }: Pick<TableRows, 'rowCount' | 'values' | 'unread'>,
    latLngDeg = NO_DEGREES,
    add: RowBytes['add'] = () => false,
  ): Generator<TextRows> {
    const text = this.#text;
    for (let first = 0; first < rowCount; ) {
      text.at = 0;
      const most = Math.min(this.#maxRows, rowCount - first);
      let count = 0;
      for (; count < most && text.at < WINDOW_BYTES; count++)
        if (!add(first + count, text, this.#columns, count)) this.#add(values, first + count, count);
      yield {
        text,
        rowCount: count,
        columns: this.#columns,
        latLngDeg: latLngDeg.subarray(2 * first),
        unread: after(unread, first),
      };
      first += count;
    }
  }

  #add(values: TableRows['values'], from: number, row: number): void {
    const text = this.#text;
    const adders = this.#adders;
    for (let c = 0; c < adders.length; c++) {
      const add = adders[c]!;
      if (add !== null) addValue(text, this.#columns[c]!, row, values[c]?.[from], add);
    }
  }
}

/** Words of rows by their numbers in a window. @param first row of the window */
const after = (words: ReadonlyMap<number, string>, first: number): ReadonlyMap<number, string> =>
  new Map(Array.from(words, ([row, word]) => [row - first, word]));

/** A sink of rows whose columns are all those of a writer that makes none of its own. */
export function valueSink(writer: RowWriter, adders: readonly ValueAdder[]): TableSink {
  const rows = new ValueRows(adders);
  return {
    async write(table) {
      for (const window of rows.windows(table)) await writer.write(window, NO_RECORDS, 'all');
    },
    close: () => writer.close(),
  };
}
