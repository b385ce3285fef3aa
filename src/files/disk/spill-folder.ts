// Files for rows that memory does not hold, in a folder of their own below TMPDIR, which the run removes when it
// ends, also by Ctrl-C or SIGTERM. SIGKILL and a second Ctrl-C leave it.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliFailure, EXIT, reasonOf } from '../exit-codes.js';

class SpillFolder {
  #folder: string | undefined;
  #made = 0;
  /** Paths by descriptor. */
  readonly #open = new Map<number, string>();

  /**
   * @param name prefix of the folder's name
   * @param what is written, for messages
   */
  constructor(
    private readonly name: string,
    private readonly what: string,
  ) {}

  /**
   * Creates a file.
   * @returns its descriptor, for writing and reading
   * @throws CliFailure BAD_OUTPUT
   */
  create(): number {
    return this.#guarded('write', () => {
      this.#folder ??= mkdtempSync(join(tmpdir(), `${this.name}-`));
      const path = join(this.#folder, `${this.#made++}`);
      const descriptor = openSync(path, 'wx+', 0o600);
      this.#open.set(descriptor, path);
      return descriptor;
    });
  }

  /** Adds bytes to a file. @throws CliFailure BAD_OUTPUT */
  write(descriptor: number, bytes: Uint8Array): void {
    this.#guarded('write', () => {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    });
  }

  /**
   * Fills bytes from an offset of a file on.
   * @returns the number of bytes: fewer at its end
   * @throws CliFailure BAD_OUTPUT
   */
  read(descriptor: number, bytes: Uint8Array, offset: number): number {
    return this.#guarded('read', () => {
      let done = 0;
      while (done < bytes.length) {
        const count = readSync(descriptor, bytes, done, bytes.length - done, offset + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    });
  }

  drop(descriptor: number): void {
    closeSync(descriptor);
    rmSync(this.#open.get(descriptor)!, { force: true });
    this.#open.delete(descriptor);
  }

  remove(): void {
    for (const descriptor of this.#open.keys()) closeSync(descriptor);
    this.#open.clear();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  #guarded<T>(verb: 'write' | 'read', act: () => T): T {
    try {
      return act();
    } catch (error) {
      const where = `${verb === 'write' ? 'to' : 'from'} ${this.#folder ?? tmpdir()}`;
      throw new CliFailure(
        EXIT.BAD_OUTPUT,
        `cannot ${verb} ${this.what} ${where}: ${reasonOf(error)}`,
        `TMPDIR names another folder; --memory leaves more ${this.what} in memory.`,
      );
    }
  }
}

// Packed rows on disk: sorted runs, which are merged. When a level has as many runs as are merged at once, they become
// one run of the next level, so that few files are open and few bytes are held.

/**
 * Rows, one at a time: `words` and `bytes` are the same memory, in which a row begins at the word `at`. The first word
 * of a row is the number of its words.
 */
export interface RowCursor {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  readonly at: number;
  /** Advances to the next row, also before the first one; false at the end. */
  next(): boolean;
}

/** Compares two rows: negative where the first comes before the second. */
type RowOrder = (wordsA: Uint32Array, a: number, wordsB: Uint32Array, b: number) => number;

/** Runs that are merged at a time. */
const FAN_IN = 32;
/** Bytes of a run that are in memory while it is merged, if no row is longer. */
const BLOCK_BYTES = 256 * 1024;
const WRITE_BYTES = 1 << 20;
/** Rows between two calls of `onRows`. */
export const ROWS_OF_A_TURN = 8192;
/** Bytes of the longest rows beyond which fewer runs are merged. */
const MERGE_BYTES = 64 * 1024 * 1024;

export class SortedRuns {
  readonly #folder: SpillFolder;
  /** Descriptors of the runs of each level, in order of arrival; higher levels came before lower ones. */
  readonly #levels: number[][] = [];
  /** Bytes of the longest row of each run. */
  readonly #longest = new Map<number, number>();

  /** Runs added so far. */
  count = 0;

  /**
   * @param what is written, for messages
   * @param compare compares two rows by their keys
   */
  constructor(
    name: string,
    what: string,
    private readonly compare: RowOrder,
  ) {
    this.#folder = new SpillFolder(name, what);
  }

  /**
   * Writes sorted rows as a run.
   * @param onRows is called every few thousand rows
   * @throws CliFailure BAD_OUTPUT
   */
  add(rows: RowCursor, onRows: () => void = () => undefined): void {
    this.count++;
    this.#addRun(0, this.#written(rows, onRows), onRows);
  }

  /** All rows by their keys, those of one key in order of arrival. */
  merged(): RowCursor {
    return this.#mergedOf(this.#levels.toReversed().flat());
  }

  remove(): void {
    this.#levels.length = 0;
    this.#folder.remove();
  }

  #addRun(level: number, run: number, onRows: () => void): void {
    this.#levels[level] ??= [];
    const runs = this.#levels[level];
    runs.push(run);
    const heldBytes = runs.reduce((sum, each) => sum + (this.#longest.get(each) ?? 0), 0);
    if (runs.length < FAN_IN && (runs.length < 2 || heldBytes < MERGE_BYTES)) return;
    const merged = this.#written(this.#mergedOf(runs), onRows);
    for (const each of runs.splice(0)) this.#folder.drop(each);
    this.#addRun(level + 1, merged, onRows);
  }

  #written(rows: RowCursor, onRows: () => void): number {
    const run = this.#folder.create();
    const block = new Uint32Array(WRITE_BYTES / 4);
    let filled = 0;
    let longest = 0;
    const write = (words: Uint32Array): void =>
      this.#folder.write(run, new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
    for (let count = 1; rows.next(); count++) {
      const { words, at } = rows;
      const size = words[at]!;
      if (size > longest) longest = size;
      if (filled + size > block.length) {
        write(block.subarray(0, filled));
        filled = 0;
      }
      if (size > block.length) write(words.subarray(at, at + size));
      else {
        for (let i = 0; i < size; i++) block[filled + i] = words[at + i]!;
        filled += size;
      }
      if (count % ROWS_OF_A_TURN === 0) onRows();
    }
    write(block.subarray(0, filled));
    this.#longest.set(run, 4 * longest);
    onRows();
    return run;
  }

  #mergedOf(runs: readonly number[]): RowCursor {
    const readers = runs.map((run, order) => new RunReader(this.#folder, run, order));
    return new Merge(
      readers.filter((reader) => reader.next()),
      this.compare,
    );
  }
}

/** The rows of several runs in their order: a heap whose first run has the least row. */
class Merge implements RowCursor {
  readonly #heap: RunReader[];
  #isBegun = false;

  /** @param readers at their first rows */
  constructor(
    readers: RunReader[],
    private readonly compare: RowOrder,
  ) {
    this.#heap = readers;
    for (let at = readers.length >> 1; at-- > 0; ) this.#sink(at);
  }

  get words(): Uint32Array {
    return this.#heap[0]!.words;
  }

  get bytes(): Uint8Array {
    return this.#heap[0]!.bytes;
  }

  get at(): number {
    return this.#heap[0]!.at;
  }

  next(): boolean {
    const heap = this.#heap;
    if (this.#isBegun && heap.length > 0) {
      if (!heap[0]!.next()) {
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
      }
      if (heap.length > 1) this.#sink(0);
    }
    this.#isBegun = true;
    return heap.length > 0;
  }

  /** Moves an entry of the heap down to its place. */
  #sink(from: number): void {
    const heap = this.#heap;
    const moved = heap[from]!;
    let at = from;
    for (;;) {
      let least = 2 * at + 1;
      if (least >= heap.length) break;
      if (least + 1 < heap.length && this.#isBefore(heap[least + 1]!, heap[least]!)) least++;
      if (!this.#isBefore(heap[least]!, moved)) break;
      heap[at] = heap[least]!;
      at = least;
    }
    heap[at] = moved;
  }

  /** Compares by keys, then by the order of the runs. */
  #isBefore(one: RunReader, other: RunReader): boolean {
    const difference = this.compare(one.words, one.at, other.words, other.at);
    return difference < 0 || (difference === 0 && one.order < other.order);
  }
}

/** A run from its beginning, a block of it in memory. */
class RunReader implements RowCursor {
  words = new Uint32Array(BLOCK_BYTES / 4);
  bytes = new Uint8Array(this.words.buffer);
  at = 0;
  /** Words of the block that have been read, and the offset after its row. */
  #filled = 0;
  #end = 0;
  #offset = 0;

  constructor(
    private readonly folder: SpillFolder,
    private readonly descriptor: number,
    readonly order: number,
  ) {}

  next(): boolean {
    this.at = this.#end;
    if (this.at >= this.#filled || this.at + this.words[this.at]! > this.#filled) this.#fill();
    if (this.at >= this.#filled) return false;
    this.#end = this.at + this.words[this.at]!;
    return true;
  }

  /** Moves the rest of the block to its beginning, and reads at least the next row after it. */
  #fill(): void {
    const rest = this.words.subarray(this.at, this.#filled);
    const size = rest.length > 0 ? rest[0]! : 0;
    if (size > this.words.length) {
      const grown = new Uint32Array(2 * size);
      grown.set(rest);
      this.words = grown;
      this.bytes = new Uint8Array(grown.buffer);
    } else this.words.set(rest);
    this.at = 0;
    this.#filled = rest.length;
    const read = this.folder.read(this.descriptor, this.bytes.subarray(4 * rest.length), this.#offset);
    this.#offset += read;
    this.#filled += read >> 2;
    // The length of a row that exceeds a block is known only now.
    if (this.#filled > 0 && this.words[0]! > this.#filled && read > 0) this.#fill();
  }
}

// A stable radix sort of indexes by numbers, with digits of 16 bits, from the lowest to the highest.

const DIGITS = 65_536;

/**
 * Sorts indexes by one digit of their words, stably.
 * @param order by the lower digits
 * @param shift 0 or 16
 * @returns `order` itself where all digits are equal
 */
export function sortedByDigit(
  order: Uint32Array<ArrayBuffer>,
  words: Uint32Array,
  shift: number,
): Uint32Array<ArrayBuffer> {
  const counts = new Uint32Array(DIGITS);
  for (let i = 0; i < order.length; i++) counts[(words[order[i]!]! >>> shift) & 0xffff]!++;
  let sum = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit]!;
    if (count === order.length) return order;
    counts[digit] = sum;
    sum += count;
  }
  const sorted = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const index = order[i]!;
    sorted[counts[(words[index]! >>> shift) & 0xffff]!++] = index;
  }
  return sorted;
}
