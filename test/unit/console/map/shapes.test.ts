// The shapes of the map: no two neighbours in one colour, and each name on the land of its province.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { readIndexArcs, readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { consoleModule } from '../../../support/console-module.js';

interface Shapes {
  readonly provinces: unknown[];
  readonly colors: number[];
  readonly sea: [number, number][][];
  readonly labels: { admin: number; lng: number; lat: number; space: number }[];
}
const { makeShapes } = await consoleModule<{
  makeShapes(index: Uint8Array, land: Uint8Array, rivers: Uint8Array): Shapes;
}>('map/shapes.ts');
const index = new Uint8Array(readFileSync('data/index.bin'));

const shapes = makeShapes(
  index,
  new Uint8Array(readFileSync('data/land.bin')),
  new Uint8Array(readFileSync('data/rivers.bin')),
);
const library = await Hexcodes.load();

test('neighbours differ in colour, and the palette is small', () => {
  const { units } = readIndexMeta(index);
  let borders = 0;
  for (const { left, right } of readIndexArcs(index)) {
    const [one, other] = [units[left]?.admin, units[right]?.admin];
    if (one === undefined || other === undefined || one === other) continue;
    borders++;
    expect(shapes.colors[one], `${one} beside ${other}`).not.toBe(shapes.colors[other]);
  }
  expect(borders).toBeGreaterThan(50);
  expect(Math.max(...shapes.colors)).toBeLessThan(8);
});

test('every province has one name, inside of it', () => {
  expect(shapes.labels.map(({ admin }) => admin)).toEqual(ADMIN_UNITS.map((_, admin) => admin));
  for (const { admin, lat, lng, space } of shapes.labels) {
    expect(library.adminCodeOf(lat, lng)).toBe(ADMIN_UNITS[admin]!.code);
    expect(space).toBeGreaterThan(0);
  }
});
