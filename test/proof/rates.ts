// `npm run proof -- rates [--ways single,batch,csv,stream,mixed] [--rounds 8] [--for 90s] [--tools FOLDER]
// [--state FILE]`: the CPU time of a message that the model predicts against the measured one, at six rates from 100/s
// to the knee, within 15 %. Two services take turns: one for the curve, one for the rates between its points.
// Start it as root in a session of its own, `setsid -w npm run proof -- rates`: services and tools are scheduled in
// real time.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Costs, leaveOneOut, worstOf } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import { madeResults } from '../support/capacity/made-results.js';
import { OutsideLoad, sleepsIn } from '../support/capacity/outside-load.js';
import {
  CoreSpeed,
  Gauge,
  GeneratorProcess,
  PROFILES,
  type Profile,
  QuietGuard,
  type RatePoint,
  type Results,
  ratesOf,
  ServiceProcess,
  samplesOf,
  Traffic,
  type WayResult,
  wasSentOnTime,
} from '../support/capacity/parts.js';
import { millisecondsOf, RunLength, report } from './run-length.js';

const MAX_ERROR = 0.15;
/** Share of the cells, each a rate of a way, that the proof asks for. */
const MIN_SHARE = 0.8;
/** Priority of this session, where the system schedules by sessions (autogroup): -20 to 19. */
const PRIORITY = -20;

/** Each way in a file of `--state`. */
interface Proved {
  readonly curve: WayResult | null;
  readonly rates: readonly AtRate[];
}

/**
 * Vegeta (single, batch, csv) and k6 (stream) drive the rates at which they send one by one, the generator of the bench
 * the others. Ways that the file of --state has are not measured again: one at a time needs no machine for itself for
 * long. --for bounds the low rates of a way, and a third of it the high ones.
 */
export default async function proveRates(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      ways: { type: 'string', default: PROFILES.map(({ name }) => name).join() },
      rounds: { type: 'string', default: '8' },
      for: { type: 'string' },
      tools: { type: 'string', default: '' },
      state: { type: 'string' },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-rates-'));
  const tool = (name: string): string => (values.tools === '' ? name : join(values.tools, name));
  const outside = new OutsideLoad(folder, await Traffic.load(), { vegeta: tool('vegeta'), k6: tool('k6') });
  try {
    writeFileSync('/proc/self/autogroup', String(PRIORITY));
  } catch {
    console.log('this session has no priority over others: figures may be missed because of them');
  }
  const proved: Record<string, Proved> =
    values.state !== undefined && existsSync(values.state)
      ? (JSON.parse(readFileSync(values.state, 'utf8')) as Record<string, Proved>)
      : {};
  const generator = await GeneratorProcess.start();
  const core = await CoreSpeed.start();
  const names = values.ways.split(',');
  const lengthOf = (share: number): RunLength =>
    new RunLength(Number(values.rounds), values.for && `${(share * millisecondsOf(values.for)) / 1000}s`);
  try {
    for (const name of names) {
      if (proved[name] !== undefined) continue;
      const profile = PROFILES.find((each) => each.name === name)!;
      proved[name] = await proveWay(profile, lengthOf, { generator, outside, core });
      if (values.state !== undefined) writeFileSync(values.state, `${JSON.stringify(proved)}\n`);
    }
  } finally {
    generator.end();
    core.end();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    '| way | by | rate/s | turns a message | CPU predicted | measured | error |\n|---|---|---|---|---|---|---|',
  );
  const faults: string[] = [];
  const counts: string[] = [];
  let [held, cells] = [0, 0];
  for (const name of names) {
    const lines = proved[name]!.rates.map((rate) => ({ line: lineOf(name, rate), error: errorOf(rate) }));
    for (const { line } of lines) console.log(line);
    // A figure that was never measured is a fault as well.
    const missed = lines.filter(({ error }) => !(Math.abs(error) <= MAX_ERROR));
    faults.push(...missed.map(({ line }) => line));
    cells += lines.length;
    held += lines.length - missed.length;
    counts.push(`${name} ${lines.length - missed.length} of ${lines.length}`);
  }
  const worst = worstOf(leaveOneOut(names.flatMap((name) => proved[name]!.curve ?? [])));
  if (worst !== undefined) {
    const { way, ratePerS, measuredUs, predictedUs } = worst;
    console.log(
      `leave-one-out of these curves: within ${(100 * Math.abs(predictedUs / measuredUs - 1)).toFixed(1)} % (worst: ${way} at ${ratePerS.toFixed(0)}/s)`,
    );
  }
  console.log(`within 15 %: ${counts.join(', ')}`);
  const isHeld = held >= MIN_SHARE * cells;
  if (isHeld) for (const fault of faults) console.log(`  beyond 15 %: ${fault}`);
  report('rates', `${held} of ${cells} cells within 15 % (aim 80 %)`, 1, isHeld ? [] : faults);
}

