// Small twins of `npm run proof -- fair` and `-- soak`: honest requests beside some of the known abusers, and mixed
// load with faults, after which memory and descriptors are where they were.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const proof = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['build/test/proof/main.js', ...args], { encoding: 'utf8' });

test.each(['C1 frames', 'H3 csv ,'])(
  'every honest request is answered beside the abuser %s',
  async (name) => {
    // A failed request makes the proof fail, which rejects.
    const { stdout } = await proof('fair', '--only', name, '--for', '2s', '--net', 'here');
    expect(stdout).toContain(`| ${name} |`);
  },
  120_000,
);

test('a few seconds of mixed load with faults leave memory and descriptors where they were', async () => {
  const { stdout } = await proof('soak', '--for', '4s', '--parts', '1', '--seed', '7');
  expect(stdout).toContain('no fault');
});
