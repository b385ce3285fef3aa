// The picture of the shipped map: every province once in each layer and by name, numbers everywhere.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { drawPicture } from '../../../../data/map/picture.js';
import { readLand } from '../../../../data/map/sources.js';
import { INDEX_FILE } from '../../../support/region/shipped-index.js';

test('a picture of the shipped map names the 34 provinces and gives the notice', () => {
  const svg = drawPicture(readFileSync(INDEX_FILE), readLand());
  const words = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((match) => match[1]);
  expect(words.slice(0, 34)).toEqual(ADMIN_UNITS.map(({ code }) => code));
  expect(words[34]).toContain('© OpenStreetMap contributors');
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expect(svg.match(/<path fill="#[0-9a-f]{6}" d="M/g)).toHaveLength(2 * 34 + 1);
});
