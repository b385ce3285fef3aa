// Two nodes behind a proxy with the file that ships, and the tasks that are put to them: node
// build/test/support/deploy/proxied.js PROXY, in a network namespace of its own (unshare -n), with a channel to its
// parent. A message is [TASK, OPTIONS], its answer what the task found; the first message says that the nodes serve.
import { type Behind, proxyNamed, startBehind, trustAnyCertificate } from './behind-proxy.js';
import { type Installed, raiseFirewall } from './proxies.js';
import type { TaskOptions, TaskResult } from './task.js';
import { TASKS, type TaskName } from './tasks.js';

/** Long enough for health checks every half second. */
const DRAIN_MS = 2000;

const proxy = proxyNamed(process.argv[2] ?? '');
trustAnyCertificate();
const behind: Behind = await startBehind(proxy, {
  args: ['--drain-ms', String(DRAIN_MS)],
  // As docs/operations.md starts a node behind one of these files.
  env: { HEXCODES_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/24' },
});
let configured = fileOf({});

function fileOf({ isTls = true, speedUp = 1, boundsDownBy }: TaskOptions): Installed {
  return { isTls, speedUp, ...(boundsDownBy === undefined ? {} : { boundsDownBy }) };
}

async function perform(task: TaskName, options: TaskOptions): Promise<TaskResult> {
  await behind.restore();
  const wanted = fileOf(options);
  if (JSON.stringify(wanted) !== JSON.stringify(configured)) {
    // Connections of a flood that have ended count for a while.
    if (wanted.boundsDownBy !== configured.boundsDownBy) raiseFirewall(proxy, wanted.boundsDownBy);
    await behind.reconfigure(wanted);
    configured = wanted;
  }
  return TASKS[task](behind, options);
}

process.on('message', ([task, options]: [TaskName, TaskOptions]) => {
  perform(task, options)
    .catch((error: Error): TaskResult => ({ done: 0, faults: [`${error.stack}`], notes: [] }))
    .then((result) => process.send?.(result));
});
process.on('disconnect', () => void behind.stop().finally(() => process.exit(0)));
process.send?.('ready');
