// A sink at a URL: what it is sent, and which answers mean that it has taken nothing.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';
import { shippedFiles } from '../../support/shipped.js';
import { forwarded, forwardedBody } from '../../support/traccar.js';

const got: { method: string; path: string; type: string; key: string; body: string }[] = [];
let answer: { status: number; headers?: Record<string, string>; body?: string; packed?: Buffer } = {
  status: 204,
};
/** Whether all of a packed answer was read, which is sent byte by byte. */
let readWhole: boolean | undefined;
let sink: Server;
let server: TestServer;
let base: string;
const PIECE_BYTES = 20;
const PROBER = `require('node:worker_threads').parentPort.on('message', async ([url, done]) => {
  const text = await (await fetch(url)).text();
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
  require('node:worker_threads').parentPort.postMessage(text);
})`;
const prober = new Worker(PROBER, { eval: true });

beforeAll(async () => {
  sink = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push({
      method,
      path,
      type: headers['content-type'] ?? '',
      key: String(headers['x-key'] ?? ''),
      body,
    });
    const now = path === '/elsewhere' ? { status: 200 } : answer;
    response.writeHead(now.status, now.headers);
    const { packed = Buffer.alloc(0) } = now;
    for (let at = 0; at < packed.length && !response.destroyed; at += PIECE_BYTES) {
      response.write(packed.subarray(at, at + PIECE_BYTES));
      await sleep(10);
    }
    if (packed.length > 0) readWhole = !response.destroyed;
    response.end(now.body);
  });
  await new Promise<void>((done) => sink.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
  const to = { kind: 'http' as const, url: `${base}/in/SECRET?token=a` };
  server = await startServer(
    { traccarSink: to, traccarSinkHeader: ['X-Key', 'b'], traccarBatchMs: 5 },
    shippedFiles(),
  );
});
afterAll(async () => {
  await server.stop();
  sink.closeAllConnections();
  sink.close();
  await prober.terminate();
});

let sent = 0;
/** Forwards the next position. @returns its id */
async function forward(): Promise<string> {
  const { status, body } = await forwarded(server, server.key, forwardedBody(sent++));
  expect(status).toBe(200);
  return body.id;
}

const ready = async (): Promise<string> =>
  (await fetch(`http://127.0.0.1:${server.adminPort}/readyz`)).text();

async function becomes(isSo: (page: string) => boolean): Promise<string> {
  for (;;) {
    const page = await ready();
    if (isSo(page)) return page;
    await sleep(5);
  }
}

/** The page as it is answered while the event loop of service and test stands still. */
async function pageWhileBlocked(): Promise<string> {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const text = once(prober, 'message');
  prober.postMessage([`http://127.0.0.1:${server.adminPort}/readyz`, done]);
  Atomics.wait(done, 0, 0, 5000);
  return (await text)[0] as string;
}

test('a batch is one POST of NDJSON with the header of the settings, answered by any length', async () => {
  answer = { status: 200, body: 'x'.repeat(100_000) };
  const id = await forward();
  while (got.length === 0) await sleep(5);
  const { body, ...head } = got[0]!;
  expect(head).toEqual({
    ...{ method: 'POST', path: '/in/SECRET?token=a', type: 'application/x-ndjson', key: 'b' },
  });
  expect([body.endsWith('}\n'), JSON.parse(body).id]).toEqual([true, id]);
  expect(await ready()).toBe('ready\n');
});

test('a small answer that unpacks to 20 MB is left, and counts by its status', async () => {
  const packed = gzipSync(Buffer.alloc(20 * 1024 * 1024));
  const headers = { 'content-encoding': 'gzip', 'content-length': String(packed.length) };
  answer = { status: 200, headers, packed };
  await forward();
  while (readWhole === undefined) await sleep(5);
  expect([readWhole, await ready()]).toEqual([false, 'ready\n']);
});

test.each([400, 401, 404, 429, 500, 503, 301, 302, 307, 308])(
  '%d: it has taken nothing, is named without path and query, and is sent the position again',
  async (status) => {
    answer = { status, headers: { location: '/elsewhere' }, body: 'no' };
    got.length = 0;
    const id = await forward();
    const page = await becomes((text) => text !== 'ready\n');
    expect(page).toBe(`ready\nwarning: ${base} takes no positions (it answers ${status}): 1 wait on disk\n`);
    // A page is never older than one that was answered before.
    expect(await pageWhileBlocked()).toBe(page);
    answer = { status: 204 };
    await becomes((text) => text === 'ready\n');
    // No batch goes to another address.
    expect(new Set(got.map(({ path }) => path))).toEqual(new Set(['/in/SECRET?token=a']));
    expect(got.map(({ body }) => JSON.parse(body).id)).toEqual(got.map(() => id));
    expect(server.log()).not.toContain('SECRET');
  },
);
