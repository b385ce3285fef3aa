// Rows in memory that are to be sorted by a column of texts: how many bytes they take about, and their order.

import type { TableRows } from '../formats/table.js';

/** Bytes of an array's entry, and of a string's or bigint's header. */
const POINTER_BYTES = 8;
const HEADER_BYTES = 24;

/** Bytes that a value takes in memory, rather more than less. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return POINTER_BYTES + HEADER_BYTES + 2 * value.length;
  if (value instanceof Uint8Array) return POINTER_BYTES + 4 * HEADER_BYTES + value.length;
  return typeof value === 'bigint' ? POINTER_BYTES + HEADER_BYTES : 2 * POINTER_BYTES;
}

/** Compares by UTF-16 units, which is the order of bytes for ASCII; null comes last. */
export function compareKeys(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return (a as string) < (b as string) ? -1 : 1;
}

export class HeldRows {
  #values: unknown[][] = [];
  #sizes: number[] = [];
  #bytes = 0;
  readonly #keyColumn: number;

  constructor(keyColumn: number) {
    this.#keyColumn = keyColumn;
  }

  get rowCount(): number {
    return this.#sizes.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add({ rowCount, values }: TableRows): void {
    if (this.#values.length === 0) this.#values = values.map(() => []);
    for (let row = 0; row < rowCount; row++) {
      let size = 2 * POINTER_BYTES;
      for (let c = 0; c < values.length; c++) {
        const value = values[c]![row] ?? null;
        size += sizeOf(value);
        this.#values[c]!.push(value);
      }
      this.#sizes.push(size);
      this.#bytes += size;
    }
  }

  /** The rows in the order in which they came, and forgets them. */
  take(): TableRows {
    const rows = { rowCount: this.rowCount, values: this.#values };
    this.#values = [];
    this.#sizes = [];
    this.#bytes = 0;
    return rows;
  }

  /**
   * The rows by their keys, those of one key in the order in which they came, and forgets them.
   * @param blockBytes a batch takes about, at least one row
   * @param blockRows of a batch at most
   */
  *sorted(blockBytes: number, blockRows: number): Generator<TableRows> {
    const sizes = this.#sizes;
    const { values } = this.take();
    const keys = values[this.#keyColumn] ?? [];
    const order = Uint32Array.from({ length: keys.length }, (_, row) => row);
    order.sort((a, b) => compareKeys(keys[a], keys[b]) || a - b);
    for (let from = 0; from < order.length; ) {
      let to = from;
      for (let bytes = 0; to < order.length && to - from < blockRows; to++) {
        bytes += sizes[order[to]!]!;
        if (bytes > blockBytes && to > from) break;
      }
      const rows = order.subarray(from, to);
      yield {
        rowCount: rows.length,
        values: values.map((column) => Array.from(rows, (row) => column[row])),
      };
      from = to;
    }
  }
}
