// `npm run proof -- scale [--for 30s] [--seed 1]`: fleets on NATS as a simulation of events, with the CPU times that
// `npm run bench -- engine` measured: one worker, one machine, ten, and the fleets for 10^8 and 10^9 points
// a second, in peace and with deaths; then what binds first where only workers are added. Every frame must be
// stored once.
import type { FleetPlan, FleetResult } from '../support/engine/fleet-plan.js';
import { simulateFleet } from '../support/engine/simulated-fleet.js';
import { millisecondsOf, optionsOf, report } from './run-length.js';

/** A frame of 16,384 points, on one core of the machine of the bench. To take one is counted as to hand one out. */
const MEASURED = {
  pointsPerFrame: 16_384,
  workerS: 0.0026,
  serverS: { take: 0.0006, handOut: 0.0006, store: 0.0007 },
};

const PEACE: Omit<FleetPlan, 'streams' | 'workers' | 'pointsPerSecond' | 'lengthS' | 'seed'> = {
  ...MEASURED,
  networkS: 0.0002,
  window: 32,
  maxAckPending: 4096,
  ackWaitS: 5,
  ...{ workerLifeS: Number.POSITIVE_INFINITY, serverLifeS: Number.POSITIVE_INFINITY },
  ...{ workerRestartS: 1, serverRestartS: 2 },
};

const STEPS = [
  { name: 'one worker, one stream', streams: 1, workers: 1, pointsPerSecond: 4e6 },
  { name: 'one machine of 8 cores', streams: 2, workers: 3, pointsPerSecond: 1.2e7 },
  { name: 'ten machines', streams: 20, workers: 30, pointsPerSecond: 1.2e8 },
  { name: '84 machines', streams: 168, workers: 252, pointsPerSecond: 1e9 },
];

export default async function proveScale(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '30s', seed: '1' });
  const lengthS = millisecondsOf(values.for) / 1000;
  const seed = Number(values.seed);
  const faults: string[] = [];
  let frames = 0;
  const simulated = (name: string, plan: FleetPlan): FleetResult => {
    const result = simulateFleet(plan);
    frames += result.frames;
    if (result.lost > 0) faults.push(`${name}: ${result.lost} frames lost`);
    return result;
  };

  console.log(
    '| fleet | | offered, M points/s | stored | p50 ms | p99 ms | workers busy | servers | again | refused |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  for (const { name, ...fleet } of STEPS) {
    const plan = { ...PEACE, ...fleet, lengthS, seed };
    console.log(rowOf(name, 'peace', plan, simulated(name, plan)));
    const deaths = { ...plan, workerLifeS: 30, serverLifeS: 120 };
    console.log(rowOf(name, 'deaths', deaths, simulated(name, deaths)));
  }

  console.log('\n| workers of one stream | stored, M points/s | workers busy | server busy |');
  console.log('|---|---|---|---|');
  for (const workers of [1, 2, 3, 4, 8, 16]) {
    const plan = {
      ...PEACE,
      streams: 1,
      workers,
      pointsPerSecond: 1e7,
      lengthS: Math.min(lengthS, 5),
      isBacklog: true,
      seed,
    };
    const { pointsPerSecond, workerLoad, serverLoad } = simulated(`${workers} workers`, plan);
    console.log(
      `| ${workers} | ${millions(pointsPerSecond)} | ${percent(workerLoad)} | ${percent(serverLoad)} |`,
    );
  }
  report('scale', `${frames.toLocaleString('en')} frames`, seed, faults);
}

function rowOf(name: string, weather: string, plan: FleetPlan, result: FleetResult): string {
  const cells = [
    name,
    weather === 'peace' ? weather : `${result.workerDeaths} workers, ${result.serverDeaths} servers die`,
    millions(plan.pointsPerSecond),
    millions(result.pointsPerSecond),
    (result.p50S * 1000).toFixed(0),
    (result.p99S * 1000).toFixed(0),
    percent(result.workerLoad),
    percent(result.serverLoad),
    result.redelivered,
    result.refused,
  ];
  return `| ${cells.join(' | ')} |`;
}

const millions = (points: number): string => (points / 1e6).toFixed(1);
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
