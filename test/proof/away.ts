// `npm run proof -- away [--for 60s]`: two nodes on one PostgreSQL under load, the database stopped for a time and
// started again. No call may fail, and every point that was converted is stored once. The small twin is
// test/e2e/usage/quota.test.ts.
import { parseArgs } from 'node:util';
import { databaseAway } from '../support/load/database-away.js';
import { noPostgres } from '../support/postgres.js';
import { millisecondsOf, report } from './run-length.js';

export default async function proveAway(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { for: { type: 'string', default: '60s' } } });
  if (noPostgres !== undefined) throw new Error(noPostgres);
  const { requests, frames, points, storedPoints, faults } = await databaseAway(millisecondsOf(values.for));
  const counts = `${requests} requests, ${frames} frames, ${points} points, ${storedPoints} stored`;
  report('away', `PostgreSQL away for ${values.for}; ${counts}`, 0, faults);
}
