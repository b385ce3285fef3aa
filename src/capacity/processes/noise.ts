// The noise control: a thread that does nothing but sleep for a millisecond, and then the same piece of work again and
// again. How late it wakes is the machine's own doing, and no tail of a server can be told from it; where the work
// takes longer than some minutes ago, neighbours share the cores, and no cost can be held against one of those minutes.
import { Worker } from 'node:worker_threads';
import { Latencies } from '../generator/latencies.js';
import { watchSteal } from './machine.js';

// A piece of work that is always the same, and of the kind that the service does: text is parsed, objects are made,
// text is written. Neighbours on a core that is shared slow this to half, where plain arithmetic loses a fifth.
const TEXT = JSON.stringify(
  Array.from({ length: 100 }, (_, at) => ({
    lat: 21 + at / 1000,
    lng: 105.8 + at / 777,
    id: `vehicle-${at}`,
  })),
);
/** Before it is compiled it takes longer. */
const FIRST_PIECES = 300;
const MIN_PIECES = 20;

let done = 0;

function work(): void {
  JSON.stringify(JSON.parse(TEXT));
  done++;
}

/** The median time of a piece on the core of this thread, in microseconds. @param ms how long to work */
export function measureWorkUs(ms: number): number {
  while (done < FIRST_PIECES) work();
  const times: number[] = [];
  for (const endMs = performance.now() + ms; performance.now() < endMs || times.length < MIN_PIECES; ) {
    const fromMs = performance.now();
    work();
    times.push(performance.now() - fromMs);
  }
  return Math.round(1000 * times.sort((a, b) => a - b)[times.length >> 1]!);
}

/** The most at the 99th percentile of a machine that is quiet enough for figures of tails. */
export const QUIET_P99_US = 2000;
/** The most that the speed of a core may differ from its usual one, as a factor. */
export const MAX_WORK_SPREAD = 1.25;
/** The most of a measurement's time that a hypervisor may give to others. */
export const MAX_STEAL_SHARE = 0.005;
/** Share of a control's time in which it works. */
const WORK_SHARE = 0.2;

export interface Noise {
  /** Median duration of sleeps of 1 ms. */
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** Share of the machine's time that its hypervisor gave to others meanwhile, 0 to 1. */
  readonly stealShare: number;
  /** The median time of a piece of work that is always the same; absent from older results. */
  readonly workUs?: number;
}

const CONTROL = `
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
  const steal = watchSteal();
  const workMs = WORK_SHARE * durationMs;
  const times = await new Promise<number[]>((resolve, reject) => {
    const workerData = { durationMs: durationMs - workMs };
    const worker = new Worker(CONTROL, { eval: true, workerData });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const stealShare = steal();
  const sleeps = new Latencies();
  for (const ms of times) sleeps.recordMs(ms);
  const { p50Us, p99Us, maxUs } = sleeps.percentiles();
  const workUs = measureWorkUs(workMs);
  return { p50Us, p99Us, maxUs, stealShare, workUs };
}

const isQuiet = ({ p99Us }: Noise): boolean => p99Us < QUIET_P99_US;

/** How many times as long the same work took in the slowest of the controls as in the fastest. */
export function workSpread(noises: readonly Noise[]): number {
  const times = noises.flatMap(({ workUs }) => (workUs === undefined ? [] : [workUs]));
  return times.length === 0 ? 1 : Math.max(...times) / Math.min(...times);
}

/** The most that the machine did to nine tenths of the measurements that count. */
export interface Disturbance {
  /** Share of the time that the hypervisor gave to others, 0 to 1. */
  readonly stealShare: number;
  /** How far the speed of the server's core was from its usual one, as a factor of 1 or more. */
  readonly slowness: number;
}

/** Whether figures of the minutes in between can be held against each other, tails included. */
export const areQuiet = (noises: readonly Noise[], { stealShare, slowness }: Disturbance): boolean =>
  noises.every(isQuiet) && slowness <= MAX_WORK_SPREAD && stealShare <= MAX_STEAL_SHARE;
