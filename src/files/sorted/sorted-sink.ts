// A writer that sorts rows by their codes and writes them as Parquet, in bounded memory: rows are packed as they come.

import { recordAt } from '../../hexcodes/kernel/output-layout.js';
import { SpillFolder, sortedByDigit } from '../disk/spill-folder.js';
import type { Wanted } from '../driver.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import { plainWidth } from '../formats/parquet/plain-column.js';
import type { SinkColumns } from '../formats/table.js';
import type { Run } from '../request.js';
import type { TextRows, ValueRanges } from '../rows/text-rows.js';
import { isWantedRow, type RowWriter, type WrittenColumns } from '../rows/write-text.js';
import { FROM_LAT, FROM_LNG, FROM_RESOLUTION, HEAD_WORDS, KEY_WORDS, PackedRows } from './packed-rows.js';
import { SortedParquet } from './sorted-parquet.js';

// Packed rows in the order of their codes: rows in memory by a sort of their offsets, other rows by runs on disk,
// which are merged. When a level has as many runs as are merged at once, they become one run of the next level, so
// that few files are open and few bytes are held.

/** Rows, one at a time: `words` and `bytes` are the same memory, in which a row begins at the word `at`. */
interface RowCursor {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  readonly at: number;
  /** Advances to the next row, also before the first one; false at the end. */
  next(): boolean;
}

const FIRST_BYTES = 1 << 20;
/** Limit beyond which runs go to disk, whatever memory there is: offsets are 32-bit numbers. */
const MAX_BYTES = 2 ** 31;
/** Approximate bytes of the batch that fills the memory. */
const SLACK_BYTES = 8 << 20;
/** Memory for sorting a row: its start, its offset twice, and a word of its code. */
const SORT_BYTES = 16;
/** Number of rows below which they are sorted by comparison. */
const FEW_ROWS = 2048;

/** Compares the codes of two rows. */
function compareKeys(wordsA: Uint32Array, a: number, wordsB: Uint32Array, b: number): number {
  for (let word = 1; word < KEY_WORDS; word++) {
    const difference = wordsA[a + word]! - wordsB[b + word]!;
    if (difference !== 0) return difference;
  }
  // The lowest byte is the status.
  return (wordsA[a + KEY_WORDS]! >>> 8) - (wordsB[b + KEY_WORDS]! >>> 8);
}

/** Rows in memory, in order of arrival. */
class HeldRows {
  readonly rows: PackedRows;
  #starts = new Uint32Array(1024);
  #count = 0;

