// The pauses between attempts to connect.
import { expect, test } from 'vitest';
import { pauseMs } from '#dist/hexcodes/client/stream/stream.js';

test('pauses double up to two seconds, and 18 attempts outlast a restart of some seconds', () => {
  const pauses = Array.from({ length: 17 }, (_, i) => pauseMs(i + 1));
  for (const [i, pause] of pauses.entries()) {
    const full = Math.min(2000, 200 * 2 ** i);
    expect(pause).toBeGreaterThanOrEqual(full / 2);
    expect(pause).toBeLessThanOrEqual(full);
  }
  expect(pauseMs(1000)).toBeLessThanOrEqual(2000);
  expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(10_000);
});
