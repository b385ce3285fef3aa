// The pool on large jobs, in process: all its workers against one, in turns. Two workers cost as much CPU as one, so
// time is measured, and the machine should have nothing else to do.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { Pool } from '#dist/pool/pool.js';
import { encodeFrame } from '../../test/support/stream-frames.js';
import { spread, spreadText } from '../measure.js';

const JOBS = 16;
/** Counting this far takes a thread about as long as the jobs take one worker. */
const SPIN_COUNT = 4_000_000;
/** Rounds here for each of the bench, since they are short. */
const ROUNDS_PER_ROUND = 10;

export interface PoolResult {
  readonly threads: number;
  readonly ratios: readonly number[];
  readonly control: readonly number[];
  readonly text: string;
}

/** Threads that count, the control: one of them counts as far as all of them together. */
class Spinners {
  readonly #workers: Worker[];
  constructor(threads: number) {
    const source = `
      const { parentPort } = require('node:worker_threads');
      parentPort.on('message', (count) => {
        let x = 1;
        for (let i = 0; i < count; i++) x = (x * 48271) % 2147483647;
        parentPort.postMessage(x);
      });`;
    this.#workers = Array.from({ length: threads }, () => new Worker(source, { eval: true }));
  }

  async millis(threads: number): Promise<number> {
    const startMs = performance.now();
    await Promise.all(
      this.#workers.slice(0, threads).map((worker) => {
        worker.postMessage(SPIN_COUNT / threads);
        return once(worker, 'message');
      }),
    );
    return performance.now() - startMs;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

export async function poolAgainstOneWorker(pairsDeg: Float64Array, rounds: number): Promise<PoolResult> {
  const kernel = {
    module: await Kernel.compile(readFileSync('dist/kernel.wasm')),
    index: readFileSync('data/index.bin'),
    reach: readFileSync('data/reach.bin'),
  };
  const one = new Pool({ kernel, threads: 1 });
  const all = new Pool({ kernel });
  const frame = encodeFrame(1, pairsDeg);
  const millis = async (pool: Pool): Promise<number> => {
    const startMs = performance.now();
    await Promise.all(Array.from({ length: JOBS }, async () => pool.giveBack(await pool.answerFrame(frame))));
    return performance.now() - startMs;
  };
  await millis(one);
  await millis(all);
  const spinners = new Spinners(all.threads);
  await spinners.millis(1);
  const ratios: number[] = [];
  const control: number[] = [];
  for (let round = 0; round < ROUNDS_PER_ROUND * rounds; round++) {
    const spunAloneMs = await spinners.millis(1);
    const oneMs = await millis(one);
    const allMs = await millis(all);
    ratios.push(oneMs / allMs);
    control.push(spunAloneMs / (await spinners.millis(all.threads)));
  }
  await spinners.close();
  const { threads } = all;
  await Promise.all([one.close(), all.close()]);
  const points = pairsDeg.length / 2;
  const text = `Pool: ${threads} workers against one, ${JOBS} frames of ${points} points, in process: ${spreadText(spread(ratios), 2)} times the
throughput. The control, ${threads} threads that only count against one, was ${spreadText(spread(control), 2)} times as fast in the same rounds:
that is what the machine had to give.`;
  return { threads, ratios, control, text };
}
