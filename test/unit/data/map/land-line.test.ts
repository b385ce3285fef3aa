// Land line, rivers and names of the console are drawn from the sources, the same bytes each time.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawLandLine, LAND_LINE_FILE } from '../../../../data/map/land-line.js';
import { NAMES_FILE, namesModule } from '../../../../data/map/names.js';
import { drawRivers, RIVERS_FILE } from '../../../../data/map/rivers.js';
import { readLand } from '../../../../data/map/sources.js';

test('data/land.bin is what the sources give', () => {
  const drawn = drawLandLine(readLand());
  expect(Buffer.compare(drawn, readFileSync(LAND_LINE_FILE))).toBe(0);
});

test('data/rivers.bin is what the source gives', () => {
  expect(Buffer.compare(drawRivers(), readFileSync(RIVERS_FILE))).toBe(0);
});

test('the list of names is what the sources give', async () => {
  expect(await namesModule()).toBe(readFileSync(NAMES_FILE, 'utf8'));
});
