#!/usr/bin/env node
// `node tools/judges.mjs`: installs the packages of test/judges, which checks, proofs, some benches and the tests of
// `npm run test:all` need, where tests and benches find them; nothing, where they are installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { linkTo } from './packages/link-to.mjs';

const LOCK = readFileSync('test/judges/package-lock.json', 'utf8');
const INSTALLED = 'test/judges/node_modules/.installed';

if (!existsSync(INSTALLED) || readFileSync(INSTALLED, 'utf8') !== LOCK) {
  const { status } = spawnSync('npm', ['ci', '--prefix', 'test/judges'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(INSTALLED, LOCK);
}
linkTo('judges/node_modules', 'test/node_modules');
linkTo('../test/judges/node_modules', 'bench/node_modules');
