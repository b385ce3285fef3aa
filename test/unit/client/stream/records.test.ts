// Texts as records of the binary stream: the kernel reads the record as it reads the text, whatever the spelling.
import { expect, test } from 'vitest';
import { decodeRequest } from '#dist/hexcodes/client/stream/frames.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { openWorld } from '../../../support/open-world.js';
import { READING_ROWS } from '../../../support/vectors.js';

const hexcodes = Hexcodes.from(openWorld());
const CODE = 'DDN-6GHP4-83';
const HEADER_BYTES = 16;

/** Texts that decode reads from the text and from the record in different ways. */
function readOtherwise(texts: readonly string[]): string[] {
  const { latLng, resolution, status } = hexcodes.decodeBatch(
    decodeRequest(texts, 0, texts.length).subarray(HEADER_BYTES),
  );
  return texts.filter((text, i) => {
    const read = hexcodes.decode(text);
    if (read === null) return status[i] !== 3;
    return latLng[2 * i] !== read.lat || latLng[2 * i + 1] !== read.lng || resolution[i] !== read.resolution;
  });
}

test('the recorded spellings', () => {
  expect(READING_ROWS.length).toBeGreaterThan(50);
  expect(readOtherwise(READING_ROWS.map(({ text }) => text))).toEqual([]);
});

test('every UTF-16 unit, in place of a letter, between symbols, and in a text that is too long for a record', () => {
  const code = hexcodes.encode(21.0288, 105.8525, 13).hexcodes;
  const ways: ((unit: string) => string)[] = [
    (unit) => unit + code.slice(1),
    (unit) => code.slice(0, 1) + unit + code.slice(1),
    (unit) => code.slice(0, -1) + unit + code.slice(-1),
    (unit) => [...code].join(unit),
    (unit) => ` ${code}${unit}`,
  ];
  let valid = 0;
  for (const way of ways) {
    const texts = Array.from({ length: 0x10000 }, (_, unit) => way(String.fromCharCode(unit)));
    valid += texts.filter((text) => hexcodes.isValid(text)).length;
    expect(readOtherwise(texts)).toEqual([]);
  }
  // Separators and marks of every kind keep the code.
  expect(valid).toBeGreaterThan(200);
});

test('full-width forms, letters with marks and decomposed ones, mixed', () => {
  const wide = [...CODE].map((unit) => String.fromCharCode(unit.charCodeAt(0) + 0xfee0)).join('');
  const texts = [
    wide,
    wide.toLowerCase(),
    CODE.replace('DD', 'Đđ'),
    CODE.replace('N', 'N\u0303\u0301'),
    `${CODE}\u0301`,
  ];
  expect(readOtherwise([...texts, 'é'.repeat(64), 'é'.repeat(65), 'D\u0301'.repeat(20)])).toEqual([]);
});

test('what is no text is a record that is no hexcode', () => {
  const odd = [null, undefined, 7, {}, [], Symbol.iterator, 'HN-6GHP4\u0000-83RFR', ''] as string[];
  const { status } = hexcodes.decodeBatch(decodeRequest(odd, 0, odd.length).subarray(HEADER_BYTES));
  expect([...status]).toEqual(odd.map(() => 3));
});
