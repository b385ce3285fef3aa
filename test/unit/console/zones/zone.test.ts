// Zones drawn by hand: what is an outline, what is a name, the file of areas, and what a storage may hold.
import { expect, test } from 'vitest';
import type * as Kept from '../../../../src/console/zones/kept-zones.js';
import type * as Zones from '../../../../src/console/zones/zone.js';
import { consoleModule } from '../../../support/console-module.js';

// The page's storage tells of other tabs.
(globalThis as { addEventListener?: unknown }).addEventListener ??= () => {};
const { cornerAt, faultOf, geoJsonOf, MAX_CORNERS, MAX_ZONES, ringOf, tidyName, uniqueName } =
  await consoleModule<typeof Zones>('zones/zone.ts');
const { readKept } = await consoleModule<typeof Kept>('zones/kept-zones.ts');

const SQUARE = [
  [105.84, 21.02],
  [105.86, 21.02],
  [105.86, 21.04],
  [105.84, 21.04],
] as const;
const turned = [...SQUARE].reverse();

test('an outline has three corners, an area, and sides that do not meet', () => {
  expect(faultOf([])).toBe('zoneTooFew');
  expect(faultOf(SQUARE.slice(0, 2))).toBe('zoneTooFew');
  expect(faultOf(SQUARE)).toBeUndefined();
  expect(faultOf(turned)).toBeUndefined();
  const [a, b, c, d] = SQUARE;
  expect(faultOf([a, c, b, d])).toBe('zoneCrosses');
  // There and back on one line; a corner on a side; the first corner once more.
  expect(faultOf([a, b, [105.85, 21.02]])).toBe('zoneCrosses');
  expect(faultOf([a, b, c, [105.85, 21.02], d])).toBe('zoneCrosses');
  expect(faultOf([a, b, c, a, d])).toBe('zoneCrosses');
  expect(faultOf([a, a, a])).not.toBeUndefined();
  // On one line all the way.
  expect(faultOf([a, [105.85, 21.02], b])).toBe('zoneCrosses');
  const round = Array.from({ length: MAX_CORNERS }, (_, i) =>
    cornerAt(
      21 + Math.sin((i / MAX_CORNERS) * 2 * Math.PI) / 10,
      105 + Math.cos((i / MAX_CORNERS) * 2 * Math.PI) / 10,
    ),
  );
  expect(faultOf(round)).toBeUndefined();
});

test('names are one line that no spreadsheet computes', () => {
  expect(tidyName('  Hoàn \n Kiếm ')).toBe('Hoàn Kiếm');
  expect(tidyName('=HYPERLINK("http://x")')).toBe('HYPERLINK("http://x")');
  expect(tidyName('\t-+@=1')).toBe('1');
  expect(tidyName('=')).toBe('');
  expect(tidyName('a\u202eb\u0000c')).toBe('a b c');
  expect(tidyName('<img src=x>')).toBe('<img src=x>');
  expect([...tidyName('𝒙'.repeat(100))].length).toBe(60);
  expect(uniqueName('Kho', ['Kho', 'Kho 2'])).toBe('Kho 3');
  expect([...uniqueName('k'.repeat(60), ['k'.repeat(60)])].length).toBe(60);
});

test('the file has closed rings, counterclockwise, one feature a line', () => {
  const zones = [
    { id: 'a', name: 'Kho "A"', corners: SQUARE },
    { id: 'b', name: 'B', corners: turned },
  ];
  const text = geoJsonOf(zones);
  expect(text.split('\n').length).toBe(5);
  const { features } = JSON.parse(text);
  expect(features.map((each: { properties: object }) => each.properties)).toEqual([
    { name: 'Kho "A"' },
    { name: 'B' },
  ]);
  const [ring] = features[0].geometry.coordinates;
  expect([ring.length, ring[0]]).toEqual([5, ring[4]]);
  expect(ring).toEqual([...SQUARE, SQUARE[0]]);
  expect(ringOf({ corners: turned })).toEqual([turned[3], turned[2], turned[1], turned[0], turned[3]]);
});

test('a storage that others have written gives whole zones alone', () => {
  const good = { id: 'a', name: 'A', corners: SQUARE };
  const kept = (zones: unknown, more: object = {}) => readKept(JSON.stringify({ zones, ...more }));
  expect(kept([good]).zones).toEqual([good]);
  for (const text of [null, '', '{', 'null', '7', '"a"', '[]', '{"zones":7}']) {
    expect(readKept(text)).toEqual({ zones: [], resolution: 9, isCompact: true });
  }
  const bad = [
    null,
    7,
    {},
    { ...good, id: 7 },
    { ...good, name: '' },
    { ...good, name: 7 },
    { ...good, corners: 'abcd' },
    { ...good, corners: SQUARE.slice(1, 3) },
    { ...good, corners: [...SQUARE, [200, 0]] },
    { ...good, corners: [...SQUARE, ['105', 21]] },
    { ...good, corners: [...SQUARE, [105]] },
    { ...good, corners: [...SQUARE, [null, null]] },
    {
      ...good,
      corners: Array.from({ length: MAX_CORNERS + 1 }, (_, i) => [105 + i / 1e4, 21 + (i * i) / 1e9]),
    },
    { ...good, corners: [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]] },
  ];
  for (const each of bad) expect(kept([each, good]).zones).toEqual([good]);
  // One id twice is one zone; one name twice are two.
  expect(kept([good, good]).zones).toEqual([good]);
  expect(kept([good, { ...good, id: 'b' }]).zones.map(({ name }) => name)).toEqual(['A', 'A 2']);
  const many = Array.from({ length: MAX_ZONES + 5 }, (_, i) => ({ ...good, id: String(i) }));
  expect(kept(many).zones.length).toBe(MAX_ZONES);
  expect(kept([], { resolution: 12, isCompact: false })).toMatchObject({ resolution: 12, isCompact: false });
  for (const resolution of [-1, 16, 9.5, '9', null]) expect(kept([], { resolution }).resolution).toBe(9);
});
