// `npm run proof -- mixes [--rounds 5]`: the CPU time of frames larger than that of the curve, and of kinds that come
// together, by the model from curves of single kinds, against that measured, on one service in turns. It is
// about how the surcharge of a wake-up is shared; the proof `rates` is about rates.
// Start it as root in a session of its own, as `rates`: the service is scheduled in real time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load, WayKind } from '#dist/capacity/generator/job.js';
import { sizeLoad } from '#dist/capacity/measure/profiles.js';
import { samplesOf } from '#dist/capacity/measure/results.js';
import { Costs } from '#dist/capacity/model/cost.js';
import { loadOf } from '#dist/capacity/model/sizing.js';
import { CoreSpeed, GeneratorProcess } from '#dist/capacity/processes/pinned-process.js';
import { madeResults } from '../support/capacity/made-results.js';
import { Figures, type GaugedService, restUsPerS, startGauged } from './figures.js';
import { optionsOf, report } from './run-length.js';

const MAX_ERROR = 0.15;
const RATES = [100, 300, 1000, 3000, 9000];
const POINTS = { stream: 1, single: 1, batch: 100 } as const;
type Kind = keyof typeof POINTS;
const KINDS = Object.keys(POINTS) as Kind[];
const LARGER = [1024, 4096];
const HEAT_MS = 3000;
const REST_MS = 12_000;
const EACH_MS = 1000;

interface Part {
  readonly kind: WayKind;
  readonly points: number;
  readonly perS: number;
}

const frames = (points: number, perS: number): Part => ({ kind: 'stream', points, perS });
const of = (kind: Kind, perS: number): Part => ({ kind, points: POINTS[kind], perS });
const MIXES: readonly (readonly Part[])[] = [
  ...[300, 1000, 3000].flatMap((perS) => LARGER.map((points) => [frames(points, perS)])),
  ...[150, 500, 1500].map((perS) => [of('stream', perS), of('single', perS)]),
  ...[150, 500].map((perS) => [of('stream', perS), of('batch', perS)]),
  ...[1000, 3000].map((perS) => [of('stream', perS), frames(4096, 100)]),
];

const CURVES = KINDS.flatMap((kind) => RATES.map((perS) => [of(kind, perS)]));
/** Measured under backlog. */
const SIZES: readonly Part[] = [
  ...KINDS.map((kind) => of(kind, 0)),
  ...LARGER.map((points) => frames(points, 0)),
];
const REST = 'at rest';

