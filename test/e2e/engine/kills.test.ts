// Workers killed every second, the server killed, the network cut: every point is among the answers once. The large
// twin is `npm run proof -- engine`.
import { expect, test } from 'vitest';
import { killsInNamespace } from '../../support/engine/run-kills.js';
import { natsNote, noNats } from '../../support/nats.js';

test.skipIf(noNats !== undefined)(
  `ten seconds of kills: nothing lost, nothing doubled${natsNote}`,
  async () => {
    const report = await killsInNamespace({ lengthMs: 10_000, serverKills: 1, framesPerSecond: 60 });
    expect(report).toMatchObject({ lost: 0, doubled: 0, wrong: 0, serverKills: 1 });
    expect(report.frames).toBeGreaterThan(300);
    expect(report.workerKills).toBeGreaterThan(5);
    expect(report.givenBack).toBeGreaterThan(100);
  },
  240_000,
);
