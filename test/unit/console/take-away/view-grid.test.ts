// The hexagons of a view as a file: GeoJSON with each cell once, or a word that they are too many.
import { expect, test } from 'vitest';
import { codesWithin } from '#dist/hexcodes/geometry/cover.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { consoleModule } from '../../../support/console-module.js';

type ViewGrid = { kind: 'file'; file: Blob; cells: number } | { kind: 'tooMany'; estimate: number };
const { viewGrid, MAX_CELLS } = await consoleModule<{
  MAX_CELLS: number;
  viewGrid(
    library: Hexcodes,
    box: object,
    resolution: number,
    progress: (part: number) => void,
  ): Promise<ViewGrid>;
}>('take-away/view-grid.ts');
const library = await Hexcodes.load();
const HANOI = { west: 105.8, south: 21.0, east: 105.9, north: 21.05 };

test('a file with every cell of the view', async () => {
  const parts: number[] = [];
  const grid = await viewGrid(library, HANOI, 9, (part) => parts.push(part));
  if (grid.kind !== 'file') throw new Error(grid.kind);
  const { type, features } = JSON.parse(await grid.file.text()) as {
    type: string;
    features: { properties: { hexcodes: string }; geometry: { type: string } }[];
  };
  const codes = [...codesWithin(library, HANOI, 9)].flat();
  expect(codes.length).toBeGreaterThan(100);
  expect([type, features.length, grid.cells, grid.file.type]).toEqual([
    'FeatureCollection',
    codes.length,
    codes.length,
    'application/geo+json',
  ]);
  expect(JSON.stringify(features)).toContain(codes[50]);
  expect(parts.at(-1)).toBe(1);
});

test('too many: far beyond the bound at once, near it when they are counted', async () => {
  const far = await viewGrid(library, { west: 103, south: 9, east: 109, north: 23 }, 12, () => undefined);
  expect(far).toMatchObject({ kind: 'tooMany' });
  // Some 60,000 cells by estimate: below four times the bound, and above it.
  const box = { west: 105.2, south: 20.6, east: 106.2, north: 21.5 };
  const near = await viewGrid(library, box, 8, () => undefined);
  expect(near).toMatchObject({ kind: 'file' });
  // Its estimate is between the bound and four times the bound.
  const counted = await viewGrid(library, box, 9, () => undefined);
  expect(counted).toMatchObject({ kind: 'tooMany' });
  if (counted.kind === 'tooMany') expect(counted.estimate).toBeLessThan(4 * MAX_CELLS);
});
