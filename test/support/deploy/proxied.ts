// Two nodes behind a proxy with the file that ships, and a task that is put to them: node
// build/test/support/deploy/proxied.js PROXY TASK OPTIONS RESULT, in a network namespace of its own (unshare -n).
// OPTIONS and the file RESULT are JSON.
import { writeFileSync } from 'node:fs';
import { proxyNamed, startBehind, trustAnyCertificate } from './behind-proxy.js';
import { raiseFirewall } from './proxies.js';
import type { TaskOptions } from './task.js';
import { TASKS, type TaskName } from './tasks.js';

const [name = '', task = '', options = '{}', resultFile = ''] = process.argv.slice(2);
const run = TASKS[task as TaskName];
if (run === undefined || resultFile === '') throw new Error('usage: proxied.js PROXY TASK OPTIONS RESULT');
const given = JSON.parse(options) as TaskOptions;
trustAnyCertificate();
// As docs/operations.md starts a node behind one of these files.
const env = { HEXCODES_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/24' };
if (given.boundsDownBy !== undefined) raiseFirewall(proxyNamed(name), given.boundsDownBy);
const behind = await startBehind(proxyNamed(name), {
  isTls: given.isTls ?? true,
  speedUp: given.speedUp ?? 1,
  ...(given.boundsDownBy === undefined ? {} : { boundsDownBy: given.boundsDownBy }),
  env,
});
try {
  writeFileSync(resultFile, JSON.stringify(await run(behind, given)));
} finally {
  await behind.stop();
}
process.exit(0);
