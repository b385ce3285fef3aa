// `npm run proof -- numbers [--size N] [--seed S] [--threads T]`: N readings (20 million) of decimal texts by the
// kernel against Number, and fifty times as many printings against String.
import { openKernel, randomFrom } from '../support/open-world.js';
import {
  checkRound,
  checkUsual,
  HARD_TEXTS,
  NumberChecker,
  type NumberCounts,
} from '../support/text-numbers.js';
import { proveInThreads, workOnParts } from './threads.js';

workOnParts(() => {
  const kernel = openKernel();
  return (_part, count, seed) => {
    const checker = new NumberChecker(kernel);
    for (const text of HARD_TEXTS) checker.read(text);
    const random = randomFrom(seed);
    while (checker.counts.read < count) checkRound(checker, random);
    for (let round = 0; round < count; round++) checkUsual(checker, random);
    return checker.counts;
  };
});

export default async function proveNumbers(args: string[]): Promise<void> {
  const sum = { read: 0, rows: 0, hard: 0, printed: 0, unprinted: 0, wrong: 0 };
  const sizes = { size: 20_000_000, partSize: 500_000 };
  const { seed } = await proveInThreads<NumberCounts>(import.meta.url, args, sizes, (counts) => {
    sum.read += counts.read;
    sum.rows += counts.rows;
    sum.hard += counts.hard;
    sum.printed += counts.printed;
    sum.unprinted += counts.unprinted;
    sum.wrong += counts.wrong.length;
    for (const line of counts.wrong) console.log(line);
  });
  console.log(
    `numbers: ${sum.read} readings, ${sum.hard} of them left to the host, ${sum.rows} rows, ` +
      `${sum.printed} printings and ${sum.unprinted} beyond their range, ` +
      `seed ${seed}, Node ${process.version}: ${sum.wrong} wrong`,
  );
  if (sum.wrong > 0) process.exitCode = 1;
}