const errorOf = ({ plannedUs, measuredUs }: AtRate): number => plannedUs / measuredUs - 1;

function lineOf(name: string, rate: AtRate): string {
  const { by, ratePerS, turns, plannedUs, measuredUs } = rate;
  const error = errorOf(rate);
  const signed = `${error >= 0 ? '+' : ''}${(100 * error).toFixed(1)} %`;
  const us = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(1)} us`);
  return `| \`${name}\` | ${by} | ${ratePerS.toFixed(0)} | ${turns.toFixed(2)} | ${us(plannedUs)} | ${us(measuredUs)} | ${signed} |`;
}

// Figures of a service whose core neighbours share, who halve its speed for seconds: each is divided by the time of a
// piece of work on that core just before and after it.
/** Where others are at hand, a figure whose core changed its speed by more than this meanwhile does not count. */
const MAX_CHANGE = 0.15;

interface Seen {
  readonly ratePerS: number;
  readonly costUs: number;
  readonly turnsPerS: number;
}

/** Figures by name, each divided by the time of a piece of work on the service's core. */
class Figures {
  readonly #all = new Map<string, (Seen & { readonly change: number })[]>();
  #fastestUs = Number.POSITIVE_INFINITY;

  constructor(private readonly core: CoreSpeed) {}

  async measure(name: string, run: () => Promise<Seen>): Promise<void> {
    const before = await this.core.workUs();
    const seen = await run();
    const after = await this.core.workUs();
    this.#fastestUs = Math.min(this.#fastestUs, before, after);
    if (Number.isNaN(seen.costUs)) return;
    const costUs = seen.costUs / ((before + after) / 2);
    const change = Math.abs(before / after - 1);
    this.#all.set(name, [...(this.#all.get(name) ?? []), { ...seen, costUs, change }]);
  }

