// Damaged GeoPackages: each gives rows or an error that says what is wrong, and ends.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { geoPackageAsCsv } from '#dist/tables/geopackage/geopackage.js';
import { broughtFile } from '../../support/brought-files.js';

const FILES = ['shops.gpkg', 'gdal-areas.gpkg', 'gdal-two-layers.gpkg'].map(broughtFile);
/** Memory that rows may take, as the command's ceiling ends them. */
const MAX_HELD = 64 * 2 ** 20;

class TooMuch extends Error {}

/** Bytes of the rows, or the words of the refusal. */
function answerTo(content: Uint8Array): number | string {
  let held = 0;
  const hold = (bytes: number): void => {
    held += bytes;
    if (held > MAX_HELD) throw new TooMuch();
  };
  try {
    let size = 0;
    for (const part of geoPackageAsCsv(content, null, 'each', hold)) size += part.length;
    return size;
  } catch (error) {
    if ((error as Error).name === 'TableError') return (error as Error).message;
    if (error instanceof TooMuch) return 'too much';
    throw error;
  }
}

const file = fc.constantFrom(...FILES);
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
/** The most hostile of bytes more often than others. */
const byte = fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.integer({ min: 0, max: 255 }));
/** Heads of pages and of the file are hit as often as all the rest. */
const offset = fc
  .tuple(place, fc.boolean(), fc.integer({ min: 0, max: 40 }))
  .map(([where, isHead, inHead]) => (size: number): number => {
    const at = Math.floor(where * size);
    return isHead ? Math.min(size - 1, at - (at % 512) + inHead) : at;
  });

test('bytes that are others', () => {
  fc.assert(
    fc.property(file, fc.array(fc.tuple(offset, byte), { minLength: 1, maxLength: 12 }), (whole, changes) => {
      const bytes = Uint8Array.from(whole);
      for (const [at, value] of changes) bytes[at(bytes.length)] = value;
      expect(answerTo(bytes)).not.toBe('');
    }),
    { numRuns: 750 },
  );
});

test('a content that ends early, or pages in another order', () => {
  fc.assert(
    fc.property(file, place, place, place, (whole, end, from, to) => {
      expect(answerTo(whole.subarray(0, Math.floor(end * whole.length)))).not.toBe('');
      const bytes = Uint8Array.from(whole);
      const page = (where: number): number => 512 * Math.floor((where * whole.length) / 512);
      bytes.copyWithin(page(to), page(from), page(from) + 512);
      expect(answerTo(bytes)).not.toBe('');
    }),
    { numRuns: 150 },
  );
});

test('a file that is whole has its rows', () => {
  for (const each of FILES.slice(0, 2)) expect(answerTo(each)).toBeGreaterThan(100);
  expect(answerTo(FILES[2]!)).toContain('2 layers');
});
