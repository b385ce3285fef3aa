// `npm run proof -- region [--size 20000000] [--seed S]`: the shipped map in the kernel against rings, at full size:
// points anywhere, every line, sweeps of one row in a thousand of the map, and the codes of places every 100 m along
// every line at all 16 resolutions.
import { Hexcodes } from '#hexcodes';
import { randomFrom } from '../support/random.js';
import { CheckedMap, checkCodes, placesAlong, shippedIndex } from '../support/region/map-checks.js';
import { optionsOf } from './run-length.js';

export default async function proveRegion(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '20000000', seed: '1' });
  const size = Number(values.size);
  const seed = Number(values.seed);
  const { file, kernel } = shippedIndex();
  const map = new CheckedMap(file, kernel);
  map.checkAnywhere(randomFrom(seed), size);
  const besideLines = map.checkLines();
  const random = randomFrom(seed + 1);
  let rows = 0;
  for (let y = map.box.south - 1; y <= map.box.north; y += 1 + Math.floor(random() * 2_000)) {
    map.checkRow(y);
    ++rows;
  }
  const hexcodes = await Hexcodes.load();
  const places = placesAlong(map.arcs, 100);
  let codes = 0;
  for (let resolution = 0; resolution < 16; ++resolution) codes += checkCodes(hexcodes, places, resolution);
  console.log(
    `region: ${size} points (seed ${seed}), ${besideLines} on and beside lines, ${rows} rows swept: ` +
      `one region inside, none outside; ${codes} codes along all lines, 16 resolutions: within reach, read back`,
  );
}
