// A whole bench, part by part: the generator's own limit, the kernel ladder, memory, five profiles, sizes, speed-ups,
// and the noise of the machine before, between and after.

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bench } from 'tinybench';
import { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import {
  areQuiet,
  commitNow,
  machineNow,
  measureNoise,
  type Noise,
  watchSteal,
  workSpread,
} from '../processes/machine.js';
import {
  ControlProcess,
  CoreSpeed,
  GeneratorProcess,
  measureConversions,
  ServiceProcess,
  type Subject,
} from '../processes/pinned-process.js';
import { landPositions, POSITIONS } from '../traffic/traffic.js';
import { type Backlog, Gauge, measureBacklog, measureWay, QuietGuard } from './gauge.js';
import { type Durations, PROFILES, type Profile, SIZES, searchKnee, sizeLoad } from './knee-search.js';
import {
  type LadderStep,
  RESULTS_FORMAT,
  type Results,
  type SizeResult,
  type SpeedUp,
  samplesOf,
  type WayResult,
  withoutImpossible,
} from './results.js';

// The speed-up of several processes of the service over one, each number on as many cores. The generator may need one
// of these cores, which would lower the throughput, so the speed-up is computed from CPU time: n × cost of one ÷ cost
// of n. It includes the costs of shared caches, memory and the system, all that processes without common state can
// lose.
const MAX_PROCESSES = 64;
/** With fewer connections for each process the system does not distribute them evenly. */
const CONNECTIONS_PER_PROCESS = 64;

async function measureSpeedUps(
  gaugeOf: (subject: Subject) => Gauge,
  durations: Durations,
): Promise<SpeedUp[]> {
  const costs: { processes: number; samples: readonly number[] }[] = [];
  for (const processes of countsUpTo(
    Math.min(MAX_PROCESSES, availableParallelism()),
    durations.isEveryProcessCount,
  )) {
    const service = await ServiceProcess.start(processes);
    try {
      const load = { ...PROFILES[0]!.backlog!, connections: CONNECTIONS_PER_PROCESS * processes };
      const { costUs } = await gaugeOf(service).backlog(load, durations.speedUpMs);
      costs.push({ processes, samples: costUs! });
    } finally {
      await service.stop();
    }
  }
  const alone = samplesOf(costs[0]!.samples).median;
  return costs.map(({ processes, samples }) => ({
    processes,
    speedUp: samplesOf(samples.map((cost) => Number(((processes * alone) / cost).toPrecision(5)))),
  }));
}

/** Every number, or powers of two and the last. */
function countsUpTo(cores: number, isEvery: boolean): number[] {
  const all = Array.from({ length: cores }, (_, at) => at + 1);
  return isEvery ? all : all.filter((count) => count === cores || Number.isInteger(Math.log2(count)));
}

/** Points of each task: tasks of less than 10 µs would measure the clock. */
const TASK_POINTS = 4096;
const WARM_UP_ROUNDS = 30;

interface Step {
  readonly name: string;
  run(firstPoint: number): void;
}

function measureLadder(library: Hexcodes, rounds: number): LadderStep[] {
  const pairs = landPositions(library);
  const records = library.encodeBatch(pairs);
  const codes = Array.from({ length: POSITIONS }, (_, at) =>
    String.fromCharCode(...records.subarray(at * 20, at * 20 + 19)).replace(/\0+$/, ''),
  );
  const batches = (size: number) => (first: number) => {
    for (let at = first; at < first + TASK_POINTS; at += size)
      library.encodeBatch(pairs.subarray(2 * at, 2 * (at + size)));
  };
  const steps: Step[] = [
    {
      name: 'encode() of one position to an object',
      run: (first) => {
        for (let at = first; at < first + TASK_POINTS; at++)
          library.encode(pairs[2 * at]!, pairs[2 * at + 1]!);
      },
    },
    ...[1, 64, 1024, 4096].map((size) => ({ name: `encodeBatch() of ${size}`, run: batches(size) })),
    {
      name: 'decode() of one text to an object',
      run: (first) => {
        for (let at = first; at < first + TASK_POINTS; at++) library.decode(codes[at]!);
      },
    },
    {
      name: 'decodeBatch() of 4096',
      run: (first) => void library.decodeBatch(records.subarray(20 * first, 20 * (first + TASK_POINTS))),
    },
  ];
  const times = steps.map(() => [] as number[]);
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    const bench = new Bench({ concurrency: null, iterations: 1, time: 0, warmup: false, throws: true });
    const first = (round * TASK_POINTS) % POSITIONS;
    // A different step is first in each round, so no step always finds the caches as the same other step left them.
    for (let k = 0; k < steps.length; k++) {
      const { name, run } = steps[(k + round) % steps.length]!;
      bench.add(name, () => run(first), { async: false });
    }
    bench.runSync();
    if (round < WARM_UP_ROUNDS) continue;
    for (const [at, { name }] of steps.entries()) {
      const { result } = bench.getTask(name)!;
      if (result.state !== 'completed') throw new Error(`${name} is ${result.state}`);
      times[at]!.push((result.latency.p50 * 1e6) / TASK_POINTS);
    }
  }
  return steps.map(({ name }, at) => ({
    name,
    nsPerPoint: samplesOf(times[at]!.map((ns) => Number(ns.toPrecision(4)))),
  }));
}

