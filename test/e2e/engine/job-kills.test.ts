// Two workers of a job, killed again and again: every part as by a job that was left alone, and once in the manifest.
// The large twin is `npm run proof -- job`.
import { expect, test } from 'vitest';
import { runJob } from '../../support/engine/job-run.js';
import { natsNote, noNats } from '../../support/nats.js';

test.skipIf(noNats !== undefined)(
  `a job whose workers are killed${natsNote}`,
  async () => {
    const report = await runJob({ files: 10, rowsPerFile: 12_000, kills: 2, partSize: '100K' });
    expect(report).toMatchObject({ files: 10, rows: 120_000, failedParts: 0, workerKills: 4 });
    expect(report).toMatchObject({ differing: 0, doubled: 0, missing: 0, leftOver: 0 });
    expect(report.parts).toBeGreaterThan(15);
  },
  240_000,
);
