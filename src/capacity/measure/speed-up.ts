// How much more several processes of the service carry than one, each number on as many cores. Where the generator
// needs one of them, too, throughput would show that and not the service: the speed-up is reckoned from CPU time, n ×
// cost of one ÷ cost of n. It has what shared caches, memory and the system cost, which is all that processes without
// common state can lose.
import { availableParallelism } from 'node:os';
import { ServiceProcess, type Subject } from '../processes/service-process.js';
import type { Durations } from './durations.js';
import type { Gauge } from './gauge.js';
import { PROFILES } from './profiles.js';
import { type SpeedUp, samplesOf } from './results.js';

const MOST_PROCESSES = 64;
/** With fewer connections for each process the system does not deal them out evenly. */
const CONNECTIONS_PER_PROCESS = 64;

export async function measureSpeedUps(
  gaugeOf: (subject: Subject) => Gauge,
  durations: Durations,
): Promise<SpeedUp[]> {
  const costs: { processes: number; samples: readonly number[] }[] = [];
  for (const processes of countsUpTo(
    Math.min(MOST_PROCESSES, availableParallelism()),
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
export function countsUpTo(cores: number, isEvery: boolean): number[] {
  const all = Array.from({ length: cores }, (_, at) => at + 1);
  return isEvery ? all : all.filter((count) => count === cores || Number.isInteger(Math.log2(count)));
}