  /** @param widths see PackedRows @param memoryBytes that they are to take */
  constructor(widths: readonly number[], memoryBytes: number) {
    this.rows = new PackedRows(widths, FIRST_BYTES, Math.min(memoryBytes, MAX_BYTES) + SLACK_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  /** Memory of the rows, and of sorting them. */
  get bytes(): number {
    return 4 * this.rows.end + SORT_BYTES * this.#count;
  }

  /** To be called before each added row. */
  begin(): void {
    if (this.#count === this.#starts.length) {
      const grown = new Uint32Array(2 * this.#count);
      grown.set(this.#starts);
      this.#starts = grown;
    }
    this.#starts[this.#count++] = this.rows.end;
  }

  /** The rows by their codes, those of one code in order of arrival. */
  sorted(): RowCursor {
    const { words, bytes } = this.rows;
    const starts = this.#sortedStarts();
    let row = -1;
    return {
      words,
      bytes,
      get at() {
        return starts[row]!;
      },
      next: () => ++row < starts.length,
    };
  }

  clear(): void {
    this.rows.end = 0;
    this.#count = 0;
  }

  /** Forgets the rows for good. */
  release(): void {
    this.rows.release();
    this.#starts = new Uint32Array(1024);
    this.#count = 0;
  }

  #sortedStarts(): Uint32Array {
    const count = this.#count;
    const starts = this.#starts.subarray(0, count);
    const { words } = this.rows;
    if (count < FEW_ROWS) return starts.slice().sort((a, b) => compareKeys(words, a, words, b) || a - b);
    let order = Uint32Array.from({ length: count }, (_, row) => row);
    const keys = new Uint32Array(count);
    for (let word = KEY_WORDS; word > 0; word--) {
      const isLast = word === KEY_WORDS;
      for (let row = 0; row < count; row++) {
        const key = words[starts[row]! + word]!;
        keys[row] = isLast ? key >>> 8 : key;
      }
      for (const shift of [0, 16]) order = sortedByDigit(order, keys, shift);
    }
    for (let row = 0; row < count; row++) order[row] = starts[order[row]!]!;
    return order;
  }
}

/** Runs that are merged at a time. */
const FAN_IN = 32;
/** Bytes of a run that are in memory while it is merged, if no row is longer. */
const BLOCK_BYTES = 256 * 1024;
const WRITE_BYTES = 1 << 20;
/** Rows between two calls of `onRows`. */
const ROWS_OF_A_TURN = 8192;
/** Bytes of the longest rows beyond which fewer runs are merged. */
const MERGE_BYTES = 64 * 1024 * 1024;

class SortedRuns {
  readonly #folder = new SpillFolder('hexcodes-sort', 'rows');
  /** Descriptors of the runs of each level, in order of arrival; higher levels came before lower ones. */
  readonly #levels: number[][] = [];
  /** Bytes of the longest row of each run. */
  readonly #longest = new Map<number, number>();

  get isEmpty(): boolean {
    return this.#levels.length === 0;
  }

  /**
   * Writes sorted rows as a run.
   * @param onRows is called every few thousand rows
   * @throws CliFailure BAD_OUTPUT
   */
  add(rows: RowCursor, onRows: () => void): void {
    this.#addRun(0, this.#written(rows, onRows), onRows);
  }

  /** All rows by their codes, those of one code in order of arrival. */
  merged(): RowCursor {
    return this.#mergedOf(this.#levels.toReversed().flat());
  }

  /** Removes the files. */
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
    return new Merge(readers.filter((reader) => reader.next()));
  }
}

/** The rows of several runs in their order: a heap whose first run has the least row. */
class Merge implements RowCursor {
  readonly #heap: RunReader[];
  #isBegun = false;

  /** @param readers at their first rows */
  constructor(readers: RunReader[]) {
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
      if (least + 1 < heap.length && heap[least + 1]!.compare(heap[least]!) < 0) least++;
      if (moved.compare(heap[least]!) <= 0) break;
      heap[at] = heap[least]!;
      at = least;
    }
    heap[at] = moved;
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
    private readonly order: number,
  ) {}

  /** Compares by code, then by the order of the runs. */
  compare(other: RunReader): number {
    return compareKeys(this.words, this.at, other.words, other.at) || this.order - other.order;
  }

  next(): boolean {
    this.at = this.#end;
    if (this.at + HEAD_WORDS > this.#filled || this.at + this.words[this.at]! > this.#filled) this.#fill();
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

const NO_RANGES: ValueRanges = { starts: new Int32Array(0), ends: new Int32Array(0) };

/** Rows that are packed as they come, and written in the order of their codes. */
export class SortedRowWriter implements RowWriter {
  readonly #parquet: SortedParquet;
  readonly #held: HeldRows;
  readonly #runs = new SortedRuns();
  readonly #memoryBytes: number;
  readonly #tick: () => void;
  /** Sources of the stored columns. */
  readonly #sources: Int32Array;
  readonly #resolution: number;

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
    // More of them are written to the disk.
    this.#memoryBytes = request.sort!.memoryBytes;
    this.#held = new HeldRows(
      stored.map((index) => plainWidth(elementOf(all[index]!))),
      this.#memoryBytes,
    );
    this.#tick = () => tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 });
    const sources = kept.map(({ index }, c) =>
      halves[c] === 0 ? FROM_LAT : halves[c] === 1 ? FROM_LNG : index,
    );
    const border = added.flatMap(({ index }) => (index < 0 ? [] : [index]));
    const ofAll = values.includes('resolution') ? [FROM_RESOLUTION] : [];
    this.#sources = Int32Array.from([...sources, ...ofAll, ...border]);
    this.#resolution = request.resolution;
  }

  async write(
    { text, rowCount, columns, latLngDeg }: TextRows,
    records: Uint8Array,
    wanted: Wanted,
  ): Promise<void> {
    const held = this.#held;
    const sources = this.#sources;
    const resolution = this.#resolution;
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
      // All rows are on disk: the memory now serves the merge of runs.
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

  /** Removes the temporary files. */
  remove(): void {
    this.#runs.remove();
  }

  #spill(): void {
    this.#runs.add(this.#held.sorted(), this.#tick);
    this.#held.clear();
  }
}
