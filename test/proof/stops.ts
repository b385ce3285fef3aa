// `npm run proof -- stops [--size 50]`: SIGTERM under full load, SIZE times, every other time with two processes.
// Counts what the service read and what was answered in whole; both must be equal. The small twin is
// test/e2e/server/processes.test.ts.
import { parseArgs } from 'node:util';
import { stopUnderLoad } from '../support/load/stop-under-load.js';
import { report } from './run-length.js';

export default async function proveStops(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { size: { type: 'string', default: '50' } } });
  const size = Number(values.size);
  const faults: string[] = [];
  const sums = { requests: 0, frames: 0, slowestMs: 0 };
  for (let i = 0; i < size; i++) {
    const settings = i % 2 === 0 ? [] : ['--processes', '2'];
    const result = await stopUnderLoad(settings, 100 + 50 * (i % 10));
    sums.requests += result.requests;
    sums.frames += result.frames;
    sums.slowestMs = Math.max(sums.slowestMs, result.stopMs);
    faults.push(...result.faults.map((fault) => `stop ${i + 1} (${settings.join(' ')}): ${fault}`));
  }
  const { requests, frames, slowestMs } = sums;
  const slowest = `slowest stop ${(slowestMs / 1000).toFixed(1)} s`;
  report('stops', `${size} stops, ${requests} requests, ${frames} frames, ${slowest}`, 0, faults);
}
