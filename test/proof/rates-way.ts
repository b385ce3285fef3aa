// One way of the proof `rates`: its curve from one service and its six rates from another, a point of one after a point
// of the other, round by round.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { wasSentOnTime } from '#dist/capacity/measure/knee-search.js';
import { ratesOf } from '#dist/capacity/measure/measure-way.js';
import { PROFILES, type Profile } from '#dist/capacity/measure/profiles.js';
import { type RatePoint, type Results, samplesOf, type WayResult } from '#dist/capacity/measure/results.js';
import { Costs } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import type { CoreSpeed, GeneratorProcess } from '#dist/capacity/processes/pinned-process.js';
import { madeResults } from '../support/capacity/made-results.js';
import { type OutsideLoad, sleepsIn } from '../support/capacity/outside-load.js';
import { Figures, type GaugedService, restUsPerS, type Seen, startGauged } from './figures.js';
import type { RunLength } from './run-length.js';

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
/** V8 collects what a load has left some 8 s after its end: that is no cost of the low rates that come then. */
const REST_MS = 12_000;

type Gauge = GaugedService['gauge'];

/** One of the six rates. */
export interface AtRate {
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
export async function proveWay(
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
    // Both have the same load behind them: code that has run for long is compiled better.
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
