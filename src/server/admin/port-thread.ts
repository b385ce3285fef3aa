// The thread that holds the admin port. It answers /livez and /readyz itself, from the state that the event loop of
// the service has published, so that a probe does not wait for that loop; it passes every other call to the service.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import {
  adminServer,
  faultBody,
  MAX_CALLS,
  pathOf,
  requestIdOf,
  SharedWork,
} from '../../config/admin-server.js';
import { Heartbeat } from '../observe/heartbeat.js';
import { PulseReader } from '../observe/readiness.js';

/** Start data of the thread. */
export interface PortStart {
  readonly host: string;
  readonly port: number;
  /** Public host names of the port. */
  readonly names: readonly string[];
  /** Shared memory of a Pulse; undefined: the service answers every path. */
  readonly pulse: SharedArrayBuffer | undefined;
  /** Paths of pages that are equal for all callers: concurrent callers share one rendering. */
  readonly shared: readonly string[];
  /** Memory of the thread's heartbeat. */
  readonly heartbeat: SharedArrayBuffer;
}

/** One call, with a body of at most MAX_CALL_BYTES. */
export interface AdminCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** As Node writes it; '' if the connection is gone. */
  readonly peerAddress: string;
  /** Undefined if it has more bytes than MAX_CALL_BYTES. */
  readonly body: Uint8Array | undefined;
}

/** Larger than the limit of any route. */
const MAX_CALL_BYTES = 64 * 1024;

/** Unanswered calls to the service; further calls wait in the thread. */
const MAX_SERVICE_CALLS = 4;

/** Bytes of answers in the thread that are not yet read; calls beyond it are answered 503. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

export interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export type FromThread =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'cannot listen'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'call'; readonly id: number; readonly call: AdminCall };

export type ToThread =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: AdminAnswer }
  | { readonly kind: 'close' };

/** Time in which a service that is not busy answers. */
const FRESH_MS = 25;

const TEXT = 'text/plain; charset=utf-8';
const busy = (reason: string, requestId: string): AdminAnswer => ({
  status: 503,
  type: 'application/json',
  body: faultBody('UNAVAILABLE', 'unavailable', `${reason}: ask again later`, requestId),
  headers: { 'Retry-After': '1' },
});
const UNREAD = `answers of more than ${MAX_UNREAD_BYTES} bytes wait for their readers`;
const WAITING = `${MAX_CALLS} calls wait for the service`;

const { host, port, names, pulse, shared, heartbeat } = workerData as PortStart;
new Heartbeat(heartbeat);
const reader = pulse === undefined ? undefined : new PulseReader(pulse);
const service = parentPort!;
const waiting = new Map<number, (answer: AdminAnswer) => void>();
const pages = new SharedWork<AdminAnswer>();
/** Calls that wait until the service has answered others. */
const queue: (() => void)[] = [];
let calls = 0;
/** Number of responses that hold each rendering, which is in memory once. */
const unread = new Map<AdminAnswer['body'], number>();

const server = adminServer(host, names, (request, response) => {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const path = pathOf(request);
  const requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', requestId);
  const page = isRead ? pageOf(path) : undefined;
  if (page !== undefined) {
    const published = { status: page.status, type: TEXT, body: page.text };
    // The service may have a warning that is not published yet; a busy service is not waited for.
    if (page.status !== 200 || path !== '/readyz') send(request, response, published);
    else
      void Promise.race([pageFor(request, path), sleep(FRESH_MS, published)]).then((answer) =>
        send(request, response, answer),
      );
    return;
  }
  if (unreadBytes() > MAX_UNREAD_BYTES) {
    send(request, response, busy(UNREAD, requestId));
    return;
  }
  (isRead && shared.includes(path) ? pageFor(request, path) : ask(request, requestId)).then(
    (answer) => send(request, response, answer),
    // The connection broke within the body.
    () => response.destroy(),
  );
});

function pageOf(path: string): { status: number; text: string } | undefined {
  if (path === '/readyz') return reader?.ready;
  return path === '/livez' ? reader?.alive : undefined;
}

/** A page that is equal for all callers. */
function pageFor({ socket }: IncomingMessage, path: string): Promise<AdminAnswer> {
  const call = { method: 'GET', url: path, headers: {}, peerAddress: socket.remoteAddress ?? '' };
  return pages.of(path, () => inTurn({ ...call, body: new Uint8Array() }));
}

async function ask(request: IncomingMessage, requestId: string): Promise<AdminAnswer> {
  const { method = '', url = '', headersDistinct: headers, socket } = request;
  const peerAddress = socket.remoteAddress ?? '';
  const body = await bodyOf(request);
  return inTurn({ method, url, headers: { ...headers, 'x-request-id': [requestId] }, peerAddress, body });
}

async function inTurn(call: AdminCall): Promise<AdminAnswer> {
  // The queue still holds calls whose connections have closed.
  if (queue.length >= MAX_CALLS) return busy(WAITING, call.headers['x-request-id']?.[0] ?? '');
  if (waiting.size >= MAX_SERVICE_CALLS) await new Promise<void>((resolve) => queue.push(resolve));
  const id = calls++;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    tell({ kind: 'call', id, call });
  });
}

function unreadBytes(): number {
  let sum = 0;
  for (const body of unread.keys()) sum += body.length;
  return sum;
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    sizeBytes += (chunk as Buffer).length;
    if (sizeBytes > MAX_CALL_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body, headers }: AdminAnswer,
): void {
  // Its reader is gone.
  if (request.socket.destroyed) return;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...headers,
  });
  unread.set(body, (unread.get(body) ?? 0) + 1);
  response.once('close', () => {
    const readers = (unread.get(body) ?? 1) - 1;
    if (readers === 0) unread.delete(body);
    else unread.set(body, readers);
  });
  response.end(body);
  // Discards the unread rest of a body: the next request follows it.
  request.resume();
}

function tell(message: FromThread): void {
  service.postMessage(message);
}

service.on('message', (message: ToThread) => {
  if (message.kind === 'answer') {
    waiting.get(message.id)?.(message.answer);
    waiting.delete(message.id);
    queue.shift()?.();
    return;
  }
  server.close();
  server.closeAllConnections();
  service.close();
});

server.once('error', (error: NodeJS.ErrnoException) => {
  tell({ kind: 'cannot listen', code: error.code, message: error.message });
  service.close();
});
server.listen(port, host, () => tell({ kind: 'listening', port: (server.address() as AddressInfo).port }));
