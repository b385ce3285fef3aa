// Gives a run of tests a temporary folder of its own, which all its processes inherit as TMPDIR: whatever others leave
// in the shared one, or do there meanwhile, is not seen, and nothing of a run is left there.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns what vitest calls at the end of the run */
export default function ownTemp(): () => void {
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
