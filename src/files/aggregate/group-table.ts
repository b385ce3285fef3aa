// Groups in memory: a hash table over typed arrays, from a key of cell, province and time to numbers. The caller
// spills the groups to disk when it is full. Sorted groups are visited by cell, province, time.

import { SortedRuns, sortedByDigit } from '../disk/spill-folder.js';
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

/** Added to times, which then sort as two unsigned words. */
const MOVED = 2 ** 40;

/** @param half 0 for the low word, 1 for the high one */
function timeWord(timeS: number, half: 0 | 1): number {
  const moved = timeS + MOVED;
  return half === 0 ? moved >>> 0 : Math.floor(moved / HALF);
}

const timeOf = (high: number, low: number): number => high * HALF + low - MOVED;

function grown<T extends Uint8Array | Uint32Array | Float64Array>(old: T, larger: T, count: number): T {
  larger.set(old.subarray(0, count));
  return larger;
}

/** A group, in an object that the next one overwrites. */
export interface Group extends GroupKey {
  readonly numbers: Float64Array;
}

// Groups that memory does not hold: each time the table is full, its groups are written to a file in order, and in
// the end all files are merged, adding up equal keys. A group in words of 32 bits, from its first one:
//
//    0      how many words it has
//    1 - 5  halves of the cell, province, halves of the time, the upper first
//    6 - …  numbers, two words each

const KEY_WORDS = 5;
const HEAD_WORDS = 1 + KEY_WORDS;

function compareKeys(wordsA: Uint32Array, a: number, wordsB: Uint32Array, b: number): number {
  for (let word = 1; word <= KEY_WORDS; word++) {
    const difference = wordsA[a + word]! - wordsB[b + word]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

export class SpilledGroups {
  readonly #runs = new SortedRuns('hexcodes-aggregate', 'groups', compareKeys);
  /** One packed group. */
  readonly #words: Uint32Array;
  readonly #doubles: Float64Array;

  constructor(private readonly width: number) {
    this.#words = new Uint32Array(HEAD_WORDS + 2 * width);
    this.#doubles = new Float64Array(this.#words.buffer);
  }

  /** Files written so far. */
  get count(): number {
    return this.#runs.count;
  }

  /** Writes all groups of a table to a file and clears the table. @throws CliFailure BAD_OUTPUT */
  spill(table: GroupTable): void {
    const words = this.#words;
    const groups = groupsOf(table, this.width);
    const next = (): boolean => {
      const { done, value } = groups.next();
      if (done === true) return false;
      const { cellHigh, cellLow, province, timeS, numbers } = value;
      words.set([words.length, cellHigh, cellLow, province, timeWord(timeS, 1), timeWord(timeS, 0)]);
      this.#doubles.set(numbers, HEAD_WORDS / 2);
      return true;
    };
    this.#runs.add({ words, bytes: new Uint8Array(words.buffer), at: 0, next });
    table.clear();
  }

  /** All groups of all files, in order, each key once. */
  *groups(): Generator<Group> {
    const words = this.#words;
    const group = groupOfNone(this.width);
    const rows = this.#runs.merged();
    for (let isLeft = rows.next(); isLeft; ) {
      group.numbers.fill(0);
      do {
        for (let i = 0; i < words.length; i++) words[i] = rows.words[rows.at + i]!;
        addNumbers(group.numbers, this.#doubles, HEAD_WORDS / 2);
        isLeft = rows.next();
      } while (isLeft && compareKeys(words, 0, rows.words, rows.at) === 0);
      group.cellHigh = words[1]!;
      group.cellLow = words[2]!;
      group.province = words[3]!;
      group.timeS = timeOf(words[4]!, words[5]!);
      yield group;
    }
  }

  remove(): void {
    this.#runs.remove();
  }
}

/** The groups of a table that was never full. */
export function* groupsOf(table: GroupTable, width: number): Generator<Group> {
  const group = groupOfNone(width);
  for (const index of table.sorted()) {
    table.readKey(index, group);
    group.numbers.set(table.numbers.subarray(index * width, (index + 1) * width));
    yield group;
  }
}

function groupOfNone(width: number): Group {
  return { cellHigh: 0, cellLow: 0, province: 0, timeS: 0, numbers: new Float64Array(width) };
}