  /** Mean of the middle half. @returns NaN without any; times as on the core at its fastest */
  middle(name: string, of: keyof Seen): number {
    const every = (this.#all.get(name) ?? []).toSorted((a, b) => a.change - b.change);
    const steady = every.filter(({ change }) => change <= MAX_CHANGE);
    const all = (steady.length > 0 ? steady : every.slice(0, 1)).map((seen) => seen[of]);
    if (all.length === 0) return Number.NaN;
    const sorted = all.sort((a, b) => a - b);
    const quarter = Math.floor(sorted.length / 4);
    const kept = sorted.slice(quarter, sorted.length - quarter);
    const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
    return mean * (of === 'costUs' ? this.#fastestUs : 1);
  }
}

interface GaugedService {
  readonly service: ServiceProcess;
  readonly gauge: Gauge;
}

/** A service that is scheduled in real time, which takes root, and the gauge of its load. */
async function startGauged(
  generator: GeneratorProcess,
  seed: number,
  warmUpMs: number,
): Promise<GaugedService> {
  const service = await ServiceProcess.start();
  for (const pid of service.pids) spawnSync('chrt', ['--all-tasks', '--rr', '--pid', '1', String(pid)]);
  const guard = new QuietGuard(0, undefined);
  const gauge = new Gauge({ generator, subject: service, seed, warmUpMs, guard, onJob: () => {} });
  return { service, gauge };
}

/** CPU time that a service without load takes in a second, µs. */
async function restUsPerS(service: ServiceProcess, ms: number): Promise<number> {
  const beforeUs = service.cpuUs();
  await sleep(ms);
  return (1000 * (service.cpuUs() - beforeUs)) / ms;
}

// One way: its curve from one service and its six rates from another, a point of one after a point of the other, round
// by round.
const RATES = 6;
const FIRST_PER_S = 100;
/** Highest of the six rates, as a share of that under backlog: just below the knee, or as the generator can send. */
const LAST_SHARE = { single: 0.5, batch: 0.8, csv: 0.8, stream: 0.4, mixed: 0.4 } as const;
/** Rates at which the tools of others send one by one: beyond, they sleep for longer than the time between two. */
const MAX_OUTSIDE_PER_S = { single: 1200, batch: 1200, csv: 600, stream: 1200, mixed: 0 } as const;
/** Time of the high rates, of which a second has more messages, against that of the low ones. */
const HIGH_SHARE = 1 / 3;
const HEAT_MS = 5000;
const WARM_UP_MS = 500;
const EACH_MS = 1200;
/** At low rates a collection of garbage more or less shows in the CPU time of few messages. */
const LOW_PER_S = 300;
const LOW_MS = 2000;
const OUTSIDE_MS = 2000;
const REST = 'at rest';
const IDLE_MS = 2000;
/** V8 collects what a load has left some 8 s after its end: that is not a cost of the low rates that come then. */
const REST_MS = 12_000;

/** One of the six rates. */
interface AtRate {
  readonly by: string;
  readonly ratePerS: number;
  /** Turns of the event loop a message that the process slept before. */
  readonly turns: number;
  /** CPU time of the process ÷ messages, what it takes at rest included: by the model of a plan, and as it was. */
  readonly plannedUs: number;
  readonly measuredUs: number;
}

interface Tools {
  readonly generator: GeneratorProcess;
  readonly outside: OutsideLoad;
  readonly core: CoreSpeed;
}

/** @param lengthOf a share of the time: all low rates come before all high ones and backlog */
async function proveWay(
  profile: Profile,
  lengthOf: (share: number) => RunLength,
  { generator, outside, core }: Tools,
) {
  const { service: known, gauge: bench } = await startGauged(generator, 1000, WARM_UP_MS);
  const { service: other, gauge: fresh } = await startGauged(generator, 1000, WARM_UP_MS);
  try {
    const { name } = profile;
    // The mixed fleet is predicted from the ways of its parts.
    const parts = name === 'mixed' ? [profileOf('stream'), profileOf('csv')] : [profile];
    for (const gauge of [bench, fresh]) for (const part of parts) await gauge.backlog(part.backlog!, HEAT_MS);
    const fullPerS = 1e6 / (await bench.backlog(parts[0]!.backlog!, EACH_MS)).meanCostUs!;
    const asked = Array.from(
      { length: RATES },
      (_, at) => FIRST_PER_S * ((LAST_SHARE[name] * fullPerS) / FIRST_PER_S) ** (at / (RATES - 1)),
    );
    const figures = new Figures(core);
    const ours = (gauge: Gauge, of: Profile, ratePerS: number) => () => atRate(gauge, of, ratePerS);
    const theirs = (ratePerS: number): Promise<Seen> =>
      name === 'stream'
        ? outside.stream(other, ratePerS, OUTSIDE_MS)
        : outside.http(other, name as 'single', profile.pointsPerUnit, ratePerS, OUTSIDE_MS);
    const isOutside = (ratePerS: number): boolean => ratePerS <= MAX_OUTSIDE_PER_S[name];
    const curveOf = (part: Profile): number[] => (part === parts[0] ? ratesOf(fullPerS) : [FIRST_PER_S]);
    const isLow = (ratePerS: number): boolean => ratePerS <= Math.max(LOW_PER_S, MAX_OUTSIDE_PER_S[name]);
    const curvesAt = (low: boolean) =>
      parts.flatMap((part) =>
        curveOf(part)
          .filter((ratePerS) => isLow(ratePerS) === low)
          .map(
            (ratePerS) => () =>
              figures.measure(`${part.name}: curve ${ratePerS}`, ours(bench, part, ratePerS)),
          ),
      );
    const askedAt = (low: boolean) =>
      asked
        .filter((ratePerS) => isLow(ratePerS) === low)
        .map(
          (ratePerS) => () =>
            figures.measure(
              `at ${ratePerS}`,
              isOutside(ratePerS) ? () => theirs(ratePerS) : ours(fresh, profile, ratePerS),
            ),
        );
    const backlogsOf = (gauge: Gauge, figure: string) =>
      parts.map(
        (part) => () =>
          figures.measure(`${part.name}: ${figure}`, async () => ({
            ratePerS: 0,
            costUs: (await gauge.backlog(part.backlog!, EACH_MS)).meanCostUs!,
            turnsPerS: 0,
          })),
      );
    await sleep(REST_MS);
    let low = 0;
    for (const length = lengthOf(1); length.goesOn(low); low++) {
      await figures.measure(REST, async () => ({
        ...{ ratePerS: 1, costUs: await restUsPerS(known, IDLE_MS), turnsPerS: 0 },
      }));
      await inTurns(curvesAt(true), askedAt(true));
    }
    let high = 0;
    // Both have the same load after them: code that has run for long is compiled better.
    for (const length = lengthOf(HIGH_SHARE); length.goesOn(high); high++)
      await inTurns(
        [...curvesAt(false), ...backlogsOf(bench, 'backlog')],
        [...askedAt(false), ...backlogsOf(fresh, 'backlog of the other')],
      );
    console.log(`${name}: ${low} rounds of low rates, ${high} of high ones`);
    const ways = parts.map((part) => wayOf(part, curveOf(part), figures));
    const idleCoreShare = figures.middle(REST, 'costUs') / 1e6;
    console.log(`${name}: ${(100 * idleCoreShare).toFixed(2)} % of a core at rest`);
    for (const { name: of, curve } of ways)
      for (const { ratePerS, costUs } of curve)
        console.log(`${of}: curve ${ratePerS.toFixed(0)}/s ${costUs!.toFixed(1)} us`);
    const results = madeResults({ ways, sizes: [], idleCoreShare });
    const rates = asked.map((rate): AtRate => {
      const [ratePerS, measuredUs, turnsPerS] = (['ratePerS', 'costUs', 'turnsPerS'] as const).map((of) =>
        figures.middle(`at ${rate}`, of),
      ) as [number, number, number];
      return {
        by: isOutside(rate) ? (name === 'stream' ? 'k6' : 'vegeta') : 'hexcodes bench',
        ...{ ratePerS, measuredUs, turns: turnsPerS / ratePerS },
        plannedUs: predict(profile, ratePerS, results),
      };
    });
    return { curve: name === 'mixed' ? null : ways[0]!, rates };
  } finally {
    for (const service of [known, other]) await service.stop();
  }
}

/** The first of each, the second of each, and so on. */
async function inTurns(...all: readonly (readonly (() => Promise<void>)[])[]): Promise<void> {
  for (let at = 0; at < Math.max(...all.map(({ length }) => length)); at++)
    for (const each of all) await each[at]?.();
}

const profileOf = (name: Profile['name']): Profile => PROFILES.find((each) => each.name === name)!;

/** A run of the bench's generator, with the turns counted once its connections are open and warm. */
async function atRate(gauge: Gauge, profile: Profile, ratePerS: number): Promise<Seen> {
  let counting: Promise<number> | undefined;
  const ms = ratePerS < LOW_PER_S ? LOW_MS : EACH_MS;
  const { point } = await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), ms, () => {
    counting = turnsPerS(gauge.subject, WARM_UP_MS, ms);
  });
  return {
    ratePerS: point.answeredPerS,
    costUs: wasSentOnTime(point) ? point.costUs! : Number.NaN,
    turnsPerS: await counting!,
  };
}

