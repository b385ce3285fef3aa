// `npm run proof -- read [--size N] [--seed S] [--threads T]`: N mangled texts (50 million): none traps, whatever is
// accepted has one canonical text; every fifth answer is compared with the second implementation of reading.

import { openKernel, randomFrom } from '../support/open-world.js';
import { checkReading, type ReadingCounts } from '../support/peers/reading.js';
import { mangledTexts } from '../support/typos.js';
import { proveInThreads, workOnParts } from './threads.js';

workOnParts(() => {
  const kernel = openKernel();
  return (_part, count, seed) => checkReading(kernel, mangledTexts(kernel, randomFrom(seed)), count, 5);
});

export default async function proveReading(args: string[]): Promise<void> {
  let accepted = 0;
  let wrong = 0;
  const sizes = { size: 50_000_000, partSize: 500_000 };
  const { size, seed } = await proveInThreads<ReadingCounts>(import.meta.url, args, sizes, (counts) => {
    accepted += counts.accepted;
    wrong += counts.wrong.length;
    for (const line of counts.wrong) console.log(line);
  });
  console.log(
    `read: ${size} texts, seed ${seed}, Node ${process.version}: ${accepted} accepted, ${wrong} wrong`,
  );
  if (wrong > 0) process.exitCode = 1;
}
