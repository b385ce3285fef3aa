// A letter of any kind for `fc.string`, whose own unit `binary` makes a table of all letters first: a second of CPU in
// each process that asks for one.
import fc from 'fast-check';

const FIRST_HALF = 0xd800;
const HALVES = 0x800;

const letterAt = (place: number): string => String.fromCodePoint(place < FIRST_HALF ? place : place + HALVES);

/** @throws for what is no single letter, or half of one */
function placeOf(text: unknown): number {
  const code = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1;
  const place = code < FIRST_HALF ? code : code - HALVES;
  if (code < 0 || letterAt(place) !== text) throw new Error('not a letter');
  return place;
}

/** One that is printed in ASCII as often as any other of Unicode; no half of a surrogate pair. */
export const anyLetter = fc.oneof(
  fc.integer({ min: 0x20, max: 0x7e }).map(letterAt, placeOf),
  fc.nat(0x10ffff - HALVES).map(letterAt, placeOf),
);
