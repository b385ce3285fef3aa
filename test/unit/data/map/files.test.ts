// Files that are drawn of the sources, and a picture of the map.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS } from '#hexcodes';
import { drawLandLine, drawRivers, LAND_LINE_FILE, RIVERS_FILE } from '../../../../data/map/console-map.js';
import { NAMES_FILE, namesModule } from '../../../../data/map/names.js';
import { drawPicture } from '../../../../data/map/picture.js';
import { readLand } from '../../../../data/map/sources.js';
import { INDEX_FILE } from '../../../support/region/map-checks.js';

// Land line, rivers and names of the console are drawn from the sources, the same bytes each time.
describe('land, rivers and names', () => {
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
});

// The picture of the shipped map: every province once in each layer and by name, numbers everywhere.
describe('the picture', () => {
  test('a picture of the shipped map names the 34 provinces and gives the notice', () => {
    const svg = drawPicture(readFileSync(INDEX_FILE), readLand());
    const words = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((match) => match[1]);
    expect(words.slice(0, 34)).toEqual(ADMIN_UNITS.map(({ code }) => code));
    expect(words[34]).toContain('© OpenStreetMap contributors');
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg.match(/<path fill="#[0-9a-f]{6}" d="M/g)).toHaveLength(2 * 34 + 1);
  });
});
