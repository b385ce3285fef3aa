// The route table of the admin port, over real sockets.

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminRoute, openAdminPort, textAnswer } from '#dist/server/admin/port.js';

const thrown: unknown[] = [];
const routes: AdminRoute[] = [
  { method: 'GET', path: '/a', handle: () => textAnswer(200, 'one', 'two') },
  { method: 'GET', path: '/keys/mine', handle: () => textAnswer(200, 'literal') },
  {
    method: 'GET',
    path: '/keys/:id',
    handle: ({ parameters, query, header }) => ({
      status: 200,
      type: 'application/json',
      body: JSON.stringify([parameters, query.getAll('q'), header('x-h') ?? null]),
      headers: { 'X-Own': 'yes' },
    }),
  },
  {
    method: 'POST',
    path: '/keys/:id',
    handle: async ({ body }) => textAnswer(200, (await body(10))?.toString() ?? 'too large'),
  },
  { method: 'DELETE', path: '/keys/:id', handle: () => Promise.reject(new Error('broken')) },
];

let port: Awaited<ReturnType<typeof openAdminPort>>;
const call = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${port.port}${path}`, init);

beforeAll(async () => {
  const failed = (error: unknown): unknown => thrown.push(error);
  port = await openAdminPort('127.0.0.1', 0, routes, failed, ['metrics.example.com']);
});
afterAll(() => port.close());

test('a route is found by its path, and HEAD is answered as GET', async () => {
  const answer = await call('/a?x=1');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(await answer.text()).toBe('one\ntwo\n');
  const head = await call('/a', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '8', '']);
});

test('the first route that matches is taken', async () => {
  expect(await (await call('/keys/mine')).text()).toBe('literal\n');
});

test('a handler is given parameters, query and headers', async () => {
  const answer = await call('/keys/k%2F1?q=a&q=b%20c', { headers: { 'X-H': 'v' } });
  expect(await answer.json()).toEqual([{ id: 'k/1' }, ['a', 'b c'], 'v']);
  expect(answer.headers.get('x-own')).toBe('yes');
});

test('broken escapes, other lengths and other paths are 404', async () => {
  for (const path of ['/keys/%zz', '/keys', '/keys/a/b', '/', '/A', '/a/'])
    expect((await call(path)).status, path).toBe(404);
});

test('another method is 405 and names those there are', async () => {
  const answer = await call('/keys/1', { method: 'PUT' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE, HEAD']);
  expect((await call('/a', { method: 'POST', body: 'x' })).headers.get('allow')).toBe('GET, HEAD');
});

test('a body is read up to the limit of its route', async () => {
  expect(await (await call('/keys/1', { method: 'POST', body: '0123456789' })).text()).toBe('0123456789\n');
  const answer = await call('/keys/1', { method: 'POST', body: '0123456789a' });
  expect(await answer.text()).toBe('too large\n');
  expect(await (await call('/keys/1', { method: 'POST' })).text()).toBe('\n');
});

test('a body that is not read to its end does not harm the next request', async () => {
  const answer = await call('/keys/1', { method: 'POST', body: 'a'.repeat(5_000_000) });
  expect(await answer.text()).toBe('too large\n');
  expect(await (await call('/keys/1', { method: 'POST', body: 'next' })).text()).toBe('next\n');
});

test('what a handler throws is answered 500 and reported', async () => {
  const answer = await call('/keys/1', { method: 'DELETE' });
  expect([answer.status, await answer.json()]).toMatchObject([
    500,
    { status: 'INTERNAL_ERROR', request_id: answer.headers.get('x-request-id'), error: { code: 'internal' } },
  ]);
  expect(thrown).toEqual([new Error('broken')]);
});

test('a port that is in use is named', async () => {
  await expect(openAdminPort('127.0.0.1', port.port, [])).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port.port} for the admin port: the port is in use`,
  );
});

/** The status of a request with a Host header of the caller's own, which fetch does not allow. */
function statusFor(host: string | undefined): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => (text += bytes));
    socket.on('close', () => resolve(text.slice(9, 12)));
    const head = host === undefined ? 'GET /a HTTP/1.0\r\n' : `GET /a HTTP/1.1\r\nHost: ${host}\r\n`;
    socket.write(`${head}Connection: close\r\n\r\n`);
  });
}

test.each([
  ['127.0.0.1:9090', '200'],
  ['10.1.2.3', '200'],
  ['[::1]:9090', '200'],
  ['localhost:9090', '200'],
  ['node-1:9090', '200'],
  ['hexcodes.default.svc:9090', '200'],
  ['hexcodes.default.svc.cluster.local', '200'],
  ['Metrics.Example.com.:9090', '200'],
  [undefined, '200'],
  ['evil.example:9090', '421'],
  ['metrics.example.com.evil.vn', '421'],
  ['127.0.0.1.evil.vn', '421'],
  ['[::1].evil.vn', '421'],
  ['', '421'],
])('a request for the host %s: %s', async (host, status) => {
  expect(await statusFor(host)).toBe(status);
});
