// Runs jobs of the generator against a subject, and reads their reports as rates, costs and latencies.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, JobReport, Load } from '../generator/job.js';
import { Latencies } from '../generator/latencies.js';
import type { Slice } from '../generator/loops.js';
import {
  cpuMicrosOf,
  type Disturbance,
  MAX_STEAL_SHARE,
  MAX_WORK_SPREAD,
  type Noise,
  watchSteal,
} from '../processes/machine.js';
import type { CoreSpeed, GeneratorProcess, Subject } from '../processes/pinned-process.js';
import { type Durations, type Profile, searchKnee } from './knee-search.js';
import { type Knee, type RatePoint, type Samples, samplesOf, type WayResult } from './results.js';

// On a shared machine the hypervisor gives the cores to others for tens of milliseconds, and neighbours on the same
// core halve its speed for seconds or minutes. Figures can be compared if the core had its usual speed, so a
// measurement at another speed is postponed or repeated, as long as there is time for it.
interface Run<T> {
  readonly value: T;
  readonly stealShare: number;
  /** The factor, 1 or more, between the speed of the core before or after the run and its usual speed. */
  readonly slowness: number;
}

/** The maximum, without the largest tenth of ten or more values; 0 without any value. */
function maxOfNineTenths(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.ceil(0.9 * ascending.length) - 1] ?? 0;
}

/** Pause between two measurements of a core's speed. */
const PAUSE_MS = 250;
/** Measurements whose median is the usual speed of a core. */
const LOOKS = 21;

export class QuietGuard {
  #usualUs = 0;
  readonly #stealShares: number[] = [];
  readonly #slownesses: number[] = [];

  /**
   * @param leftMs time of all measurements together for waiting until the core has its usual speed, and for repeats
   * @param core of the server; undefined: its speed is not known
   */
  constructor(
    private leftMs: number,
    private readonly core: Pick<CoreSpeed, 'workUs'> | undefined,
    private readonly watch = watchSteal,
    private readonly pause: (ms: number) => Promise<unknown> = sleep,
  ) {}

