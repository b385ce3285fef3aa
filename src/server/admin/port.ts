// The admin port, on plain node:http, for the machine itself and its orchestrator: a table of routes, each a method,
// a path and a handler. The port requires no key; a route that needs one checks it. The port lives in a thread of its
// own.

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { adminServer, faultBody } from '../../config/admin-server.js';
import { codeOf, JSON_TYPE, wordOf } from '../http/answers.js';
import { HeartbeatWatch } from '../observe/heartbeat.js';
import type { AdminAnswer, AdminCall, FromThread, PortStart, ToThread } from './port-thread.js';

// How the admin port of a supervisor listens and closes.

// Sentences for addresses on which the service cannot listen. uWebSockets.js reports only the failure; node:net,
// which tries the same address, reports the reason.

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** User of the port: words of a sentence, and the flags that change it. */
  readonly use: 'the service' | 'the admin port';
}

const FLAGS = {
  'the service': ['--port', '--host'],
  'the admin port': ['--admin-port', '--admin-host'],
} as const;

/** Default port of Prometheus, and of the admin port. */
const PROMETHEUS_PORT = 9090;

/** Reasons by the codes of errors, and whether another port or another host is the remedy. */
const REASONS: Readonly<Record<string, readonly [reason: string, wayOut: 'port' | 'host']>> = {
  EADDRINUSE: ['the port is in use', 'port'],
  EACCES: ['not permitted: ports below 1024 need a privilege', 'port'],
  EADDRNOTAVAIL: ['this machine has no such address', 'host'],
  ENOTFOUND: ['no host of this name is known', 'host'],
  EAI_AGAIN: ['no host of this name is known', 'host'],
  EAFNOSUPPORT: ['this machine has no addresses of this kind', 'host'],
};

/** @param error that says why, or what tryAddress has found */
export function listenSentence(
  { host, port, use }: ListenAddress,
  error: NodeJS.ErrnoException | number,
): string {
  const { code = '', message } =
    typeof error === 'number' ? { message: 'uWebSockets.js gives no reason' } : error;
  const [reason, wayOut] = REASONS[code] ?? [message, 'port'];
  const [portFlag, hostFlag] = FLAGS[use];
  const shown = host.includes(':') ? `[${host}]` : host;
  const isOfPrometheus = use === 'the admin port' && port === PROMETHEUS_PORT && code === 'EADDRINUSE';
  const remedy = isOfPrometheus
    ? `Prometheus itself listens on ${port}: ${portFlag} 9091, or another`
    : `${wayOut === 'port' ? portFlag : hostFlag} names another`;
  return `cannot listen on ${shown}:${port} for ${use}: ${reason} (${remedy})`;
}

/** Tries an address for a moment. @returns the port, or why it cannot be listened on */
export function tryAddress({ host, port }: ListenAddress): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => {
      const taken = (server.address() as AddressInfo).port;
      server.close(() => resolve(taken));
    });
  });
}

export interface AdminListener {
  readonly port: number;
  /** Closes the port and its open connections. */
  close(): Promise<void>;
}

/**
 * Rejects with a sentence if it cannot listen there.
 * @param names public host names of the port
 */
