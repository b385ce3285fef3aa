// The machine and the commit named in a file of results, and the figures of Linux in /proc: CPU time, memory and
// children of processes, and the time taken by a hypervisor.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Latencies } from '../generator/latencies.js';

/**
 * CPU time of all threads of the processes until now, user and system, in microseconds. Threads that have ended are
 * missing.
 */
export function cpuMicrosOf(pids: readonly number[]): number {
  let nanos = 0;
  for (const pid of pids)
    for (const thread of threadsOf(pid)) {
      const text = textOf(`/proc/${pid}/task/${thread}/schedstat`);
      nanos += Number(text.slice(0, text.indexOf(' ')));
    }
  return nanos / 1000;
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The process and all of its descendants. */
export function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`)
      .split(' ')
      .filter((word) => word.trim() !== '')
      .map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** Resident memory in bytes: the current and the highest so far. */
export function memoryOf(pid: number): { readonly bytes: number; readonly peakBytes: number } {
  const status = textOf(`/proc/${pid}/status`);
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return { bytes: kib('VmRSS') * 1024, peakBytes: kib('VmHWM') * 1024 };
}

/**
 * Starts measuring.
 * @returns a function for the share of the machine's time since then, 0 to 1, that its hypervisor gave to others
 */
export function watchSteal(): () => number {
  const before = ticksNow();
  return () => {
    const { all, stolen } = ticksNow();
    return (stolen - before.stolen) / Math.max(1, all - before.all);
  };
}

/** Ticks of all cores since the machine started: in total, and those that the hypervisor gave to others. */
function ticksNow(): { readonly all: number; readonly stolen: number } {
  const ticks = (textOf('/proc/stat').split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, value) => sum + value, 0), stolen: ticks[7] ?? 0 };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const GOVERNOR = '/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor';
const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

export function machineNow() {
  return {
    model: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    kernel: release(),
    governor: existsSync(GOVERNOR) ? readFileSync(GOVERNOR, 'utf8').trim() : null,
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** The commit of the checkout in which this code was built, with + if files were modified; null outside of one. */
export function commitNow(): string | null {
  // An installed package may lie in somebody else's checkout.
  if (!['.git', 'assembly'].every((name) => existsSync(`${CHECKOUT}${name}`))) return null;
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', CHECKOUT, ...args], { encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return null;
  }
}

// The noise control: a thread that sleeps for a millisecond and then does a fixed piece of work, repeatedly. Its late
// wake-ups are caused by the machine and cannot be distinguished from a server's tail latency; where the work takes
// longer than some minutes ago, neighbours share the cores, and the costs of the two moments cannot be compared.

// A fixed piece of work, of the kind that the service does: text is parsed, objects are made, text is written.
// Neighbours on a shared core slow it down by half, plain arithmetic only by a fifth.
const TEXT = JSON.stringify(
  Array.from({ length: 100 }, (_, at) => ({
    lat: 21 + at / 1000,
    lng: 105.8 + at / 777,
    id: `vehicle-${at}`,
  })),
);
/** Pieces before which the work is not compiled and takes longer. */
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

/** Highest 99th percentile of a machine that is quiet enough for figures of tails. */
const QUIET_P99_US = 2000;
/** Largest factor by which the speed of a core may differ from its usual one. */
export const MAX_WORK_SPREAD = 1.25;
/** Largest share of a measurement's time that a hypervisor may give to others. */
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

/** The slowest control's time for the fixed work, as a multiple of the fastest's. */
export function workSpread(noises: readonly Noise[]): number {
  const times = noises.flatMap(({ workUs }) => (workUs === undefined ? [] : [workUs]));
  return times.length === 0 ? 1 : Math.max(...times) / Math.min(...times);
}

/** The largest disturbance by the machine in nine tenths of the measurements that count. */
export interface Disturbance {
  /** Share of the time that the hypervisor gave to others, 0 to 1. */
  readonly stealShare: number;
  /** Largest factor, 1 or more, between the speed of the server's core and its usual one. */
  readonly slowness: number;
}

/** Whether figures of the minutes in between can be compared, tails included. */
export const areQuiet = (noises: readonly Noise[], { stealShare, slowness }: Disturbance): boolean =>
  noises.every(isQuiet) && slowness <= MAX_WORK_SPREAD && stealShare <= MAX_STEAL_SHARE;