export interface BenchOptions {
  readonly durations: Durations;
  readonly isQuick: boolean;
  readonly seed: number;
  readonly targetP99Us: number;
  /** A server elsewhere; undefined: one is started here. */
  readonly target: Subject | undefined;
  /** Profiles to measure; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** The part that is measured now, and the share of the whole that is done. */
  onProgress(text: string, share: number): void;
}

const MEMORY_EVERY_MS = 1000;

export async function runBench(options: BenchOptions): Promise<Results> {
  const { durations, target, onProgress } = options;
  const startMs = performance.now();
  const profiles = PROFILES.filter(({ name }) => options.only?.includes(name) ?? true);
  let plannedMs = plannedMsOf(durations, profiles, target !== undefined);
  let doneMs = 0;
  let part = '';
  const spend = (ms: number): void => {
    onProgress(part, Math.min(0.99, doneMs / plannedMs));
    doneMs += ms;
  };
  const begin = (text: string): void => {
    part = text;
    onProgress(part, Math.min(0.99, doneMs / plannedMs));
  };
  const noises: Noise[] = [];
  const core = target === undefined ? await CoreSpeed.start() : undefined;
  const guard = new QuietGuard(durations.againMs, core);
  const noise = async (): Promise<Noise> => {
    const ms = durations.noiseMs;
    spend(ms);
    noises.push(await guard.run(ms, () => measureNoise(ms)));
    return noises.at(-1)!;
  };
  const steal = watchSteal();
  const machine = machineNow();
  begin('noise of the machine');
  await noise();
  begin('kernel ladder');
  const library = await Hexcodes.load();
  const ladder = measureLadder(library, durations.ladderRounds);

  begin('files');
  // The command of this package: a server elsewhere says nothing about it.
  const conversions =
    target === undefined ? await measureConversions(landPositions(library), durations.conversionRows) : [];

  // Parts without a planned time count with the time that they took.
  const asideMs = performance.now() - startMs - doneMs;
  doneMs += asideMs;
  plannedMs += asideMs;
  const generator = await GeneratorProcess.start();
  const own = target === undefined ? await ServiceProcess.start() : undefined;
  const overTime: [number, number][] = [];
  const watch = setInterval(() => {
    if (own?.isRunning === true)
      overTime.push([Math.round((performance.now() - startMs) / 1000), own.memory().bytes]);
  }, MEMORY_EVERY_MS);
  try {
    const gaugeOf = (subject: Subject, sampleEvery = 100, itsGuard = new QuietGuard(0, undefined)) =>
      new Gauge({
        generator,
        subject,
        seed: options.seed,
        warmUpMs: durations.warmUpMs,
        guard: itsGuard,
        sampleEvery,
        onJob: spend,
      });
    begin('limit of the generator');
    const control = target === undefined ? await measureControl(gaugeOf, durations) : null;
    const gauge = gaugeOf(target ?? own!, 100, guard);
    begin('memory of connections');
    const held = own === undefined ? null : await measureMemory(own, gaugeOf(own), durations);

    begin('warming up');
    for (const { backlog } of profiles)
      if (backlog !== undefined) await gaugeOf(gauge.subject).backlog(backlog, durations.heatMs);
    const backlogs = new Map<Profile, Backlog>();
    for (let round = 0; round < durations.rounds; round++)
      for (const profile of profiles.filter(({ backlog }) => backlog !== undefined)) {
        begin(`${profile.name}: backlog`);
        backlogs.set(
          profile,
          await measureBacklog(gauge, profile, durations.backlogMs, backlogs.get(profile)),
        );
      }
    begin('the service at rest');
    if (own !== undefined) gauge.idleCoreShare = await measureIdle(own, durations.curveMs);
    const ways: WayResult[] = [];
    for (const profile of profiles) {
      begin(`${profile.name}: rates and knee`);
      const backlog = backlogs.get(profile) ?? (await backlogOfFirst(gauge, profile, backlogs, durations));
      ways.push(
        await measureWay({ gauge, durations, targetP99Us: options.targetP99Us, noise }, profile, backlog),
      );
    }
    const sizes: SizeResult[] = [];
    for (const { kind, points } of SIZES) {
      begin(`${kind} of ${points} points`);
      const { meanPerS, meanCostUs } = await gauge.backlog(sizeLoad(kind, points), durations.sizeMs);
      sizes.push({ kind, points, costUs: meanCostUs, pointsPerS: points * meanPerS });
    }
    const peakBytes = own?.memory().peakBytes ?? 0;
    await own?.stop();
    begin('speed-up of processes');
    const speedUps = own === undefined ? [] : await measureSpeedUps(gaugeOf, durations);
    begin('noise of the machine');
    await noise();
    const stealShare = steal();
    // The core of a server elsewhere cannot be measured: the noise controls tell whether the generator's machine kept
    // its speed.
    const worst = core === undefined ? { ...guard.worst, slowness: workSpread(noises) } : guard.worst;
    onProgress('done', 1);
    return withoutImpossible({
      format: RESULTS_FORMAT,
      tool: 'hexcodes bench',
      version: VERSION,
      commit: commitNow(),
      date: new Date().toISOString().slice(0, 19).concat('Z'),
      tookS: Math.round((performance.now() - startMs) / 1000),

      seed: options.seed,
      isQuick: options.isQuick,
      target: target?.base ?? null,
      node: process.version,
      machine: { ...machine, stealShare, counted: worst },

      noise: noises,
      isQuietEnough: areQuiet(noises, worst),
      control,
      ladder,
      ways,
      sizes,
      speedUps,
      memory: held && { ...held, peakBytes, overTime },
      conversions,
      idleCoreShare: own === undefined ? null : gauge.idleCoreShare,
    });
  } finally {
    clearInterval(watch);
    generator.end();
    core?.end();
    await own?.stop();
  }
}

