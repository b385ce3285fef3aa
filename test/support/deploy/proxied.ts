// Two nodes behind a proxy with the file that ships, and the tasks that are put to them: node
// build/test/support/deploy/proxied.js PROXY, in a network namespace of its own (unshare -n), with a channel to its
// parent. A message is [TASK, OPTIONS], its answer what the task found; the first message says that the nodes serve.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent, request } from 'node:https';
import {
  PASSED,
  refusalsOf,
  sendInFlights,
  sendRefusedUpload,
  UPLOAD_CLIENTS,
  waysToSend,
} from '../refused-uploads.js';
import { COMMAND_KEY } from '../server-process.js';
import {
  type Behind,
  type Installed,
  NODE_ADDRESSES,
  proxyNamed,
  raiseFirewall,
  startBehind,
  trustAnyCertificate,
} from './proxies.js';
import { sendOrdinary, type Task, type TaskOptions, type TaskResult } from './task.js';
import { sendBodies } from './task-bodies.js';
import { callBesideFlood, forgeAddresses } from './task-hostile.js';
import { reportPaced } from './task-paced.js';
import { killNodes, roll } from './task-restarts.js';
import type { Watched } from './watch-readiness.js';

// Each task says how much it did and names every fault.

// Batches on 400 connections at once, more than two nodes can answer. Every answer must be the service's own: one
// of the proxy for want of a server, or none, is a fault.

const BUSY_CONNECTIONS = 400;
const POINTS = 1000;
const PATH = '/v1/hexcodes/encode/batch';

interface Answered {
  readonly status: number;
  readonly isOurs: boolean;
}

async function saturate({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { times = 3 } = options;
  const body = JSON.stringify({ points: Array.from({ length: POINTS }, () => [21.0288, 105.8525]) });
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const isTls = base.startsWith('https');
  const settings = { keepAlive: true, maxSockets: BUSY_CONNECTIONS, rejectUnauthorized: false };
  const agent = isTls ? new Agent(settings) : new HttpAgent(settings);
  const post = (): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const call = (isTls ? request : httpRequest)(base + PATH, {
        agent,
        method: 'POST',
        headers: {
          'X-API-Key': COMMAND_KEY,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        },
      });
      call.on('response', (answer) => {
        answer.resume();
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, isOurs: answer.headers['x-request-id'] !== undefined }),
        );
      });
      call.on('error', reject);
      call.end(body);
    });
  const watching = watchReadiness();
  await Promise.all(
    Array.from({ length: BUSY_CONNECTIONS }, async () => {
      for (let time = 0; time < times; time++) {
        try {
          const { status, isOurs } = await post();
          count(isOurs ? `${status}` : `${status} of the proxy`);
        } catch (error) {
          count(`no answer: ${(error as NodeJS.ErrnoException).code}`);
        }
      }
    }),
  );
  agent.destroy();
  const { failed, tookMs } = await watching.end();
  const done = (counts.get('200') ?? 0) + (counts.get('503') ?? 0);
  const faults = [...counts]
    .filter(([what]) => !/^(200|503)$/.test(what))
    .map(([what, n]) => `${n} × ${what}`);
  if ((counts.get('200') ?? 0) === 0) faults.push('nothing was answered 200');
  if (failed > 0) faults.push(`${failed} of ${tookMs.length} probes of /readyz failed`);
  const notes = [...counts].map(([what, n]) => `${n} × ${what}`);
  const at = (share: number): string => (tookMs[Math.ceil(tookMs.length * share) - 1] ?? 0).toFixed(1);
  notes.push(`/readyz ${tookMs.length} times: median ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`);
  return { done, faults, notes };
}

/** Asks each node as a balancer does, in a process of its own: this one is busy itself. */
function watchReadiness(): { readonly end: () => Promise<Watched> } {
  const addresses = NODE_ADDRESSES.map((address) => `${address}:9090`);
  const args = ['build/test/support/deploy/watch-readiness.js', ...addresses];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (bytes) => (text += bytes));
  const closed = once(child, 'close');
  const end = async (): Promise<Watched> => {
    child.stdin.end();
    await closed;
    return JSON.parse(text) as Watched;
  };
  return { end };
}

// Uploads through a proxy that the service refuses while most of them is still to come: every client must get the
// reason. So must one that sends small bodies in flights and reads after the last.

const CONNECTIONS = 24;

async function sendRefused({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { megabytes = 12 } = options;
  const faults: string[] = [];
  let done = 0;
  for (const client of UPLOAD_CLIENTS) {
    // A proxy answers some of the others itself.
    for (const refusal of refusalsOf(client).filter(({ path }) => path.endsWith('/bulk'))) {
      const fault = await sendRefusedUpload(client, base, COMMAND_KEY, refusal, megabytes);
      if (fault === undefined) done++;
      else faults.push(fault);
    }
  }
  const calls = [...waysToSend()].flatMap((way) => PASSED.map((refusal) => ({ way, refusal })));
  let at = 0;
  const sendNext = async (): Promise<void> => {
    while (at < calls.length) {
      const { way, refusal } = calls[at++]!;
      const fault = await sendInFlights(base, COMMAND_KEY, refusal, way);
      if (fault === undefined) done++;
      else faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendNext));
  return { done, faults, notes: [] };
}

const TASKS = {
  bodies: sendBodies,
  flood: callBesideFlood,
  forged: forgeAddresses,
  killed: killNodes,
  ordinary: sendOrdinary,
  paced: reportPaced,
  refused: sendRefused,
  rolling: roll,
  saturated: saturate,
} satisfies Record<string, Task>;

export type TaskName = keyof typeof TASKS;

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
