// Sorts indexes by digits of 16 bits of numbers, stably: from the lowest digit to the highest.

const DIGITS = 65_536;

/**
 * Indexes by one digit of their words, equal ones in their order.
 * @param order of the digits below
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
