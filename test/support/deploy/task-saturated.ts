// Batches on 400 connections for a while, more than two nodes can answer. Every answer must be the service's own: one
// of the proxy for want of a server, or none, is a fault.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { COMMAND_KEY } from '../serve-command.js';
import { type Behind, NODE_ADDRESSES } from './behind-proxy.js';
import type { TaskOptions, TaskResult } from './task.js';
import type { Watched } from './watch-readiness.js';

const CONNECTIONS = 400;
const POINTS = 1000;
const PATH = '/v1/hexcodes/encode/batch';

interface Answered {
  readonly status: number;
  readonly isOurs: boolean;
}

export async function saturate({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { seconds = 10 } = options;
  const body = JSON.stringify({ points: Array.from({ length: POINTS }, () => [21.0288, 105.8525]) });
  const untilMs = performance.now() + seconds * 1000;
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const isTls = base.startsWith('https');
  const settings = { keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false };
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
    Array.from({ length: CONNECTIONS }, async () => {
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
