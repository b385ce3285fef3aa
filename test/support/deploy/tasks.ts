// The tasks that proxied.ts puts to two nodes behind a proxy. Each says how much it did and names every fault.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { PASSED, sendInFlights, waysToSend } from '../flights.js';
import { REFUSALS, sendRefusedUpload, UPLOAD_CLIENTS } from '../refused-uploads.js';
import { COMMAND_KEY } from '../serve-command.js';
import { type Behind, NODE_ADDRESSES } from './behind-proxy.js';
import type { Task, TaskOptions, TaskResult } from './task.js';
import { sendBodies } from './task-bodies.js';
import { callBesideFlood } from './task-flood.js';
import { forgeAddresses } from './task-forged.js';
import { sendOrdinary } from './task-ordinary.js';
import { reportPaced } from './task-paced.js';
import { roll } from './task-rolling.js';
import type { Watched } from './watch-readiness.js';

// Batches on 400 connections for a while, more than two nodes can answer. Every answer must be the service's own: one
// of the proxy for want of a server, or none, is a fault.

const BUSY_CONNECTIONS = 400;
const POINTS = 1000;
const PATH = '/v1/hexcodes/encode/batch';

interface Answered {
  readonly status: number;
  readonly isOurs: boolean;
}

async function saturate({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { seconds = 10 } = options;
  const body = JSON.stringify({ points: Array.from({ length: POINTS }, () => [21.0288, 105.8525]) });
  const untilMs = performance.now() + seconds * 1000;
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
  const watching = watchReadiness(seconds);
  await Promise.all(
    Array.from({ length: BUSY_CONNECTIONS }, async () => {
      while (performance.now() < untilMs) {
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
  const { failed, tookMs } = await watching;
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
async function watchReadiness(seconds: number): Promise<Watched> {
  const addresses = NODE_ADDRESSES.map((address) => `${address}:9090`);
  const args = ['build/test/support/deploy/watch-readiness.js', String(seconds), ...addresses];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (bytes) => (text += bytes));
  await once(child, 'close');
  return JSON.parse(text) as Watched;
}

// Uploads through a proxy that the service refuses while most of them is still to come: every client must get the
// reason. So must one that sends small bodies in flights and reads after the last.

/** An upload that takes longer to be refused is named. */
const SLOW_MS = 5000;
const CONNECTIONS = 24;

async function sendRefused({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { times = 1, megabytes = 20, isBulkOnly = false } = options;
  const refusals = REFUSALS.filter(({ path }) => !isBulkOnly || path.endsWith('/bulk'));
  const faults: string[] = [];
  const notes: string[] = [];
  let done = 0;
  for (let time = 0; time < times; time++) {
    for (const client of UPLOAD_CLIENTS) {
      for (const refusal of refusals) {
        const startMs = performance.now();
        const fault = await sendRefusedUpload(client, base, COMMAND_KEY, refusal, megabytes);
        if (fault === undefined) done++;
        else faults.push(fault);
        const tookMs = performance.now() - startMs;
        if (tookMs > SLOW_MS) notes.push(`${client}, ${refusal.name}: ${(tookMs / 1000).toFixed(1)} s`);
      }
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
  return { done, faults, notes };
}

// Streams through a proxy while both nodes stop: each client gets the close code 1012, which says that it may connect
// again.

async function closeStreams({ base, nodes }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { times = 20 } = options;
  const url = `${base.replace('http', 'ws')}/v1/hexcodes/stream`;
  const sockets = Array.from(
    { length: times },
    () =>
      new WebSocket(url, 'hexcodes.v1.json', {
        headers: { 'X-API-Key': COMMAND_KEY },
        rejectUnauthorized: false,
      }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'message')));
  const closed = sockets.map((socket) => once(socket, 'close') as Promise<[code: number]>);
  await Promise.all(nodes.map((node) => node.stop()));
  const codes = (await Promise.all(closed)).map(([code]) => code);
  const faults = codes.filter((code) => code !== 1012).map((code) => `closed with ${code}`);
  return { done: times - faults.length, faults, notes: [] };
}

// Nodes that are killed while an answer is under way through a proxy: what its client gets must not look whole.

const KILLED_AFTER_MS = 3500;

/** The client is slow, so that the end of its answer is still in the nodes when they die. */
async function killNodes(behind: Behind, options: TaskOptions): Promise<TaskResult> {
  const sent = sendBodies(behind, { rate: '30M', megabytes: 60, ...options, times: 1 });
  await sleep(KILLED_AFTER_MS);
  for (const node of behind.nodes) node.child.kill('SIGKILL');
  await Promise.all(behind.nodes.map(({ exit }) => exit));
  const { done, faults } = await sent;
  if (done > 0) return { done: 0, faults: ['the answer was whole before the nodes were killed'], notes: [] };
  const looksWhole = faults.filter((fault) => fault.includes('curl ended with 0, 200'));
  return { done: 1 - looksWhole.length, faults: looksWhole, notes: faults };
}

export const TASKS = {
  bodies: sendBodies,
  flood: callBesideFlood,
  forged: forgeAddresses,
  killed: killNodes,
  ordinary: sendOrdinary,
  paced: reportPaced,
  refused: sendRefused,
  rolling: roll,
  saturated: saturate,
  streams: closeStreams,
} satisfies Record<string, Task>;

export type TaskName = keyof typeof TASKS;
