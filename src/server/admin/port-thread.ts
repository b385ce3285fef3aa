// The thread that holds the admin port. It answers /livez and /readyz by itself, from what the event loop of the
// service has published, so that a probe does not wait for that loop; every other call it hands to the service.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { PulseReader } from '../life/pulse.js';
import { misdirection } from './listener.js';
import {
  type AdminAnswer,
  type FromThread,
  MAX_CALL_BYTES,
  type PortStart,
  type ToThread,
} from './port-messages.js';

/** A service that is not busy answers in less. */
const FRESH_MS = 25;

const { host, port, names, pulse } = workerData as PortStart;
const isMisdirected = misdirection(host, names);
const reader = pulse === undefined ? undefined : new PulseReader(pulse);
const service = parentPort!;
const waiting = new Map<number, (answer: AdminAnswer) => void>();
let calls = 0;

const server = createServer((request, response) => {
  if (isMisdirected(request, response)) return;
  const page = request.method === 'GET' || request.method === 'HEAD' ? pageOf(request.url) : undefined;
  if (page !== undefined) {
    const published = { status: page.status, type: 'text/plain; charset=utf-8', body: page.text };
    // The service itself knows of a warning before it is published; a busy one is not waited for.
    const fresh = page.status === 200 && isReadyz(request.url) ? ask(request) : undefined;
    if (fresh === undefined) send(request, response, published);
    else
      void Promise.race([fresh, sleep(FRESH_MS, published)]).then((answer) =>
        send(request, response, answer),
      );
    return;
  }
  ask(request).then(
    (answer) => send(request, response, answer),
    // The connection broke within the body.
    () => response.destroy(),
  );
});

function pageOf(url = ''): { status: number; text: string } | undefined {
  if (isReadyz(url)) return reader?.ready;
  return url.split('?')[0] === '/livez' ? reader?.alive : undefined;
}

function isReadyz(url = ''): boolean {
  return url.split('?')[0] === '/readyz';
}

async function ask(request: IncomingMessage): Promise<AdminAnswer> {
  const { method = '', url = '', headersDistinct: headers, socket } = request;
  const peerAddress = socket.remoteAddress ?? '';
  const body = await bodyOf(request);
  const id = calls++;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    tell({ kind: 'call', id, call: { method, url, headers: { ...headers }, peerAddress, body } });
  });
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
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(body);
  // Discards the rest of a body that is not read: the next request follows it.
  request.resume();
}

function tell(message: FromThread): void {
  service.postMessage(message);
}

service.on('message', (message: ToThread) => {
  if (message.kind === 'answer') {
    waiting.get(message.id)?.(message.answer);
    waiting.delete(message.id);
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
