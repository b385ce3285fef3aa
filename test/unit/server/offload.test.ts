// Which work this thread does itself: all of it where it is alone.
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { inlineBlockBytes } from '#dist/server/offload.js';

test('blocks of any size on one core, small ones where a worker can run beside', () => {
  const isAlone = availableParallelism() === 1;
  for (const format of ['csv', 'ndjson', 'frames'] as const)
    expect(inlineBlockBytes(format) === Number.POSITIVE_INFINITY).toBe(isAlone);
});
