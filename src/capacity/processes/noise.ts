// The noise control: a thread that does nothing but sleep for a millisecond. How late it wakes is the machine's own doing, and
// no tail of a server can be told from it.
import { Worker } from 'node:worker_threads';
import { Latencies } from '../generator/latencies.js';
import { stealTicks } from './cpu-time.js';

/** The most at the 99th percentile of a machine that is quiet enough for figures of tails. */
export const QUIET_P99_US = 2000;

export interface Noise {
  /** Of sleeps of 1 ms: how long they took. */
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** Share of the machine's time that its hypervisor gave to others meanwhile, 0 to 1. */
  readonly stealShare: number;
}

const SLEEPER = `
const { parentPort, workerData } = require('node:worker_threads');
const cell = new Int32Array(new SharedArrayBuffer(4));
const times = [];
const endMs = performance.now() + workerData.durationMs;
for (let fromMs = performance.now(); fromMs < endMs; ) {
  Atomics.wait(cell, 0, 0, 1);
  const nowMs = performance.now();
  times.push(nowMs - fromMs);
  fromMs = nowMs;
}
parentPort.postMessage(times);
`;

export async function measureNoise(durationMs: number): Promise<Noise> {
  const before = stealTicks();
  const times = await new Promise<number[]>((resolve, reject) => {
    const worker = new Worker(SLEEPER, { eval: true, workerData: { durationMs } });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const after = stealTicks();
  const sleeps = new Latencies();
  for (const ms of times) sleeps.recordMs(ms);
  const { p50Us, p99Us, maxUs } = sleeps.percentiles();
  const ticks = after.all - before.all;
  return { p50Us, p99Us, maxUs, stealShare: ticks === 0 ? 0 : (after.stolen - before.stolen) / ticks };
}

export const isQuiet = ({ p99Us }: Noise): boolean => p99Us < QUIET_P99_US;
