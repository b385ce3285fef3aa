// Before a run of tests, what has changed is transpiled, so that they run the source as it is. The run has a temporary
// folder of its own, which all its processes inherit as TMPDIR: whatever others leave in the shared one, or do there
// meanwhile, is not seen, and nothing of a run is left there.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @returns what vitest calls at the end of the run
 * @throws Error if the source cannot be built
 */
export default function setUpRun(): () => void {
  const { status } = spawnSync(process.execPath, ['build.mjs', '--tests'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('node build.mjs --tests failed, see above');
  const before = process.env.TMPDIR;
  // Short, as paths of sockets have at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'hx-'));
  // Servers that run as another user reach folders of theirs in it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    // Programs that a test ended may still write for a moment.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
}
