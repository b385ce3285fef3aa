// Sums inside the numbers of a group. Each summed column has four: an integer in two halves, which stays exact, the sum
// of the other numbers, and how many values there were. The first number of a group counts its rows.

import { CliFailure, EXIT } from '../exit-codes.js';

const HALF = 2 ** 32;
/** A low half may grow to this before it is carried, a high half not at all: such a sum is beyond any integer type. */
const MOST = 2 ** 52;

export const NUMBERS_PER_SUM = 4;

/** Numbers that a group with `sums` summed columns has. */
export function widthOf(sums: number): number {
  return 1 + NUMBERS_PER_SUM * sums;
}

/** Adds a value to the sum that begins at a place of `numbers`. */
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

/** How many values a sum has. */
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
