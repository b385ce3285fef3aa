// Sorted rows that memory does not hold: each run of them is a file of blocks, and runs are merged by their keys. When
// there are as many runs of one level as are merged at a time, they become one of the next, so that few files are open
// and few blocks held.

import { deserialize, serialize } from 'node:v8';
import { SpillFolder } from '../disk/spill-folder.js';
import { BATCH_BYTES, BATCH_ROWS, type TableRows, type TableSink } from '../formats/table.js';

// Rows in memory that are to be sorted by a column of texts: how many bytes they take about, and their order.

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
function compareKeys(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return (a as string) < (b as string) ? -1 : 1;
}

class HeldRows {
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

/** Runs that are merged at a time. */
const FAN_IN = 32;
/** Size of a block, as HeldRows counts. */
const BLOCK_BYTES = 256 * 1024;
const BLOCK_ROWS = 4096;
/** Bytes from which blocks of fewer runs are merged: a block has one row at least, however long it is. */
const MERGE_BYTES = 64 * 1024 * 1024;

export class SortedRuns {
  readonly #folder = new SpillFolder('hexcodes-sort', 'rows');
  readonly #keyColumn: number;
  /**
   * Descriptors of the runs of each level, in the order in which their rows came; higher levels came before lower ones.
   */
  readonly #levels: number[][] = [];
  /** Bytes of the largest block of each run. */
  readonly #largest = new Map<number, number>();

  constructor(keyColumn: number) {
    this.#keyColumn = keyColumn;
  }

  get isEmpty(): boolean {
    return this.#levels.length === 0;
  }

  /**
   * Writes rows as a run and forgets them.
   * @param onBlock is called between two blocks
   * @throws CliFailure BAD_OUTPUT
   */
  spill(rows: HeldRows, onBlock: () => void): void {
    this.#add(0, this.#written(rows.sorted(BLOCK_BYTES, BLOCK_ROWS), onBlock), onBlock);
  }

  /** All rows by their keys, those of one key in the order in which they came, in batches of bounded bytes and rows. */
  merged(batchBytes: number, batchRows: number): Generator<TableRows> {
    return this.#mergedOf(this.#levels.toReversed().flat(), batchBytes, batchRows);
  }

  /** Removes the files. */
  remove(): void {
    this.#levels.length = 0;
    this.#folder.remove();
  }

  #add(level: number, run: number, onBlock: () => void): void {
    this.#levels[level] ??= [];
    const runs = this.#levels[level];
    runs.push(run);
    const heldBytes = runs.reduce((sum, each) => sum + (this.#largest.get(each) ?? 0), 0);
    if (runs.length < FAN_IN && (runs.length < 2 || heldBytes < MERGE_BYTES)) return;
    const merged = this.#written(this.#mergedOf(runs, BLOCK_BYTES, BLOCK_ROWS), onBlock);
    for (const each of runs.splice(0)) this.#folder.drop(each);
    this.#add(level + 1, merged, onBlock);
  }

  #written(blocks: Iterable<TableRows>, onBlock: () => void): number {
    const run = this.#folder.create();
    const size = Buffer.alloc(4);
    for (const { values } of blocks) {
      const bytes = serialize(values);
      this.#largest.set(run, Math.max(this.#largest.get(run) ?? 0, bytes.length));
      size.writeUInt32LE(bytes.length);
      this.#folder.write(run, size);
      this.#folder.write(run, bytes);
      onBlock();
    }
    return run;
  }

  *#mergedOf(runs: readonly number[], mostBytes: number, mostRows: number): Generator<TableRows> {
    const readers = runs.map((run, order) => new RunReader(this.#folder, run, order, this.#keyColumn));
    const heap = readers.filter((reader) => !reader.isEnded);
    for (let at = heap.length >> 1; at-- > 0; ) sink(heap, at);
    const held = new HeldRows(this.#keyColumn);
    const row: unknown[][] = [];
    while (heap.length > 0) {
      const least = heap[0]!;
      for (let c = 0; c < least.values.length; c++) row[c] = [least.values[c]![least.row]];
      held.add({ rowCount: 1, values: row });
      least.next();
      if (least.isEnded) {
        const last = heap.pop()!;
        if (heap.length > 0 && last !== least) heap[0] = last;
      }
      if (heap.length > 0) sink(heap, 0);
      if (held.bytes >= mostBytes || held.rowCount === mostRows) yield held.take();
    }
    if (held.rowCount > 0) yield held.take();
  }
}

/** Moves an entry of a heap down to its index: the least one is first. */
function sink(heap: RunReader[], at: number): void {
  const moved = heap[at]!;
  for (;;) {
    let least = 2 * at + 1;
    if (least >= heap.length) break;
    if (least + 1 < heap.length && heap[least + 1]!.compare(heap[least]!) < 0) least++;
    if (moved.compare(heap[least]!) <= 0) break;
    heap[at] = heap[least]!;
    at = least;
  }
  heap[at] = moved;
}

/** A run from its beginning, one block in memory. */
class RunReader {
  /** Rows of the block. */
  values: unknown[][] = [];
  row = -1;
  isEnded = false;
  readonly #folder: SpillFolder;
  readonly #descriptor: number;
  readonly #order: number;
  readonly #keyColumn: number;
  #offset = 0;

  constructor(folder: SpillFolder, descriptor: number, order: number, keyColumn: number) {
    this.#folder = folder;
    this.#descriptor = descriptor;
    this.#order = order;
    this.#keyColumn = keyColumn;
    this.next();
  }

  /** Compares by key, then by the order of the runs. */
  compare(other: RunReader): number {
    return compareKeys(this.#key, other.#key) || this.#order - other.#order;
  }

  next(): void {
    this.row++;
    if (this.row < (this.values[0]?.length ?? 0)) return;
    const size = this.#read(4);
    this.isEnded = size.length === 0;
    this.values = this.isEnded ? [] : (deserialize(this.#read(size.readUInt32LE())) as unknown[][]);
    this.row = 0;
  }

  get #key(): unknown {
    return this.values[this.#keyColumn]![this.row];
  }

  /** The next `length` bytes, or none at the end of the file. */
  #read(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    const done = this.#folder.read(this.#descriptor, bytes, this.#offset);
    this.#offset += done;
    return bytes.subarray(0, done);
  }
}
