// The place that the page shows: of a position, of a code, larger and smaller.
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { consoleModule } from '../../../support/console-module.js';

interface Place {
  readonly hexcodes: string;
  readonly resolution: number;
  readonly from?: { lat: number; lng: number };
  readonly root: { hexcodes: string; resolution: number };
}
const { placeAt, placeOf, atResolution, resolutionFor } = await consoleModule<{
  placeAt(library: Hexcodes, lat: number, lng: number, resolution: number): Place | undefined;
  placeOf(library: Hexcodes, code: string): Place | undefined;
  atResolution(library: Hexcodes, place: Place, resolution: number): Place;
  resolutionFor(errorM: number): number;
}>('place/place.ts');
const library = await Hexcodes.load();

test('a position has a code of every resolution', () => {
  const place = placeAt(library, 21.0288, 105.8525, 9)!;
  expect([place.hexcodes, place.root.resolution]).toEqual([
    library.encode(21.0288, 105.8525, 9).hexcodes,
    15,
  ]);
  expect(place.from).toEqual({ lat: 21.0288, lng: 105.8525 });
  for (const resolution of [0, 5, 13, 15])
    expect(atResolution(library, place, resolution).hexcodes).toBe(
      library.encode(21.0288, 105.8525, resolution).hexcodes,
    );
  expect(placeAt(library, 48.8, 2.3, 9)).toBeUndefined();
});

test('a code has only its own and those of its parents, and finds back', () => {
  const place = placeOf(library, 'hn 6ghp4 83rfr')!;
  expect([place.hexcodes, place.resolution, place.from]).toEqual(['HN-6GHP4-83RFR', 13, undefined]);
  const larger = atResolution(library, place, 7);
  expect(larger.resolution).toBe(7);
  expect(atResolution(library, larger, 15).hexcodes).toBe('HN-6GHP4-83RFR');
  expect(atResolution(library, larger, 13).hexcodes).toBe('HN-6GHP4-83RFR');
  expect(placeOf(library, 'HN-6GHP4-83RFQ')).toBeUndefined();
});

test('a cell is as large as the error of its position', () => {
  expect([0, 0.5, 3, 8, 100, 2500, 50_000, 1e9].map(resolutionFor)).toEqual([15, 15, 13, 12, 9, 6, 3, 0]);
});