/** Runs the generator against a server that does nothing: no rate above the result can be measured here. */
async function measureControl(
  gaugeOf: (subject: Subject, sampleEvery: number) => Gauge,
  durations: Durations,
) {
  const control = await ControlProcess.start();
  try {
    const gauge = gaugeOf({ base: control.base, key: '', pids: [control.pid] }, 0);
    const single = PROFILES[0]!;
    const { perS } = await gauge.backlog(single.backlog!, durations.backlogMs);
    const backlogPerS = samplesOf(perS).median;
    const { ratePerS } = await searchKnee({
      targetP99Us: 10_000,
      startPerS: backlogPerS / 4,
      bisections: 1,
      repeats: 0,
      measure: async (rate) => (await gauge.atRate(single.loadsAt(rate, 'poisson'), durations.curveMs)).point,
    });
    return { backlogPerS, openPerS: ratePerS };
  } finally {
    control.end();
  }
}

/** The share of a core that the warmed-up service takes without load. */
async function measureIdle(own: ServiceProcess, ms: number): Promise<number> {
  const before = own.cpuUs();
  await sleep(ms);
  return (own.cpuUs() - before) / (1000 * ms);
}

async function measureMemory(own: ServiceProcess, gauge: Gauge, { heldConnections }: Durations) {
  const idleBytes = own.memory().bytes;
  const loads = PROFILES.find(({ name }) => name === 'stream')!
    .loadsAt(1, 'poisson')
    .map((load) => ({ ...load, connections: heldConnections }));
  // A short run first, so that the cost of the first connections is not counted.
  await gauge.run({ mode: 'hold', loads, durationMs: 100 });
  const before = own.memory().bytes;
  let heldBytes = before;
  await gauge.run({ mode: 'hold', loads, durationMs: 500 }, () => {
    heldBytes = own.memory().bytes;
  });
  return { idleBytes, perConnectionBytes: Math.max(0, Math.round((heldBytes - before) / heldConnections)) };
}

/** Mixed traffic has no backlog of its own: its rates follow from the backlog of the stream, measured before or now. */
async function backlogOfFirst(
  gauge: Gauge,
  profile: Profile,
  backlogs: ReadonlyMap<Profile, Backlog>,
  { backlogMs }: Durations,
): Promise<Backlog> {
  const { kind } = profile.loadsAt(1, 'poisson')[0]!;
  const same = PROFILES.find(({ name }) => name === kind)!;
  return backlogs.get(same) ?? (await measureBacklog(gauge, same, backlogMs));
}

/** The expected duration: that of the search for a knee is partly unknown in advance. */
function plannedMsOf(each: Durations, profiles: readonly Profile[], isElsewhere: boolean): number {
  const of = (ms: number) => each.warmUpMs + ms;
  const rates = 7 * of(each.curveMs) + (5 + each.bisections + each.repeats) * of(each.stepMs);
  const way = each.noiseMs + rates + of(each.heatMs) + each.rounds * of(each.backlogMs);
  const all = profiles.length * way + SIZES.length * of(each.sizeMs) + 2 * each.noiseMs;
  return isElsewhere ? all : all + 6 * of(each.curveMs) + 2 * of(each.speedUpMs);
}
