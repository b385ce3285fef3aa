// Transpiles what has changed before a run of tests, so that they run the source as it is.
import { spawnSync } from 'node:child_process';

/** @throws Error if the source cannot be built */
export default function built(): void {
  const { status } = spawnSync(process.execPath, ['build.mjs', '--tests'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('node build.mjs --tests failed, see above');
}
