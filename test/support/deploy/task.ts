// The options and results of tasks that are put to two nodes behind a proxy, one call, and the first task: requests
// whose answers are 4xx in the ordinary run of things, more of them from one address than any bound of a proxy counts
// in its time: valid calls are answered all the while. Beside them what a proxy answers itself, in the service's own
// form: to guessed keys, of an address of their own, and a body that is too large.

import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_KEY } from '../server-process.js';
import type { Behind } from './proxies.js';

export interface TaskOptions {
  /** Default true. */
  readonly isTls?: boolean;
  /** Rounds, calls of one kind, or batches of a connection. */
  readonly times?: number;
  /** After each call of a load. */
  readonly pauseMs?: number;
  readonly megabytes?: number;
  /** Bytes a second of a slow client, as curl's --limit-rate; undefined: as fast as it can. */
  readonly rate?: string;
  /** The body comes in chunks, from a pipe, and not with its length. */
  readonly isChunked?: boolean;
  readonly seconds?: number;
  /** Over TLS too; where the proxy knows HTTP/2 curl chooses that. */
  readonly isHttp1?: boolean;
  /** Vehicles that report at each interval; ms of their line each way. */
  readonly vehicles?: number;
  readonly delayMs?: number;
  /** Path of the Go clients; without it there are those of Node alone. */
  readonly go?: string;
  /** Intervals of reports and the proxy's timers of idle clients are shorter by this factor. */
  readonly speedUp?: number;
  /** Bounds of connections are smaller by this factor, in the proxy's file and in its firewall. */
  readonly boundsDownBy?: number;
  /** Connections of a flood, and the addresses that they come from. */
  readonly peers?: number;
  readonly addresses?: number;
}

export interface TaskResult {
  readonly done: number;
  readonly faults: readonly string[];
  /** Further figures, for the record. */
  readonly notes: readonly string[];
}

export type Task = (behind: Behind, options: TaskOptions) => Promise<TaskResult>;

// One call over HTTPS with its whole answer.

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function callOnce(url: string, options: RequestOptions, body = ''): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const call = request(url, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      answer.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}

const CONNECTIONS = 30;
/** Guesses for each round of ordinary requests, as its 4xx: in 230 rounds more than the 2,000 of HAProxy's file. */
const GUESSES = 9;
/** A proxy counts guesses of ten seconds. */
const FORGOTTEN_MS = 15_000;
const VALID = { path: '/v1/hexcodes/encode?lat=21.0288&lng=105.8525', status: 200 };

/** Ordinary requests that the service answers with a 4xx. */
const ORDINARY: readonly {
  path: string;
  status: number;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}[] = [
  { path: '/v1/hexcodes/encode?lat=0&lng=0', status: 404 },
  { path: '/v1/hexcodes/HN-6GHP4-B3RFR', status: 404 },
  { path: '/v1/nothing', status: 404 },
  { path: '/v1/hexcodes/encode?lat=x&lng=0', status: 400 },
  { path: '/v1/hexcodes/encode', status: 405, method: 'PUT' },
  { path: VALID.path, status: 406, headers: { Accept: 'text/html' } },
  { path: '/v1/hexcodes/encode', status: 413, method: 'POST', body: `{"lat":${' '.repeat(20_000)}1}` },
  {
    path: '/v1/hexcodes/encode',
    status: 415,
    method: 'POST',
    headers: { 'Content-Type': 'a/b' },
    body: '{}',
  },
  { path: '/v1/hexcodes/stream', status: 426 },
];

/** The faults of an answer that a proxy gives itself. */
export function faultsOfProxy({ status, text, headers }: Answered): string[] {
  const isComplete = /^\d+$/.test(headers['retry-after'] ?? '') && headers['access-control-allow-origin'];
  const isRight = isErrorForm(text) && isComplete && headers['content-type'] === 'application/json';
  return isRight ? [] : [`${status} of the proxy: ${text.slice(0, 80)}`];
}

/** Whether an answer is an error of the service's form. */
function isErrorForm(text: string): boolean {
  try {
    const body = JSON.parse(text) as { status?: string; message?: string; request_id?: string };
    return (
      typeof body.status === 'string' &&
      typeof body.message === 'string' &&
      typeof body.request_id === 'string'
    );
  } catch {
    return false;
  }
}

export async function sendOrdinary({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { times = 230 } = options;
  const settings = { keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false };
  const own = new Agent(settings);
  const guesser = new Agent({ ...settings, localAddress: '127.0.0.9' });
  const counts = new Map<string, number>();
  let done = 0;
  const send = async (
    each: (typeof ORDINARY)[number],
    key = COMMAND_KEY,
    agent = own,
  ): Promise<Answered | undefined> => {
    const headers = {
      'X-API-Key': key,
      ...(each.body ? { 'Content-Type': 'application/json' } : {}),
      ...each.headers,
    };
    return callOnce(base + each.path, { agent, method: each.method ?? 'GET', headers }, each.body).catch(
      (error) => {
        const what = `${each.path.slice(0, 40)}: ${(error as NodeJS.ErrnoException).code}`;
        counts.set(what, (counts.get(what) ?? 0) + 1);
        return undefined;
      },
    );
  };
  const refused: Answered[] = [];
  const faults: string[] = [];
  await inTurns(
    Array.from({ length: GUESSES * times }, () => VALID),
    CONNECTIONS,
    async (each) => {
      const answer = await send(each, 'guessed', guesser);
      if (answer?.status === 429) refused.push(answer);
      else if (answer !== undefined && answer.status !== 401) faults.push(`a guessed key: ${answer.status}`);
    },
  );
  const calls = Array.from({ length: times }, () => [...ORDINARY, VALID]).flat();
  await inTurns(calls, CONNECTIONS, async (each) => {
    const answer = await send(each);
    if (answer === undefined) return;
    if (answer.status === each.status && (each.status === 200 || isErrorForm(answer.text))) done++;
    else {
      const what = `${each.path.slice(0, 40)}: ${answer.status} for ${each.status} ${answer.text.slice(0, 60)}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  });
  // The address is free again once the proxy has forgotten the guesses.
  const forgottenMs = performance.now() + FORGOTTEN_MS;
  while ((await send(VALID, COMMAND_KEY, guesser))?.status !== 200) {
    if (performance.now() > forgottenMs) faults.push('guesses are not forgotten');
    if (faults.length > 0) break;
    await sleep(200);
  }
  const tooLarge = await send({
    path: '/v1/hexcodes/encode/batch',
    status: 413,
    method: 'POST',
    body: `{"points":[${' '.repeat(5 << 20)}]}`,
  });
  if (tooLarge?.status !== 413 || !isErrorForm(tooLarge.text))
    faults.push(`413: ${tooLarge?.text.slice(0, 80)}`);
  faults.push(...refused.flatMap(faultsOfProxy));
  for (const agent of [own, guesser]) agent.destroy();
  faults.push(...[...counts].map(([what, n]) => `${n} × ${what}`));
  return {
    done,
    faults: faults.slice(0, 20),
    notes: [`${refused.length} answers of the proxy itself`],
  };
}

async function inTurns<T>(
  items: readonly T[],
  lanes: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let at = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (at < items.length) await run(items[at++]!);
    }),
  );
}