async function turnsPerS({ pids }: Gauge['subject'], afterMs: number, ms: number): Promise<number> {
  const now = () => ({
    ms: performance.now(),
    sleeps: sleepsIn(readFileSync(`/proc/${pids[0]!}/status`, 'utf8')),
  });
  await sleep(afterMs);
  const from = now();
  await sleep(ms);
  const to = now();
  return (1000 * (to.sleeps - from.sleeps)) / (to.ms - from.ms);
}

/** Its costs are without what the service takes at rest, as those of a bench. */
function wayOf({ name }: Profile, rates: readonly number[], figures: Figures): WayResult {
  const made = madeResults().ways.find((way) => way.name === name)!;
  const curve = rates.flatMap((ratePerS): RatePoint[] => {
    const costUs =
      figures.middle(`${name}: curve ${ratePerS}`, 'costUs') - figures.middle(REST, 'costUs') / ratePerS;
    return Number.isNaN(costUs) ? [] : [{ ...made.curve[0]!, ratePerS, costUs }];
  });
  return { ...made, costBacklogUs: samplesOf([figures.middle(`${name}: backlog`, 'costUs')]), curve };
}

/** CPU time of a process at a rate, for each unit of a profile, as a plan reckons with it. */
function predict(profile: Profile, ratePerS: number, results: Results): number {
  const streams = profile
    .loadsAt(ratePerS, 'poisson')
    .map(({ kind, points, ratePerS: messagesPerS }) => ({ kind, pointsPerMessage: points, messagesPerS }));
  const costs = new Costs(results);
  const loads = loadOf(streams, costs, 1, 1);
  const ofMessagesUs = loads.reduce((sum, { messagesPerS, costUs }) => sum + messagesPerS * costUs, 0);
  return (1e6 * costs.idleShare + ofMessagesUs) / ratePerS;
}
