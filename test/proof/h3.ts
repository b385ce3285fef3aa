// `npm run proof -- h3 [--size N] [--seed S] [--threads T]`: N points (100 million) against h3-js 4.5, in parts of a
// million: of ten parts eight are uniform over the domain, one lies beside edges, one beside the border of the two
// faces. Every differing point is printed with its distance to the cell's edge; more than 10 nm fails.

import {
  compareWithH3,
  type Difference,
  differenceLine,
  EDGE_TOLERANCE_M,
  type PointSource,
  pointsByEdges,
  pointsByFaceBorder,
  uniformPoints,
} from '../support/h3-comparison.js';
import { openKernel, randomFrom } from '../support/open-world.js';
import { proveInThreads, workOnParts } from './threads.js';

function sourceOf(part: number, seed: number): PointSource {
  const random = randomFrom(seed);
  if (part % 10 === 8) return pointsByEdges(random);
  if (part % 10 === 9) return pointsByFaceBorder(random);
  return uniformPoints(random);
}

workOnParts(() => {
  const kernel = openKernel();
  return (part, count, seed) => compareWithH3(kernel, sourceOf(part, seed), count);
});

export default async function proveH3(args: string[]): Promise<void> {
  let listed = 0;
  let wrong = 0;
  const sizes = { size: 100_000_000, partSize: 1_000_000 };
  const { size, seed } = await proveInThreads<Difference[]>(import.meta.url, args, sizes, (differences) => {
    for (const difference of differences) {
      listed++;
      if (!(difference.edgeDistanceM <= EDGE_TOLERANCE_M)) wrong++;
      console.log(differenceLine(difference));
    }
  });
  console.log(
    `h3: ${size} points, seed ${seed}, Node ${process.version}: ${listed} differ, ${wrong} of them more than 10 nm from an edge`,
  );
  if (wrong > 0) process.exitCode = 1;
}