  /** The worst disturbance of nine tenths of the measurements that count. */
  get worst(): Disturbance {
    return {
      stealShare: maxOfNineTenths(this.#stealShares),
      slowness: Math.max(1, maxOfNineTenths(this.#slownesses)),
    };
  }

  /** @param ms duration of the measurement @returns the value of the least disturbed run */
  async run<T>(ms: number, measure: () => Promise<T>): Promise<T> {
    if (this.#usualUs === 0 && this.core !== undefined) this.#usualUs = await this.#lookUsual(this.core);
    let best = await this.#once(measure);
    for (; levelOf(best) > 1 && this.leftMs >= ms; this.leftMs -= ms) {
      const next = await this.#once(measure);
      if (levelOf(next) < levelOf(best)) best = next;
    }
    this.#stealShares.push(best.stealShare);
    this.#slownesses.push(best.slowness);
    return best.value;
  }

  async #lookUsual(core: Pick<CoreSpeed, 'workUs'>): Promise<number> {
    const looks = [await core.workUs()];
    while (looks.length < LOOKS) {
      await this.pause(PAUSE_MS);
      looks.push(await core.workUs());
    }
    return looks.sort((a, b) => a - b)[LOOKS >> 1]!;
  }

  async #once<T>(measure: () => Promise<T>): Promise<Run<T>> {
    let before = await this.#slowness();
    for (; before > MAX_WORK_SPREAD && this.leftMs >= PAUSE_MS; this.leftMs -= PAUSE_MS) {
      await this.pause(PAUSE_MS);
      before = await this.#slowness();
    }
    const stealShare = this.watch();
    const value = await measure();
    return { value, stealShare: stealShare(), slowness: Math.max(before, await this.#slowness()) };
  }

  async #slowness(): Promise<number> {
    if (this.core === undefined) return 1;
    const workUs = await this.core.workUs();
    return Math.max(workUs / this.#usualUs, this.#usualUs / workUs);
  }
}

/** Level of disturbance; above 1 the run does not count, if there is time for another. */
function levelOf({ stealShare, slowness }: Run<unknown>): number {
  return Math.max(stealShare / MAX_STEAL_SHARE, (slowness - 1) / (MAX_WORK_SPREAD - 1));
}

/** Answers per one that is compared with the library. */
const SAMPLE_EVERY = 100;
/** A subject that has used less than this share of a core for SETTLED_MS has nothing left to do. */
const SETTLED_SHARE = 0.2;
const SETTLED_MS = 20;
const MAX_SETTLING_MS = 10_000;

interface GaugeOptions {
  readonly generator: GeneratorProcess;
  readonly subject: Subject;
  readonly seed: number;
  readonly warmUpMs: number;
  readonly guard: QuietGuard;
  /** 0 for servers that are not a service. */
  readonly sampleEvery?: number;
  /** Called before each job with its length. */
  onJob(ms: number): void;
}

/** A slice without an answer belongs to the next one: its CPU time was spent on what is answered there. */
function withAnswers(slices: readonly Slice[]): Slice[] {
  const merged: Slice[] = [];
  let open: Slice = NO_TIME;
  for (const { ms, answered, cpuUs } of slices) {
    open = {
      ms: open.ms + ms,
      answered,
      cpuUs: cpuUs === null || open.cpuUs === null ? null : open.cpuUs + cpuUs,
    };
    if (answered === 0) continue;
    merged.push(open);
    open = NO_TIME;
  }
  return merged;
}

const NO_TIME: Slice = { ms: 0, answered: 0, cpuUs: 0 };

export class Gauge {
  /** Share of a core that the subject takes without load; measureIdle finds it. */
  idleCoreShare = 0;
  #jobs = 0;

  constructor(private readonly options: GaugeOptions) {}

  get subject(): Subject {
    return this.options.subject;
  }

  async run(job: Pick<Job, 'mode' | 'loads' | 'durationMs'>, onConnected?: () => void): Promise<JobReport> {
    const { generator, subject, seed, warmUpMs, guard, sampleEvery = SAMPLE_EVERY } = this.options;
    const { base, key, pids } = subject;
    const ms = warmUpMs + job.durationMs;
    this.options.onJob(ms);
    return guard.run(ms, async () => {
      await this.#settle();
      return generator.run(
        { ...job, base, key, warmUpMs, serverPids: pids, sampleEvery, seed: seed + this.#jobs++ },
        onConnected,
      );
    });
  }

  /** Waits until the subject has done the rest of an earlier job, so that the next one does not pay for it. */
  async #settle(): Promise<void> {
    const { pids } = this.subject;
    const endMs = performance.now() + MAX_SETTLING_MS;
    let cpuUs = cpuMicrosOf(pids);
    while (pids.length > 0 && performance.now() < endMs) {
      await sleep(SETTLED_MS);
      const nowUs = cpuMicrosOf(pids);
      if (nowUs - cpuUs < SETTLED_SHARE * SETTLED_MS * 1000) return;
      cpuUs = nowUs;
    }
  }

  /**
   * Sends as fast as answers come. Each slice of the time has its rate of answers and the CPU time of one, in
   * microseconds. A run without any answer, as on a busy machine, is repeated for 2, 4 and 8 times as long.
   */
  async backlog(load: Load, durationMs: number) {
    let report = await this.run({ mode: 'closed', loads: [load], durationMs });
    for (const factor of [2, 4, 8]) {
      if (report.loads[0]!.answered > 0) break;
      report = await this.run({ mode: 'closed', loads: [load], durationMs: factor * durationMs });
    }
    const slices = withAnswers(report.slices);
    if (slices.length === 0) throw new Error(`nothing was answered in ${8 * durationMs} ms`);
    const costs = slices.flatMap(({ cpuUs, answered }) => (cpuUs === null ? [] : [cpuUs / answered]));
    return {
      perS: slices.map(({ ms, answered }) => (1000 * answered) / ms),
      costUs: costs.length === slices.length ? costs : null,
      /** Mean of the whole time, for runs too short for a median of slices. */
      meanCostUs: report.serverCpuUs === null ? null : report.serverCpuUs / report.loads[0]!.answered,
      meanPerS: (1000 * report.loads[0]!.answered) / report.durationMs,
      busyShare: report.serverCpuUs === null ? null : report.serverCpuUs / (1000 * report.durationMs),
      services: report.services!,
      load: report.loads[0]!,
    };
  }

  /** Sends at the rates of the loads. Latencies are those of the first load, lost requests those of all. */
  async atRate(loads: readonly Load[], durationMs: number, onConnected?: () => void) {
    const report = await this.run({ mode: 'open', loads, durationMs }, onConnected);
    const [first] = report.loads;
    const sum = (of: (load: (typeof report.loads)[number]) => number) =>
      report.loads.reduce((total, load) => total + of(load), 0);
    const due = Math.max(
      1,
      sum((load) => load.due),
    );
    const [intended, naive] = [Latencies.decode(first!.intended), Latencies.decode(first!.naive)];
    const { p50Us, p90Us, p99Us, p999Us } = intended.percentiles();
    const idleUs = this.idleCoreShare * 1000 * durationMs;
    const point: RatePoint = {
      ratePerS: loads[0]!.ratePerS,
      answeredPerS: (1000 * first!.answered) / durationMs,
      // A unit of mixed traffic is a frame of the first load and its share of the others.
      costUs:
        report.serverCpuUs === null || first!.answeredMeanwhile === 0
          ? null
          : Math.max(0, report.serverCpuUs - idleUs) / first!.answeredMeanwhile,
      p50Us,
      p90Us,
      p99Us,
      p999Us,
      naiveP99Us: naive.atUs(99),
      skippedShare: (sum((load) => load.skipped) + sum((load) => load.unanswered)) / due,
      refusedShare: sum((load) => load.refused) / due,
      lateShare: sum((load) => load.late) / due,
    };
    return { point, intended, naive, loads: report.loads };
  }
}

// One profile against one server: the cost of a unit under backlog and at rising rates, and the highest rate at which
// the p99 holds the target.

/** The first rate of every curve, which shows the cost of a unit on an almost idle server. */
const IDLE_RATE_PER_S = 100;
/** The rates of a curve rise by one factor, MAX_APART at most, to HIGHEST_SHARE of the rate under backlog. */
const HIGHEST_SHARE = 0.8;
const MAX_APART = 3;
/** Share of the rate under backlog at which the search begins, and of the knee at which all latencies are recorded. */
const START_SHARE = 0.25;
const RECORDED_SHARE = 0.8;

const PERCENTILES = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100];

/** Figures under backlog, of all rounds. */
export interface Backlog {
  readonly perS: Samples;
  readonly costUs: Samples | null;
  readonly busyShare: number | null;
  readonly services: string;
}

interface WayTools {
  readonly gauge: Gauge;
  readonly durations: Durations;
  readonly targetP99Us: number;
  noise(): Promise<Noise>;
}

/** One more round of backlog; rounds of all profiles alternate, so that a bad minute does not spoil one profile. */
export async function measureBacklog(
  gauge: Gauge,
  profile: Profile,
  durationMs: number,
  before?: Backlog,
): Promise<Backlog> {
  const { perS, costUs, busyShare, services } = await gauge.backlog(profile.backlog!, durationMs);
  const rounded = (values: readonly number[]) =>
    samplesOf(values.map((value) => Number(value.toPrecision(5))));
  const costs = costUs === null ? null : rounded([...(before?.costUs?.samples ?? []), ...costUs]);
  const isBusier = (busyShare ?? 0) >= (before?.busyShare ?? 0);
  return {
    perS: rounded([...(before?.perS.samples ?? []), ...perS]),
    costUs: costs,
    // The round in which the server was kept busiest has the service times that say most.
    busyShare: isBusier ? busyShare : before!.busyShare,
    services: isBusier ? services : before!.services,
  };
}

/** @param backlog of this profile, or for mixed traffic of its first load */
export async function measureWay(
  { gauge, durations, targetP99Us, noise }: WayTools,
  profile: Profile,
  backlog: Backlog,
): Promise<WayResult> {
  const quiet = await noise();
  const fullPerS = backlog.perS.median;
  const curve: RatePoint[] = [];
  let bytes = { sentBytesPerUnit: 0, receivedBytesPerUnit: 0 };
  for (const ratePerS of ratesOf(fullPerS)) {
    const { point, loads } = await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), durations.curveMs);
    curve.push(point);
    const { sentBytesPerUnit, receivedBytesPerUnit } = loads[0]!;
    // Bytes at the highest rate, where handshakes hardly count.
    bytes = { sentBytesPerUnit, receivedBytesPerUnit };
  }
  const found = await searchKnee({
    targetP99Us,
    startPerS: START_SHARE * fullPerS,
    bisections: durations.bisections,
    repeats: durations.repeats,
    measure: async (ratePerS) =>
      (await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), durations.stepMs)).point,
  });
  const knee: Knee | null = found.ratePerS === 0 ? null : { ...found, targetP99Us };
  const constant = knee && (await gauge.atRate(profile.loadsAt(knee.ratePerS, 'constant'), durations.stepMs));
  const recorded =
    knee &&
    (await gauge.atRate(profile.loadsAt(RECORDED_SHARE * knee.ratePerS, 'poisson'), durations.stepMs));
  return {
    name: profile.name,
    pointsPerUnit: profile.pointsPerUnit,
    connections: profile.loadsAt(1, 'poisson').reduce((sum, load) => sum + load.connections, 0),
    costBacklogUs: profile.backlog === undefined ? null : backlog.costUs,
    backlogPerS: profile.backlog === undefined ? null : backlog.perS,
    backlogBusyShare: profile.backlog === undefined ? null : backlog.busyShare,
    services: profile.backlog === undefined ? null : backlog.services,
    curve,
    knee,
    constant: constant?.point ?? null,
    intendedUs: recorded === null ? [] : percentilesOf(recorded.intended),
    naiveUs: recorded === null ? [] : percentilesOf(recorded.naive),
    ...bytes,
    noise: quiet,
  };
}

/** @param fullPerS rate under backlog */
export function ratesOf(fullPerS: number): number[] {
  const highest = Math.max(IDLE_RATE_PER_S, HIGHEST_SHARE * fullPerS);
  const steps = Math.ceil(Math.log(highest / IDLE_RATE_PER_S) / Math.log(MAX_APART));
  return Array.from(
    { length: steps + 1 },
    (_, at) => IDLE_RATE_PER_S * (highest / IDLE_RATE_PER_S) ** (at / Math.max(1, steps)),
  );
}

function percentilesOf(latencies: Latencies): [number, number][] {
  return PERCENTILES.map((percentile) => [percentile, latencies.atUs(percentile)]);
}