export default async function proveMixes(args: string[]): Promise<void> {
  const values = optionsOf(args, { rounds: '5' });
  const [generator, core] = [await GeneratorProcess.start(), await CoreSpeed.start()];
  const { service, gauge } = await startGauged(generator, 1, 300);
  const figures = new Figures(core);
  const measure = (name: string, ofUs: () => Promise<number>): Promise<void> =>
    figures.measure(name, async () => ({ ratePerS: 0, costUs: await ofUs(), turnsPerS: 0 }));
  const costOf = (name: string): number => figures.middle(name, 'costUs');
  try {
    const backlogUs = async (part: Part, ms: number): Promise<number> =>
      (await gauge.backlog(sizeLoad(part.kind, part.points), ms)).meanCostUs!;
    for (const part of SIZES) await backlogUs(part, HEAT_MS);
    await sleep(REST_MS);
    const runs = [...CURVES, ...MIXES].toSorted((a, b) => perSOf(a) - perSOf(b));
    const rounds = Number(values.rounds);
    for (let round = 0; round < rounds; round++) {
      await measure(REST, () => restUsPerS(service, EACH_MS));
      // Low rates first, as V8 collects what a load has left some seconds after it.
      for (const parts of runs) await measure(nameOf(parts), () => atRates(gauge, parts));
    }
    for (let round = 0; round < rounds; round++)
      for (const part of SIZES) await measure(backlogOf(part), () => backlogUs(part, EACH_MS / 2));
    const made = madeResults();
    const ways = made.ways
      .filter(({ name }) => KINDS.includes(name as Kind))
      .map((way) => ({
        ...way,
        costBacklogUs: samplesOf([costOf(backlogOf(of(way.name as Kind, 0)))]),
        curve: CURVES.filter(([part]) => part!.kind === way.name).map((parts) => ({
          ...way.curve[0]!,
          ratePerS: perSOf(parts),
          costUs: costOf(nameOf(parts)) - costOf(REST) / perSOf(parts),
        })),
      }));
    const sizes = LARGER.map((points) => {
      const part = frames(points, 0);
      return { kind: part.kind, points, costUs: costOf(backlogOf(part)), pointsPerS: 0 };
    });
    for (const { name, curve, costBacklogUs } of ways)
      console.log(
        `${name}: ${curve.map(({ ratePerS, costUs }) => `${ratePerS}/s ${costUs.toFixed(1)} us`).join(', ')}, backlog ${costBacklogUs.median.toFixed(1)} us`,
      );
    for (const { points, costUs } of sizes)
      console.log(`frames of ${points}: backlog ${costUs.toFixed(1)} us`);
    console.log(`at rest: ${(costOf(REST) / 1e4).toFixed(2)} % of a core`);
    console.log('| messages a second | CPU predicted | measured | error |\n|---|---|---|---|');
    const costs = new Costs({ ...made, ways, sizes, idleCoreShare: costOf(REST) / 1e6 });
    const faults: string[] = [];
    for (const parts of MIXES) {
      const [predictedUs, measuredUs] = [predict(costs, parts), costOf(nameOf(parts))];
      const error = predictedUs / measuredUs - 1;
      const line = `| ${nameOf(parts)} | ${predictedUs.toFixed(1)} us | ${measuredUs.toFixed(1)} us | ${error >= 0 ? '+' : ''}${(100 * error).toFixed(1)} % |`;
      console.log(line);
      if (!(Math.abs(error) <= MAX_ERROR)) faults.push(line);
    }
    report('mixes', `${MIXES.length - faults.length} of ${MIXES.length} within 15 %`, 1, faults);
  } finally {
    generator.end();
    core.end();
    await service.stop();
  }
}

const perSOf = (parts: readonly Part[]): number => parts.reduce((sum, { perS }) => sum + perS, 0);

const nameOf = (parts: readonly Part[]): string =>
  parts
    .map(
      ({ kind, points, perS }) =>
        `${perS} ${kind === 'stream' ? (points === 1 ? 'frames' : `frames of ${points}`) : kind}`,
    )
    .join(', ');

const backlogOf = ({ kind, points }: Part): string => `backlog of ${kind} ${points}`;

/** CPU time of the service, at rest included, for each of all messages. */
async function atRates(gauge: GaugedService['gauge'], parts: readonly Part[]): Promise<number> {
  const loads = parts.map(
    ({ kind, points, perS }): Load => ({
      ...{ kind, points, connections: points > POINTS.batch ? 8 : 128, depth: 4 },
      ...{ ratePerS: perS, arrivals: 'poisson', startTogether: 1 },
    }),
  );
  const { point, loads: reports } = await gauge.atRate(loads, EACH_MS);
  const answered = reports.reduce((sum, { answeredMeanwhile }) => sum + answeredMeanwhile, 0);
  return (point.costUs! * reports[0]!.answeredMeanwhile) / answered;
}

/** CPU time of the process, for each of all messages. */
function predict(costs: Costs, parts: readonly Part[]): number {
  const streams = parts.map(({ kind, points, perS }) => ({
    kind,
    pointsPerMessage: points,
    messagesPerS: perS,
  }));
  const busy = loadOf(streams, costs, 1, 1).reduce(
    (sum, { messagesPerS, costUs }) => sum + messagesPerS * costUs,
    0,
  );
  return (1e6 * costs.idleShare + busy) / perSOf(parts);
}
