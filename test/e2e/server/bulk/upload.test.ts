// An upload as fast as curl can, where no peer can fill the transport's receive buffer: the small twin of `npm run
// proof -- upload`.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { canHaveNamespaces } from '../../../support/network-namespace.js';

const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;

test.skipIf(!canHaveNamespaces() || !hasCurl)(
  'every row of a fast upload is answered, with small receive buffers (needs root and curl)',
  () => {
    const args = ['build/test/proof/main.js', 'upload', '--megabytes', '60', '--times', '2'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('no fault'), '']);
  },
  120_000,
);
