// Results of a bench as a machine of round numbers would give them: every cost is known, so a plan can be reckoned by
// hand.
import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { type RatePoint, type Results, samplesOf, type WayResult } from './parts.js';

export { samplesOf };

const QUIET = { p50Us: 1060, p99Us: 1100, maxUs: 1500, stealShare: 0, workUs: 95 };

function point(ratePerS: number, costUs: number): RatePoint {
  return {
    ...{ ratePerS, answeredPerS: ratePerS, costUs, p50Us: 100, p90Us: 150, p99Us: 300, p999Us: 900 },
    ...{ naiveP99Us: 300, skippedShare: 0, refusedShare: 0, lateShare: 0 },
  };
}

/** Services that took as long, as text. */
export function servicesOf(costUs: number, count: number): string {
  const services = build({ bitBucketSize: 32, numberOfSignificantValueDigits: 3 });
  services.recordValueWithCount(10 * costUs, count);
  return encodeIntoCompressedBase64(services);
}

/** @param costUs of one unit under backlog, of which each service takes exactly as long */
function way(name: WayResult['name'], pointsPerUnit: number, costUs: number): WayResult {
  const perS = 1e6 / costUs;
  return {
    ...{ name, pointsPerUnit, connections: 64, backlogBusyShare: 1 },
    costBacklogUs: samplesOf([0.9 * costUs, costUs, 1.1 * costUs]),
    backlogPerS: samplesOf([perS]),
    // A wake-up costs 50 µs while the process sleeps, and less the busier it is.
    curve: [point(100, costUs + 50), point(0.5 * perS, costUs + 10), point(0.8 * perS, costUs + 2)],
    services: servicesOf(costUs, 1000),
    knee: null,
    constant: null,
    ...{ intendedUs: [], naiveUs: [], sentBytesPerUnit: 100, receivedBytesPerUnit: 300, noise: QUIET },
  };
}

export function madeResults(changes: Partial<Results> = {}): Results {
  return {
    ...{
      format: 1,
      tool: 'hexcodes bench',
      version: '0',
      commit: null,
      date: '2026-11-22T00:00:00Z',
      tookS: 1,
      seed: 1,
    },
    ...{ isQuick: false, target: null, node: 'v20', noise: [QUIET], isQuietEnough: true },
    machine: {
      ...{ model: 'Made', cores: 4, memoryBytes: 16e9, platform: 'linux x64', kernel: '6', governor: null },
      ...{ stealShare: 0, load: 0 },
    },
    control: { backlogPerS: 100_000, openPerS: 80_000 },
    ladder: [{ name: 'encodeBatch() of 4096', nsPerPoint: samplesOf([20]) }],
    ways: [way('single', 1, 20), way('batch', 100, 150), way('csv', 1000, 100), way('stream', 1, 5)],
    sizes: [
      { kind: 'stream', points: 1, costUs: 5, pointsPerS: 200_000 },
      { kind: 'stream', points: 1024, costUs: 25, pointsPerS: 40e6 },
      { kind: 'stream', points: 4096, costUs: 85, pointsPerS: 48e6 },
      { kind: 'batch', points: 1, costUs: 30, pointsPerS: 30_000 },
      { kind: 'batch', points: 100, costUs: 150, pointsPerS: 600_000 },
      { kind: 'csv', points: 1000, costUs: 100, pointsPerS: 10e6 },
      { kind: 'csv', points: 10_000, costUs: 600, pointsPerS: 16e6 },
    ],
    speedUps: [1, 2, 3, 4].map((processes) => ({ processes, speedUp: samplesOf([processes]) })),
    memory: { idleBytes: 100e6, perConnectionBytes: 16_000, peakBytes: 200e6, overTime: [] },
    idleCoreShare: 0.002,
    ...changes,
  };
}
