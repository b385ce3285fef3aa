// `npm run proof -- rates [--ways single,batch,csv,stream,mixed] [--rounds 8] [--tools FOLDER]`: the CPU time of a
// message that the model predicts against the measured one, at six rates from 100/s to the knee, within 15 %. Two
// services take turns: one for the curve of a bench, one for the rates between its points. Vegeta (single, batch, csv)
// and k6 (stream) drive the rates at which they send one by one; the generator of the bench drives the others. Start it
// as root in a session of its own, `setsid -w npm run proof -- rates`: services and tools are scheduled in real time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Gauge, QuietGuard } from '#dist/capacity/measure/gauge.js';
import { wasSentOnTime } from '#dist/capacity/measure/knee-search.js';
import { ratesOf } from '#dist/capacity/measure/measure-way.js';
import { PROFILES, type Profile } from '#dist/capacity/measure/profiles.js';
import { type RatePoint, type Results, samplesOf, type WayResult } from '#dist/capacity/measure/results.js';
import { Costs, leaveOneOut, worstOf } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import { GeneratorProcess } from '#dist/capacity/processes/pinned-process.js';
import { ServiceProcess } from '#dist/capacity/processes/service-process.js';
import { Traffic } from '#dist/capacity/traffic/traffic.js';
import { madeResults } from '../support/capacity/made-results.js';
import { OutsideLoad } from '../support/capacity/outside-load.js';
import { report } from './run-length.js';

const MOST_ERROR = 0.15;
const RATES = 6;
const FIRST_PER_S = 100;
/** Highest of the six rates, as a share of that under backlog: just below the knee, or as the generator can send. */
const LAST_SHARE = { single: 0.5, batch: 0.8, csv: 0.8, stream: 0.4, mixed: 0.4 } as const;
/** Rates at which the tools of others send one by one: beyond, they sleep for longer than the time between two. */
const MOST_OUTSIDE_PER_S = { single: 1200, batch: 1200, csv: 600, stream: 1200, mixed: 0 } as const;
const HEAT_MS = 5000;
const EACH_MS = 1200;
/** Longer, as these programs open their connections within it. */
const OUTSIDE_MS = 3000;
const IDLE_MS = 1000;
/** Priority of this session, where the system schedules by sessions (autogroup): -20 to 19. */
const PRIORITY = -20;

interface Seen {
  readonly ratePerS: number;
  readonly costUs: number;
}

export default async function proveRates(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      ways: { type: 'string', default: PROFILES.map(({ name }) => name).join() },
      rounds: { type: 'string', default: '8' },
      tools: { type: 'string', default: '' },
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
  const generator = await GeneratorProcess.start();
  const faults: string[] = [];
  console.log('| way | by | rate/s | CPU predicted | measured | error |\n|---|---|---|---|---|---|');
  let held = 0;
  const names = values.ways.split(',');
  /** Ways that were measured before: the mixed fleet is predicted from two of them. */
  const known = new Map<string, WayResult>();
  try {
    for (const name of names) {
      const profile = PROFILES.find((each) => each.name === name)!;
      const lines = await proveWay(profile, Number(values.rounds), { generator, outside, known });
      for (const { line } of lines) console.log(line);
      const missed = lines.filter(({ isHeld }) => !isHeld);
      faults.push(...missed.map(({ line }) => line));
      if (missed.length === 0) held++;
    }
    const worst = worstOf(leaveOneOut([...known.values()]));
    if (worst !== undefined) {
      const { way, ratePerS, measuredUs, predictedUs } = worst;
      console.log(
        `leave-one-out of these curves: within ${(100 * Math.abs(predictedUs / measuredUs - 1)).toFixed(1)} % (worst: ${way} at ${ratePerS.toFixed(0)}/s)`,
      );
    }
  } finally {
    generator.end();
    rmSync(folder, { recursive: true, force: true });
  }
  report('rates', `${held} of ${names.length} ways within 15 % at all ${RATES} rates`, 1, faults);
}

interface Tools {
  readonly generator: GeneratorProcess;
  readonly outside: OutsideLoad;
  readonly known: Map<string, WayResult>;
}

