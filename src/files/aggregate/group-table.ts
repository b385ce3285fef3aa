// Groups in memory: a hash table over typed arrays, from a key of cell, province and time to numbers. The caller
// spills the groups to disk when it is full. Sorted groups are visited by cell, province, time.

import { SpillFolder, sortedByDigit } from '../disk/spill-folder.js';
import { CliFailure, EXIT } from '../exit-codes.js';

// Sums among the numbers of a group. Each summed column has four: an integer in two halves, which stays exact, the
// sum of the other numbers, and the number of values. The first number of a group counts its rows.
const HALF = 2 ** 32;
/** A low half may grow to this before it is carried, a high half not at all: such a sum is beyond any integer type. */
const MOST = 2 ** 52;

export const NUMBERS_PER_SUM = 4;

/** Number of numbers of a group with `sums` summed columns. */
export function widthOf(sums: number): number {
  return 1 + NUMBERS_PER_SUM * sums;
}

/** Adds a value to the sum that begins at an index of `numbers`. */
export function addValue(numbers: Float64Array, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    addHalves(numbers, at, Number(value >> 32n), Number(BigInt.asUintN(32, value)));
  } else if (Number.isSafeInteger(value)) {
    const high = Math.floor(value / HALF);
    addHalves(numbers, at, high, value - high * HALF);
  } else {
    numbers[at + 2]! += value;
  }
  numbers[at + 3]! += 1;
}

/** Adds the numbers of one group to those of another. */
export function addNumbers(to: Float64Array, from: Float64Array, fromAt: number): void {
  to[0]! += from[fromAt]!;
  for (let at = 1; at < to.length; at += NUMBERS_PER_SUM) {
    addHalves(to, at, from[fromAt + at]!, from[fromAt + at + 1]!);
    to[at + 2]! += from[fromAt + at + 2]!;
    to[at + 3]! += from[fromAt + at + 3]!;
  }
}

function addHalves(numbers: Float64Array, at: number, high: number, low: number): void {
  let sumHigh = numbers[at]! + high;
  let sumLow = numbers[at + 1]! + low;
  if (sumLow >= MOST) {
    const carried = Math.floor(sumLow / HALF);
    sumHigh += carried;
    sumLow -= carried * HALF;
  }
  if (Math.abs(sumHigh) >= MOST) throw tooLarge();
  numbers[at] = sumHigh;
  numbers[at + 1] = sumLow;
}

/** The number of values of a sum. */
export function valueCountAt(numbers: Float64Array, at: number): number {
  return numbers[at + 3]!;
}

/** A sum of integers. @throws CliFailure BAD_INPUT for one that 64 bits do not hold */
export function integerSumAt(numbers: Float64Array, at: number): bigint {
  const sum = BigInt(numbers[at]!) * BigInt(HALF) + BigInt(numbers[at + 1]!);
  if (BigInt.asIntN(64, sum) !== sum) throw tooLarge();
  return sum;
}

/** A sum as a double: of integers the nearest to the exact one. */
export function doubleSumAt(numbers: Float64Array, at: number): number {
  const whole = BigInt(numbers[at]!) * BigInt(HALF) + BigInt(numbers[at + 1]!);
  return Number(whole) + numbers[at + 2]!;
}

function tooLarge(): CliFailure {
  return new CliFailure(EXIT.BAD_INPUT, 'a sum of integers is beyond 64 bits');
}

/** Key of a group. Parts that are not used for grouping are 0. */
interface GroupKey {
  /** Halves of the H3 index, unsigned. */
  cellHigh: number;
  cellLow: number;
  /** Rank of the province among the sorted codes. */
  province: number;
  /** Seconds since 1970. */
  timeS: number;
}

const FIRST_GROUPS = 1024;
/** Keys, and two entries of the hash table; two more numbers a group while they are sorted. */
const KEY_BYTES = 17 + 8 + 8;
/** While a table doubles, the old and the new one are in memory. */
const GROWTH = 1.5;

export class GroupTable {
  readonly #width: number;
  readonly #maxGroups: number;
  #capacity = 0;
  #size = 0;
  /** Index of a group + 1; 0 where there is none. */
  #hash = new Int32Array(0);
  #cellHigh = new Uint32Array(0);
  #cellLow = new Uint32Array(0);
  #province = new Uint8Array(0);
  #timeS = new Float64Array(0);
  #numbers = new Float64Array(0);

  /**
   * @param width numbers of a group
   * @param limitBytes memory of all groups
   */
  constructor(width: number, limitBytes: number) {
    this.#width = width;
    this.#maxGroups = Math.max(FIRST_GROUPS, Math.floor(limitBytes / GROWTH / (KEY_BYTES + 8 * width)));
    this.#resize(FIRST_GROUPS);
  }

  get size(): number {
    return this.#size;
  }

  /** The numbers of all groups, `width` each; to be fetched again after `indexOf`. */
  get numbers(): Float64Array {
    return this.#numbers;
  }

