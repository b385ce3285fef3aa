// Sorted rows that memory does not hold: each run of them is a file of blocks, and runs are merged by their keys. When
// there are as many runs of one level as are merged at a time, they become one of the next, so that few files are open
// and few blocks held.

import { deserialize, serialize } from 'node:v8';
import { SpillFolder } from '../disk/spill-folder.js';
import type { TableRows } from '../formats/table.js';
import { compareKeys, HeldRows } from './held-rows.js';

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
