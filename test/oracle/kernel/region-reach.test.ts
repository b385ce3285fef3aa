// All borders walked at all 16 resolutions: what can be encoded can be read, so every code is within the frozen reach.
import { beforeAll, expect, test } from 'vitest';
import { readIndexArcs } from '#dist/hexcodes/kernel/index-file.js';
import { Hexcodes } from '#hexcodes';
import { checkCodes, placesAlong } from '../../support/region/border-walk.js';
import { shippedIndex } from '../../support/region/shipped-index.js';

let hexcodes: Hexcodes;
const places = placesAlong(readIndexArcs(shippedIndex().file), 1_000);

beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

test.each(Array.from({ length: 16 }, (_, resolution) => resolution))('resolution %i', (resolution) => {
  expect(checkCodes(hexcodes, places, resolution)).toBeGreaterThan(100_000);
});

test('read as text, a code gives the province and the cell of its position', () => {
  const { exports } = hexcodes.kernel;
  for (let i = 0; i < places.length / 2; i += 7) {
    const [lat, lng] = [places[2 * i]!, places[2 * i + 1]!];
    const province = hexcodes.adminCodeOf(lat, lng);
    if (province === null) continue;
    const resolution = i % 16;
    const cell = BigInt.asUintN(64, exports.cellOf(lat, lng, resolution));
    const read = hexcodes.read(hexcodes.encode(lat, lng, resolution).hexcodes);
    if (read?.cell !== cell || read.admin_code !== province || read.resolution !== resolution)
      expect.fail(`${lat}, ${lng} at resolution ${resolution}: ${JSON.stringify(read, (_, v) => String(v))}`);
  }
});
