// `npm run proof -- typos [--size N] [--seed S] [--threads T]`: every single slip on N codes (200,000) of all admin
// codes and resolutions; none is accepted but the swap that is left to reach.

import { ADMIN_UNITS } from '#hexcodes';
import { openKernel, randomFrom } from '../support/open-world.js';
import { countAccepted, randomCodes, type TypoCounts } from '../support/typos.js';
import { proveInThreads, workOnParts } from './threads.js';

/** Codes of one round over admin codes and resolutions. */
const ROUND = ADMIN_UNITS.length * 16;

workOnParts(() => {
  const kernel = openKernel();
  return (_part, count, seed) => countAccepted(kernel, randomCodes(kernel, randomFrom(seed), count / ROUND));
});

export default async function proveTypos(args: string[]): Promise<void> {
  let slips = 0;
  let leftToReach = 0;
  let accepted = 0;
  const sizes = { size: 368 * ROUND, partSize: 8 * ROUND };
  const { size, seed } = await proveInThreads<TypoCounts>(import.meta.url, args, sizes, (counts) => {
    slips += counts.slips;
    leftToReach += counts.leftToReach;
    accepted += counts.accepted.length;
    for (const line of counts.accepted) console.log(line);
  });
  console.log(
    `typos: ${size} codes, seed ${seed}, Node ${process.version}: ${slips} slips, ${accepted} accepted, ${leftToReach} left to reach`,
  );
  if (accepted > 0) process.exitCode = 1;
}
