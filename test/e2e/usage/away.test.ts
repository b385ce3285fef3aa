// The small twin of `npm run proof -- away`.
import { expect, test } from 'vitest';
import { databaseAway } from '../../support/load/database-away.js';
import { noPostgres } from '../../support/postgres.js';

test.skipIf(noPostgres !== undefined)(
  `under load the database stops and comes back: no call fails, and every point is stored once${noPostgres === undefined ? '' : ` (${noPostgres})`}`,
  async () => {
    const { requests, frames, points, faults } = await databaseAway(1500);
    expect(faults).toEqual([]);
    expect(requests).toBeGreaterThan(0);
    expect(frames).toBeGreaterThan(0);
    expect(points).toBeGreaterThan(0);
  },
  120_000,
);
