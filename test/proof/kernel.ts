// Proofs of the kernel's answers (cells, texts, numbers, typos), each cut into parts for worker threads: options,
// parts with their seeds, results as they come.

import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { ADMIN_UNITS } from '#hexcodes';
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
import { checkReading, type ReadingCounts } from '../support/peers/reading.js';
import {
  checkRound,
  checkUsual,
  HARD_TEXTS,
  NumberChecker,
  type NumberCounts,
} from '../support/text-numbers.js';
import { countAccepted, mangledTexts, randomCodes, type TypoCounts } from '../support/typos.js';
import { optionsOf } from './run-length.js';

interface Task {
  proof: keyof typeof WORK;
  seed: number;
  size: number;
  partSize: number;
  thread: number;
  threads: number;
}

/**
 * Starts this module as often as there are threads, with the work of a proof.
 * @returns the size and seed that `--size` and `--seed` asked for, once every part has been received
 */
async function proveInThreads<Result>(
  proof: keyof typeof WORK,
  args: string[],
  { size: defaultSize, partSize }: { size: number; partSize: number },
  receive: (result: Result) => void,
): Promise<{ size: number; seed: number }> {
  const values = optionsOf(args, {
    size: String(defaultSize),
    seed: '20261121',
    threads: String(availableParallelism()),
  });
  const [size, seed, threads] = [Number(values.size), Number(values.seed), Number(values.threads)];
  let parts = 0;
  const run = (thread: number) =>
    new Promise<void>((resolve, reject) => {
      const task: Task = { proof, seed, size, partSize, thread, threads };
      const worker = new Worker(new URL(import.meta.url), { workerData: task });
      worker.on('message', (result: Result) => {
        parts++;
        receive(result);
        console.error(
          `${Math.min(size, parts * partSize).toLocaleString('en')} of ${size.toLocaleString('en')}`,
        );
      });
      worker.on('error', reject);
      worker.on('exit', () => resolve());
    });
  await Promise.all(Array.from({ length: threads }, (_, thread) => run(thread)));
  if (parts !== Math.ceil(size / partSize)) throw new Error(`only ${parts} parts were done`);
  return { size, seed };
}

// `npm run proof -- h3 [--size N] [--seed S] [--threads T]`: N points (100 million) against h3-js 4.5, in parts of a
// million: of ten parts eight are uniform over the domain, one lies beside edges, one beside the border of the two
// faces. Every differing point is printed with its distance to the cell's edge; more than 10 nm fails.

function sourceOf(part: number, seed: number): PointSource {
  const random = randomFrom(seed);
  if (part % 10 === 8) return pointsByEdges(random);
  if (part % 10 === 9) return pointsByFaceBorder(random);
  return uniformPoints(random);
}

export async function proveH3(args: string[]): Promise<void> {
  let listed = 0;
  let wrong = 0;
  const sizes = { size: 100_000_000, partSize: 1_000_000 };
  const { size, seed } = await proveInThreads<Difference[]>('h3', args, sizes, (differences) => {
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

// `npm run proof -- read [--size N] [--seed S] [--threads T]`: N mangled texts (50 million): none traps, whatever is
// accepted has one canonical text; every fifth answer is compared with the second implementation of reading.

export async function proveReading(args: string[]): Promise<void> {
  let accepted = 0;
  let wrong = 0;
  const sizes = { size: 50_000_000, partSize: 500_000 };
  const { size, seed } = await proveInThreads<ReadingCounts>('read', args, sizes, (counts) => {
    accepted += counts.accepted;
    wrong += counts.wrong.length;
    for (const line of counts.wrong) console.log(line);
  });
  console.log(
    `read: ${size} texts, seed ${seed}, Node ${process.version}: ${accepted} accepted, ${wrong} wrong`,
  );
  if (wrong > 0) process.exitCode = 1;
}

// `npm run proof -- numbers [--size N] [--seed S] [--threads T]`: N readings (20 million) of decimal texts by the
// kernel against Number, and fifty times as many printings against String.

export async function proveNumbers(args: string[]): Promise<void> {
  const sum = { read: 0, rows: 0, hard: 0, printed: 0, unprinted: 0, wrong: 0 };
  const sizes = { size: 20_000_000, partSize: 500_000 };
  const { seed } = await proveInThreads<NumberCounts>('numbers', args, sizes, (counts) => {
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

// `npm run proof -- typos [--size N] [--seed S] [--threads T]`: every single slip on N codes (200,000) of all admin
// codes and resolutions; none is accepted but the swap that is left to reach.

/** Codes of one round over admin codes and resolutions. */
const ROUND = ADMIN_UNITS.length * 16;

export async function proveTypos(args: string[]): Promise<void> {
  let slips = 0;
  let leftToReach = 0;
  let accepted = 0;
  const sizes = { size: 368 * ROUND, partSize: 8 * ROUND };
  const { size, seed } = await proveInThreads<TypoCounts>('typos', args, sizes, (counts) => {
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

/** The parts of each proof: made once in a worker thread, they return what comes of a part. */
const WORK = {
  h3() {
    const kernel = openKernel();
    return (part, count, seed) => compareWithH3(kernel, sourceOf(part, seed), count);
  },
  read() {
    const kernel = openKernel();
    return (_part, count, seed) => checkReading(kernel, mangledTexts(kernel, randomFrom(seed)), count, 5);
  },
  numbers() {
    const kernel = openKernel();
    return (_part, count, seed) => {
      const checker = new NumberChecker(kernel);
      for (const text of HARD_TEXTS) checker.read(text);
      const random = randomFrom(seed);
      while (checker.counts.read < count) checkRound(checker, random);
      for (let round = 0; round < count; round++) checkUsual(checker, random);
      return checker.counts;
    };
  },
  typos() {
    const kernel = openKernel();
    return (_part, count, seed) =>
      countAccepted(kernel, randomCodes(kernel, randomFrom(seed), count / ROUND));
  },
} satisfies Record<string, () => (part: number, count: number, seed: number) => unknown>;

// In a worker thread: every `threads`-th part is done, and what comes of it is posted.
if (!isMainThread) {
  const { proof, seed, size, partSize, thread, threads } = workerData as Task;
  const work = WORK[proof]();
  for (let part = thread; part * partSize < size; part += threads)
    parentPort?.postMessage(work(part, Math.min(partSize, size - part * partSize), seed + part));
}
