// Client, session and pool under lost, late, doubled and cut messages on the way.
import { expect, test } from 'vitest';
import { randomFrom } from '../../support/open-world.js';
import { simulateStream } from '../../support/simulated-stream.js';

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
console.log(`simulate: seed ${seed}`);

test('lost connections, late answers, a full pool: every point exactly once, in order', async () => {
  let connections = 0;
  for (let run = 0; run < 1000; run++) {
    const outcome = await simulateStream(randomFrom(seed + run), false);
    expect(outcome, `seed ${seed + run}`).toMatchObject({ fault: undefined, wasRefused: false });
    connections += outcome.connections;
  }
  expect(connections).toBeGreaterThan(1500);
});

test('a way that doubles or drops messages: the client refuses to go on, and no point is wrong', async () => {
  let refused = 0;
  for (let run = 0; run < 300; run++) {
    const outcome = await simulateStream(randomFrom(seed + run), true);
    expect(outcome.fault, `seed ${seed + run}`).toBeUndefined();
    if (outcome.wasRefused) refused++;
  }
  expect(refused).toBeGreaterThan(100);
});
