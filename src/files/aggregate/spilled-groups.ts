// Groups that memory does not hold: each time the table is full, its groups are written to a file in their order, and
// in the end all files are read side by side, equal keys added up.

import { SpillFolder } from '../disk/spill-folder.js';
import { addNumbers, type GroupKey, type GroupTable } from './group-table.js';

/** A key in a file: three words, one unused, and the time. */
const KEY_BYTES = 24;
const CHUNK_BYTES = 1 << 20;

/** A group, in an object that the next one overwrites. */
export interface Group extends GroupKey {
  readonly numbers: Float64Array;
}

export class SpilledGroups {
  readonly #width: number;
  readonly #chunk: Records;
  readonly #folder = new SpillFolder('hexcodes-aggregate', 'groups');
  readonly #runs: number[] = [];
  #count = 0;

  constructor(width: number) {
    this.#width = width;
    this.#chunk = new Records(width);
  }

  /** Files written so far. */
  get count(): number {
    return this.#count;
  }

  /** Writes all groups of a table to a file and clears the table. @throws CliFailure BAD_OUTPUT */
  spill(table: GroupTable): void {
    const descriptor = this.#folder.create();
    this.#runs.push(descriptor);
    this.#count++;
    const { numbers } = table;
    const key = keyOfNone();
    const chunk = this.#chunk;
    let count = 0;
    const write = (): void => {
      this.#folder.write(descriptor, chunk.bytes.subarray(0, count * chunk.recordBytes));
      count = 0;
    };
    for (const index of table.sorted()) {
      table.readKey(index, key);
      chunk.put(count++, key, numbers, index * this.#width);
      if (count === chunk.capacity) write();
    }
    write();
    table.clear();
  }

  /** All groups of all files, in order, each key once. */
  *groups(): Generator<Group> {
    const readers = this.#runs.map((descriptor) => new RunReader(this.#folder, descriptor, this.#width));
    let open = readers.filter((reader) => reader.next());
    const group = { ...keyOfNone(), numbers: new Float64Array(this.#width) };
    while (open.length > 0) {
      let least = open[0]!;
      for (const reader of open) if (compare(reader.key, least.key) < 0) least = reader;
      Object.assign(group, least.key);
      group.numbers.fill(0);
      let isEnded = false;
      for (const reader of open) {
        if (compare(reader.key, group) !== 0) continue;
        addNumbers(group.numbers, reader.numbers, reader.numbersAt);
        if (!reader.next()) isEnded = true;
      }
      if (isEnded) open = open.filter((reader) => !reader.isEnded);
      yield group;
    }
  }

  /** Removes the files. */
  remove(): void {
    this.#runs.length = 0;
    this.#folder.remove();
  }
}

/** The groups of a table that was never full. */
export function* groupsOf(table: GroupTable, width: number): Generator<Group> {
  const group = { ...keyOfNone(), numbers: new Float64Array(width) };
  for (const index of table.sorted()) {
    table.readKey(index, group);
    group.numbers.set(table.numbers.subarray(index * width, (index + 1) * width));
    yield group;
  }
}

function keyOfNone(): GroupKey {
  return { cellHigh: 0, cellLow: 0, province: 0, timeS: 0 };
}

function compare(a: GroupKey, b: GroupKey): number {
  return a.cellHigh - b.cellHigh || a.cellLow - b.cellLow || a.province - b.province || a.timeS - b.timeS;
}

/** A part of a file in memory. */
class Records {
  readonly recordBytes: number;
  readonly capacity: number;
  readonly bytes: Uint8Array;
  readonly doubles: Float64Array;
  readonly #words: Uint32Array;
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
    this.recordBytes = KEY_BYTES + 8 * width;
    this.capacity = Math.ceil(CHUNK_BYTES / this.recordBytes);
    const buffer = new ArrayBuffer(this.capacity * this.recordBytes);
    this.bytes = new Uint8Array(buffer);
    this.doubles = new Float64Array(buffer);
    this.#words = new Uint32Array(buffer);
  }

  put(index: number, key: GroupKey, numbers: Float64Array, from: number): void {
    const word = (index * this.recordBytes) / 4;
    this.#words[word] = key.cellHigh;
    this.#words[word + 1] = key.cellLow;
    this.#words[word + 2] = key.province;
    const at = this.numbersAt(index);
    this.doubles[at - 1] = key.timeS;
    for (let i = 0; i < this.#width; i++) this.doubles[at + i] = numbers[from + i]!;
  }

  readKey(index: number, key: GroupKey): void {
    const word = (index * this.recordBytes) / 4;
    key.cellHigh = this.#words[word]!;
    key.cellLow = this.#words[word + 1]!;
    key.province = this.#words[word + 2]!;
    key.timeS = this.doubles[this.numbersAt(index) - 1]!;
  }

  numbersAt(index: number): number {
    return (index * this.recordBytes + KEY_BYTES) / 8;
  }
}

class RunReader {
  readonly key = keyOfNone();
  isEnded = false;
  numbersAt = 0;
  readonly #records: Records;
  readonly #folder: SpillFolder;
  readonly #descriptor: number;
  #offset = 0;
  #count = 0;
  #index = -1;

  constructor(folder: SpillFolder, descriptor: number, width: number) {
    this.#folder = folder;
    this.#descriptor = descriptor;
    this.#records = new Records(width);
  }

  get numbers(): Float64Array {
    return this.#records.doubles;
  }

  /** Goes to the next group; false at the end. */
  next(): boolean {
    if (++this.#index >= this.#count && !this.#fill()) {
      this.isEnded = true;
      return false;
    }
    this.#records.readKey(this.#index, this.key);
    this.numbersAt = this.#records.numbersAt(this.#index);
    return true;
  }

  #fill(): boolean {
    const { bytes, recordBytes } = this.#records;
    const filled = this.#folder.read(this.#descriptor, bytes, this.#offset);
    this.#offset += filled;
    this.#count = filled / recordBytes;
    this.#index = 0;
    return filled > 0;
  }
}
