// `npm run proof -- region [--size 20000000] [--seed S]`: the shipped map in the kernel against rings, at full size:
// points anywhere, every line, and sweeps of one row in a thousand of the map.
import { parseArgs } from 'node:util';
import { randomFrom } from '../region/made-partitions.js';
import { CheckedMap } from '../region/map-checks.js';
import { shippedIndex } from '../region/shipped-index.js';

export default async function proveRegion(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { size: { type: 'string', default: '20000000' }, seed: { type: 'string', default: '1' } },
  });
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
  console.log(
    `region: ${size} points (seed ${seed}), ${besideLines} on and beside lines, ${rows} rows swept: ` +
      'one region inside, none outside',
  );
}