export async function openListener(
  host: string,
  port: number,
  names: readonly string[],
  answer: RequestListener,
): Promise<AdminListener> {
  const server = adminServer(host, names, answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Error(listenSentence({ host, port, use: 'the admin port' }, error)));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// Starts the thread that holds the admin port (port-thread.ts), answers the calls that it passes on, and restarts it
// when it ends.

const AGAIN_MS = 1000;
/** The thread needs little memory. Its old generation has no limit: a thread that reaches one ends the process. */
const LIMITS = { maxYoungGenerationSizeMb: 8 };

/**
 * Rejects with a sentence if the port cannot be listened on.
 * @param answer must not reject
 * @param failed called with a sentence when the thread has ended by itself
 */
async function openPortFront(
  start: Omit<PortStart, 'heartbeat'>,
  answer: (call: AdminCall) => Promise<AdminAnswer>,
  failed: (error: Error) => void,
): Promise<AdminListener> {
  let isClosing = false;
  let again: NodeJS.Timeout | undefined;
  let hung = (): void => {};
  const heartbeat = new HeartbeatWatch(() => hung());
  const listen = async (port: number): Promise<{ thread: Worker; port: number }> => {
    const workerData: PortStart = { ...start, port, heartbeat: heartbeat.begin() };
    const thread = new Worker(new URL('./port-thread.js', import.meta.url), {
      workerData,
      resourceLimits: LIMITS,
      name: 'admin port',
    });
    const taken = await new Promise<number>((resolve, reject) => {
      thread.on('message', (message: FromThread) => {
        if (message.kind === 'call') {
          const { id, call } = message;
          void answer(call).then(({ body, ...made }) => {
            // Outside the heap of the thread, and in one copy for all readers.
            const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body.slice();
            thread.postMessage({ kind: 'answer', id, answer: { ...made, body: bytes } } satisfies ToThread, [
              bytes.buffer,
            ]);
          });
        } else if (message.kind === 'listening') {
          resolve(message.port);
        } else {
          const { code, message: text } = message;
          const error = Object.assign(new Error(text), { code });
          reject(new Error(listenSentence({ host: start.host, port, use: 'the admin port' }, error)));
        }
      });
      thread.once('error', reject);
      hung = () => {
        void thread.terminate();
        reject(new Error('the thread of the admin port does not start'));
      };
    });
    thread.on('error', failed);
    const listening = { thread, port: taken };
    thread.once('exit', () => lose(listening, 'has ended'));
    hung = () => lose(listening, 'hangs');
    // Only the service decides how long the process runs.
    thread.unref();
    return listening;
  };
  let lost: Worker | undefined;
  const lose = ({ thread, port }: { thread: Worker; port: number }, how: string): void => {
    if (isClosing || lost === thread) return;
    lost = thread;
    heartbeat.end();
    void thread.terminate();
    failed(new Error(`the thread of the admin port ${how}; it is started again`));
    again = setTimeout(() => void restart(port), AGAIN_MS);
    again.unref();
  };
  let running = await listen(start.port);
  const restart = async (port: number): Promise<void> => {
    try {
      running = await listen(port);
    } catch (error) {
      heartbeat.end();
      failed(error as Error);
      if (!isClosing) again = setTimeout(() => void restart(port), AGAIN_MS);
    }
  };
  return {
    port: running.port,
    close: async () => {
      isClosing = true;
      heartbeat.end();
      clearTimeout(again);
      const { thread } = running;
      if (thread.threadId < 0) return;
      const ended = once(thread, 'exit');
      thread.ref();
      const message: ToThread = { kind: 'close' };
      thread.postMessage(message);
      await ended;
    },
  };
}

export type { AdminAnswer } from './port-thread.js';

export interface AdminRequest {
  readonly method: string;
  readonly path: string;
  /** The values of the path's `:name` segments, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The address of the peer, as Node writes it; '' if the connection is gone. */
  readonly peerAddress: string;
  /** The values of a header, joined by commas; undefined if absent. */
  header(lowerCaseName: string): string | undefined;
  /** The body; undefined if it exceeds the limit. May be called once. */
  body(limitBytes: number): Promise<Buffer | undefined>;
}

export interface AdminRoute {
  /** A route for GET answers HEAD too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/livez`, `/admin/v1/keys/:id`: a segment with a colon stands for any one segment. */
  readonly path: string;
  handle(request: AdminRequest): AdminAnswer | Promise<AdminAnswer>;
  /**
   * The page takes no parameter, key or query and is long: concurrent callers share one rendering, and renderings
   * take a bounded share of the event loop's time.
   */
  readonly isShared?: boolean;
}

/** Pause between two renderings, as a multiple of the last one's time: renderings take a tenth of the event loop. */
const REST_TIMES = 9;
const MAX_REST_MS = 1000;

/** Renders pages one at a time, with a pause between. */
class Renderer {
  #last: Promise<unknown> = Promise.resolve();
  #restedMs = 0;

  render(page: () => AdminAnswer | Promise<AdminAnswer>): Promise<AdminAnswer> {
    const rendered = this.#last.then(async () => {
      const waitMs = this.#restedMs - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
      const startMs = performance.now();
      try {
        return await page();
      } finally {
        const endMs = performance.now();
        this.#restedMs = endMs + Math.min(MAX_REST_MS, REST_TIMES * (endMs - startMs));
      }
    });
    this.#last = rendered.catch(() => {});
    return rendered;
  }
}