  /** The group of a key, created with zeros if it is new; -1 if it is new and the table is full. */
  indexOf(cellHigh: number, cellLow: number, province: number, timeS: number): number {
    let at = this.#firstOf(cellHigh, cellLow, province, timeS);
    for (;;) {
      const index = this.#hash[at]! - 1;
      if (index < 0) break;
      if (
        this.#cellLow[index] === cellLow &&
        this.#cellHigh[index] === cellHigh &&
        this.#province[index] === province &&
        this.#timeS[index] === timeS
      )
        return index;
      at = at + 1 === this.#hash.length ? 0 : at + 1;
    }
    if (this.#size === this.#capacity) {
      if (this.#capacity >= this.#maxGroups) return -1;
      this.#resize(Math.min(this.#maxGroups, 2 * this.#capacity));
      return this.indexOf(cellHigh, cellLow, province, timeS);
    }
    const index = this.#size++;
    this.#cellHigh[index] = cellHigh;
    this.#cellLow[index] = cellLow;
    this.#province[index] = province;
    this.#timeS[index] = timeS;
    this.#hash[at] = index + 1;
    return index;
  }

  /** Fills a key with that of a group. */
  readKey(index: number, key: GroupKey): void {
    key.cellHigh = this.#cellHigh[index]!;
    key.cellLow = this.#cellLow[index]!;
    key.province = this.#province[index]!;
    key.timeS = this.#timeS[index]!;
  }

  /** The indexes of all groups, by cell, province, time. */
  sorted(): Uint32Array {
    const words = [
      this.#wordsOf((index) => timeWord(this.#timeS[index]!, 0)),
      this.#wordsOf((index) => timeWord(this.#timeS[index]!, 1)),
      this.#wordsOf((index) => this.#province[index]!),
      this.#cellLow,
      this.#cellHigh,
    ];
    let order = Uint32Array.from({ length: this.#size }, (_, index) => index);
    for (const word of words) {
      if (word === null) continue;
      for (const shift of [0, 16]) order = sortedByDigit(order, word, shift);
    }
    return order;
  }

  /** Removes all groups; the memory is kept. */
  clear(): void {
    this.#hash.fill(0);
    this.#numbers.fill(0, 0, this.#size * this.#width);
    this.#size = 0;
  }

  /** One word of each group; null if all are equal, as for a part that is not used for grouping. */
  #wordsOf(word: (index: number) => number): Uint32Array | null {
    const first = word(0);
    let index = 1;
    while (index < this.#size && word(index) === first) index++;
    return index >= this.#size ? null : Uint32Array.from({ length: this.#size }, (_, at) => word(at));
  }

  #firstOf(cellHigh: number, cellLow: number, province: number, timeS: number): number {
    let hash = Math.imul(cellLow, 0x9e3779b1) ^ Math.imul(cellHigh, 0x85ebca6b);
    hash ^= Math.imul(province + 1, 0xc2b2ae35) ^ Math.imul(timeS | 0, 0x27d4eb2f);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash = Math.imul(hash ^ (hash >>> 13), 0x297a2d39);
    hash ^= hash >>> 16;
    // A multiplication costs less than a remainder.
    return Math.floor((hash >>> 0) * 2 ** -32 * this.#hash.length);
  }

  #resize(capacity: number): void {
    const size = this.#size;
    this.#capacity = capacity;
    this.#cellHigh = grown(this.#cellHigh, new Uint32Array(capacity), size);
    this.#cellLow = grown(this.#cellLow, new Uint32Array(capacity), size);
    this.#province = grown(this.#province, new Uint8Array(capacity), size);
    this.#timeS = grown(this.#timeS, new Float64Array(capacity), size);
    this.#numbers = grown(this.#numbers, new Float64Array(capacity * this.#width), size * this.#width);
    this.#hash = new Int32Array(2 * capacity);
    for (let index = 0; index < size; index++) {
      let at = this.#firstOf(
        this.#cellHigh[index]!,
        this.#cellLow[index]!,
        this.#province[index]!,
        this.#timeS[index]!,
      );
      while (this.#hash[at] !== 0) at = at + 1 === this.#hash.length ? 0 : at + 1;
      this.#hash[at] = index + 1;
    }
  }
}

/** Negative before 0 when it sorts as two unsigned words: 0 the low one, 1 the high one. */
function timeWord(timeS: number, half: 0 | 1): number {
  const moved = timeS + 2 ** 40;
  return half === 0 ? moved >>> 0 : Math.floor(moved / 2 ** 32);
}

function grown<T extends Uint8Array | Uint32Array | Float64Array>(old: T, larger: T, count: number): T {
  larger.set(old.subarray(0, count));
  return larger;
}

// Groups that memory does not hold: each time the table is full, its groups are written to a file in order, and in
// the end all files are merged, adding up equal keys.

/** A key in a file: three words, one unused, and the time. */
const RECORD_KEY_BYTES = 24;
const CHUNK_BYTES = 1 << 20;

/** A group, in an object that the next one overwrites. */
export interface Group extends GroupKey {
  readonly numbers: Float64Array;
}

export class SpilledGroups {
  readonly #chunk: Records;
  readonly #folder = new SpillFolder('hexcodes-aggregate', 'groups');
  readonly #runs: number[] = [];
  #count = 0;

  constructor(private readonly width: number) {
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
      chunk.put(count++, key, numbers, index * this.width);
      if (count === chunk.capacity) write();
    }
    write();
    table.clear();
  }

  /** All groups of all files, in order, each key once. */
  *groups(): Generator<Group> {
    const readers = this.#runs.map((descriptor) => new RunReader(this.#folder, descriptor, this.width));
    let open = readers.filter((reader) => reader.next());
    const group = { ...keyOfNone(), numbers: new Float64Array(this.width) };
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

  constructor(private readonly width: number) {
    this.recordBytes = RECORD_KEY_BYTES + 8 * width;
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
    for (let i = 0; i < this.width; i++) this.doubles[at + i] = numbers[from + i]!;
  }

  readKey(index: number, key: GroupKey): void {
    const word = (index * this.recordBytes) / 4;
    key.cellHigh = this.#words[word]!;
    key.cellLow = this.#words[word + 1]!;
    key.province = this.#words[word + 2]!;
    key.timeS = this.doubles[this.numbersAt(index) - 1]!;
  }

  numbersAt(index: number): number {
    return (index * this.recordBytes + RECORD_KEY_BYTES) / 8;
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