async function proveWay(profile: Profile, rounds: number, { generator, outside, known }: Tools) {
  const services = [await ServiceProcess.start(), await ServiceProcess.start()] as const;
  try {
    for (const { pids } of services)
      for (const pid of pids) spawnSync('chrt', ['--all-tasks', '--rr', '--pid', '1', String(pid)]);
    const [bench, fresh] = services.map(
      (subject) =>
        new Gauge({
          ...{ generator, subject, seed: 1000, warmUpMs: 500, guard: new QuietGuard(0, undefined) },
          onJob: () => {},
        }),
    ) as [Gauge, Gauge];
    const { name } = profile;
    const isMixed = name === 'mixed';
    const backlogOf = PROFILES.find((each) => each.name === (isMixed ? 'stream' : name))!.backlog!;
    for (const gauge of [bench, fresh]) {
      await gauge.backlog(backlogOf, HEAT_MS);
      if (isMixed) await gauge.backlog(PROFILES.find((each) => each.name === 'csv')!.backlog!, HEAT_MS);
    }
    const fullPerS = 1e6 / (await bench.backlog(backlogOf, EACH_MS)).meanCostUs!;
    const lastPerS = LAST_SHARE[name] * fullPerS;
    const asked = Array.from(
      { length: RATES },
      (_, at) => FIRST_PER_S * (lastPerS / FIRST_PER_S) ** (at / (RATES - 1)),
    );
    const figures = new Map<string, Seen[]>();
    const measure = async (figure: string, run: () => Promise<Seen>): Promise<void> => {
      const seen = await run();
      if (!Number.isNaN(seen.costUs)) figures.set(figure, [...(figures.get(figure) ?? []), seen]);
    };
    const ours = (gauge: Gauge, ratePerS: number) => async (): Promise<Seen> => {
      const { point } = await gauge.atRate(profile.loadsAt(ratePerS, 'poisson'), EACH_MS);
      return { ratePerS: point.answeredPerS, costUs: wasSentOnTime(point) ? point.costUs! : Number.NaN };
    };
    /** Without what the service spends at rest, which is much of the CPU time at 100/s. */
    const theirs = async (ratePerS: number): Promise<Seen> => {
      const seen = await (name === 'stream'
        ? outside.stream(services[1], ratePerS, OUTSIDE_MS)
        : outside.http(services[1], name as 'single', profile.pointsPerUnit, ratePerS, OUTSIDE_MS));
      const idleUs = 1000 * fresh.idleCoreShare * seen.ms;
      return { ...seen, costUs: seen.costUs - idleUs / ((seen.ratePerS * OUTSIDE_MS) / 1000) };
    };
    const isOutside = (ratePerS: number): boolean => ratePerS <= MOST_OUTSIDE_PER_S[name];
    const curve = ratesOf(fullPerS);
    for (let round = 0; round < rounds; round++) {
      for (const [at, gauge] of [bench, fresh].entries()) {
        const beforeUs = services[at]!.cpuUs();
        await sleep(IDLE_MS);
        gauge.idleCoreShare = (services[at]!.cpuUs() - beforeUs) / (1000 * IDLE_MS);
      }
      await measure('backlog', async () => ({
        ratePerS: 0,
        costUs: (await bench.backlog(backlogOf, EACH_MS)).meanCostUs!,
      }));
      // The mixed fleet is predicted from the ways of its parts, which were measured before.
      if (!isMixed) for (const ratePerS of curve) await measure(`curve ${ratePerS}`, ours(bench, ratePerS));
      for (const ratePerS of asked)
        await measure(`at ${ratePerS}`, isOutside(ratePerS) ? () => theirs(ratePerS) : ours(fresh, ratePerS));
    }
    const median = (figure: string, of: keyof Seen): number => {
      const all = (figures.get(figure) ?? []).map((seen) => seen[of]);
      return all.length === 0 ? Number.NaN : samplesOf(all).median;
    };
    if (!isMixed) {
      const point = madeResults().ways[0]!.curve[0]!;
      known.set(name, {
        ...madeResults().ways.find((way) => way.name === name)!,
        costBacklogUs: samplesOf([median('backlog', 'costUs')]),
        curve: curve
          .map((ratePerS): RatePoint => {
            const costUs = median(`curve ${ratePerS}`, 'costUs');
            return { ...point, ratePerS, costUs };
          })
          .filter(({ costUs }) => !Number.isNaN(costUs)),
      });
    }
    return asked.map((rate) => {
      const [ratePerS, costUs] = [median(`at ${rate}`, 'ratePerS'), median(`at ${rate}`, 'costUs')];
      const predictedUs = predict(profile, ratePerS, madeResults({ ways: [...known.values()], sizes: [] }));
      const error = predictedUs / costUs - 1;
      const by = isOutside(rate) ? (name === 'stream' ? 'k6' : 'vegeta') : 'hexcodes bench';
      const signed = `${error >= 0 ? '+' : ''}${(100 * error).toFixed(1)} %`;
      return {
        isHeld: Math.abs(error) <= MOST_ERROR,
        line: `| \`${name}\` | ${by} | ${ratePerS.toFixed(0)} | ${predictedUs.toFixed(1)} us | ${costUs.toFixed(1)} us | ${signed} |`,
      };
    });
  } finally {
    for (const service of services) await service.stop();
  }
}

/** CPU time of a unit of a profile at a rate of one process, as a plan reckons with it. */
function predict(profile: Profile, ratePerS: number, results: Results): number {
  const streams = profile
    .loadsAt(ratePerS, 'poisson')
    .map(({ kind, points, ratePerS: messagesPerS }) => ({ kind, pointsPerMessage: points, messagesPerS }));
  const loads = loadOf(streams, new Costs(results), 1, 1);
  return loads.reduce((sum, { messagesPerS, costUs }) => sum + messagesPerS * costUs, 0) / ratePerS;
}