/** A text answer of one line, or of several. */
export function textAnswer(status: number, ...lines: readonly string[]): AdminAnswer {
  return { status, type: 'text/plain; charset=utf-8', body: lines.map((line) => `${line}\n`).join('') };
}

const NOTHING_HERE =
  'there is nothing at this path: the admin port has /livez, /readyz, /metrics, /activity, /openapi.json and /admin/v1/keys; /v1 is on the port of the service';

/** An error in the form of the service's errors. */
function errorAnswer(status: number, message: string): AdminAnswer {
  const body = faultBody(wordOf(status), codeOf(status), message, '');
  return { status, type: JSON_TYPE, body };
}

/** The answer of a route; an error gets the id of its request. */
function withId(answer: AdminAnswer, call: AdminCall): AdminAnswer {
  if (answer.status < 400 || answer.type !== JSON_TYPE) return answer;
  const { status, message, ...more } = JSON.parse(String(answer.body)) as Record<string, unknown>;
  const request_id = call.headers['x-request-id']?.[0] ?? '';
  return { ...answer, body: `${JSON.stringify({ status, message, ...more, request_id })}\n` };
}

/**
 * Answers the routes; the first matching path is taken. Rejects with a sentence if it cannot listen there.
 * @param failed called with errors of handlers, which are answered 500
 * @param names public host names of the port
 * @param pulse of a Pulse: /livez and /readyz are answered by the thread of the port, whatever the event loop does
 */
export async function openAdminPort(
  host: string,
  port: number,
  routes: readonly AdminRoute[],
  failed: (error: unknown) => void = () => {},
  names: readonly string[] = [],
  pulse?: SharedArrayBuffer,
): Promise<AdminListener> {
  const renderer = new Renderer();
  const table = routes.map((route) => ({ route, segments: route.path.split('/') }));

  const answerOf = async (call: AdminCall): Promise<AdminAnswer> => {
    const [path = '', query = ''] = call.url.split(/\?(.*)/s);
    const segments = path.split('/');
    const method = call.method === 'HEAD' ? 'GET' : call.method;
    const allowed = new Set<string>();
    for (const { route, segments: pattern } of table) {
      const parameters = parametersOf(pattern, segments);
      if (parameters === undefined) continue;
      if (route.method === method) {
        const request: AdminRequest = {
          method,
          path,
          parameters,
          query: new URLSearchParams(query),
          peerAddress: call.peerAddress,
          header: (name) => call.headers[name]?.join(', '),
          body: async (limitBytes) => bodyOf(call, limitBytes),
        };
        const page = (): AdminAnswer | Promise<AdminAnswer> => route.handle(request);
        return route.isShared === true ? renderer.render(page) : page();
      }
      allowed.add(route.method);
    }
    if (allowed.size === 0) return errorAnswer(404, NOTHING_HERE);
    if (allowed.has('GET')) allowed.add('HEAD');
    const message = `${method} is not allowed here`;
    return { ...errorAnswer(405, message), headers: { Allow: [...allowed].join(', ') } };
  };

  const answer = (call: AdminCall): Promise<AdminAnswer> =>
    answerOf(call)
      .catch((error: unknown) => {
        failed(error);
        return errorAnswer(500, 'the call failed by a fault of the service, which its log has');
      })
      .then((made) => withId(made, call));
  const shared = routes.filter(({ isShared }) => isShared === true).map(({ path }) => path);
  return openPortFront({ host, port, names, pulse, shared }, answer, failed);
}

/**
 * The values of the pattern's `:name` segments if the path matches; a segment with broken escapes matches nothing.
 */
function parametersOf(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const segment = segments[at] as string;
    if (!expected.startsWith(':')) {
      if (segment !== expected) return undefined;
      continue;
    }
    try {
      parameters[expected.slice(1)] = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
  }
  return parameters;
}

function bodyOf({ body }: AdminCall, limitBytes: number): Buffer | undefined {
  return body === undefined || body.length > limitBytes ? undefined : Buffer.from(body);
}
