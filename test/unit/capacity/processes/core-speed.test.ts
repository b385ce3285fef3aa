// How fast the server's core is, asked of a process on it.
import { expect, test } from 'vitest';
import { CoreSpeed } from '#dist/capacity/processes/pinned-process.js';

test('the core is asked again and again', async () => {
  const core = await CoreSpeed.start();
  try {
    for (let asked = 0; asked < 3; asked++) expect(await core.workUs()).toBeGreaterThan(1);
  } finally {
    core.end();
    core.end();
  }
});
