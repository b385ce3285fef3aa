// Stops and restarts under load: of nodes, of nodes behind a proxy, and of their database.
import { hasProgram, PROXIES } from '../support/deploy/proxies.js';
import { Proxied } from '../support/deploy/run-in-namespace.js';
import { databaseAway, stopUnderLoad } from '../support/load.js';
import { noPostgres } from '../support/postgres.js';
import { millisecondsOf, optionsOf, report } from './run-length.js';

// `npm run proof -- stops [--size 50]`: SIGTERM under full load, SIZE times, every other time with two processes.
// Counts what the service read and what was answered in whole; both must be equal. The small twin is
// test/e2e/server/processes.test.ts.
export async function proveStops(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '50' });
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

// `npm run proof -- rolling [--rounds 20] [--proxy HAProxy]`: rolling restarts of two nodes behind each proxy that is
// installed, with the files of deploy/ as they ship, under singles, batches, uploads and streams of the client. Needs
// root.
export async function proveRolling(args: string[]): Promise<void> {
  const values = optionsOf(args, { rounds: '20', proxy: undefined });
  const wanted = PROXIES.filter(({ name }) => values.proxy === undefined || values.proxy === name);
  for (const { name, program } of wanted) {
    if (!hasProgram(program)) {
      console.log(`rolling: ${name} is not installed`);
      continue;
    }
    const nodes = new Proxied(name);
    const { done, faults, notes } = await nodes.run('rolling', { times: Number(values.rounds) });
    await nodes.stop();
    const [requests, points, reconnections] = notes;
    const reached = `${name}: ${done} restarts, ${requests} requests, ${points} points on streams, ${reconnections} reconnections`;
    report('rolling', reached, 0, faults);
  }
}

// `npm run proof -- away [--for 60s]`: two nodes on one PostgreSQL under load, the database stopped for a time and
// started again. No call may fail, and every point that was converted is stored once. The small twin is
// test/e2e/usage/quota.test.ts.
export async function proveAway(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '60s' });
  if (noPostgres !== undefined) throw new Error(noPostgres);
  const { requests, frames, points, storedPoints, faults } = await databaseAway(millisecondsOf(values.for));
  const counts = `${requests} requests, ${frames} frames, ${points} points, ${storedPoints} stored`;
  report('away', `PostgreSQL away for ${values.for}; ${counts}`, 0, faults);
}
