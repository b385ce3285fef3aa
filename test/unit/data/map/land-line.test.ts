// The land line of the console is drawn from the sources, the same bytes each time.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawLandLine, LAND_LINE_FILE } from '../../../../data/map/land-line.js';
import { readLand } from '../../../../data/map/sources.js';

test('data/land.bin is what the sources give', () => {
  const drawn = drawLandLine(readLand());
  expect(Buffer.compare(drawn, readFileSync(LAND_LINE_FILE))).toBe(0);
});
