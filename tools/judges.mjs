#!/usr/bin/env node
// `node tools/judges.mjs`: installs the packages of test/judges, which checks, proofs, some benches and the tests of
// `npm run test:all` need, where tests and benches find them; nothing, where they are installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

const LOCK = readFileSync('test/judges/package-lock.json', 'utf8');
const INSTALLED = 'test/judges/node_modules/.installed';

if (!existsSync(INSTALLED) || readFileSync(INSTALLED, 'utf8') !== LOCK) {
  const { status } = spawnSync('npm', ['ci', '--prefix', 'test/judges'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(INSTALLED, LOCK);
}
for (const [folder, target] of [
  ['test', 'judges/node_modules'],
  ['bench', '../test/judges/node_modules'],
]) {
  rmSync(`${folder}/node_modules`, { force: true });
  symlinkSync(target, `${folder}/node_modules`);
}
