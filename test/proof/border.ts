// `npm run proof -- border [--size 100000] [--seed S]`: border_m and the neighbour of the shipped map, in both builds
// of the kernel, at random points against every line of the map.

import { readFileSync } from 'node:fs';
import { Hexcodes } from '#hexcodes';
import { KERNEL_FILES, randomFrom } from '../support/open-world.js';
import { checkBorders } from '../support/peers/border-distance.js';
import { shippedFiles } from '../support/shipped.js';
import { optionsOf } from './run-length.js';

export default async function proveBorder(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '100000', seed: '1' });
  const { index, reach } = shippedFiles();
  for (const [build, path] of Object.entries(KERNEL_FILES)) {
    const kernel = Hexcodes.from({ kernel: readFileSync(path), index, reach }).kernel;
    const { points, near, worstM, wrong } = checkBorders(
      kernel,
      index,
      Number(values.size),
      randomFrom(Number(values.seed)),
    );
    console.log(
      `border: ${build}: ${points} points (seed ${values.seed}), ${near} of them within 5 km of a border: ` +
        `${wrong.length} off by more than 1 m or with another neighbour; at most ${worstM.toFixed(2)} m`,
    );
    for (const line of wrong.slice(0, 20)) console.log(line);
    if (wrong.length > 0) process.exitCode = 1;
  }
}
