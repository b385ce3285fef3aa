// The pool on large jobs, in process: all its workers against one, in turns, with nobody else at work. What is measured
// is time, for two workers cost the CPU time of one; so the machine should have nothing else to do.
import { readFileSync } from 'node:fs';
import { Kernel } from '#dist/kernel/kernel.js';
import { Pool } from '#dist/pool/pool.js';
import { encodeFrame } from '../test/e2e/stream-frames.js';
import { spread, spreadText } from './measure.js';

const JOBS = 16;

export interface PoolResult {
  readonly threads: number;
  readonly ratios: readonly number[];
  readonly text: string;
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
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const oneMs = await millis(one);
    ratios.push(oneMs / (await millis(all)));
  }
  const { threads } = all;
  await Promise.all([one.close(), all.close()]);
  const points = pairsDeg.length / 2;
  const text = `Pool: ${threads} workers against one, ${JOBS} frames of ${points} points, in process: ${spreadText(spread(ratios), 2)} times the throughput.`;
  return { threads, ratios, text };
}
