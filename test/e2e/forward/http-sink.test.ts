// A sink at a URL: what it is sent, and which answers mean that it has taken nothing.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpSink } from '#dist/server/traccar/forward/sinks/sink.js';

const got: { method: string; path: string; type: string; key: string; body: string }[] = [];
let answer: { status: number; headers?: Record<string, string>; body?: string } = { status: 200 };
let server: Server;
let base: string;

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const body = await textOf(request);
    got.push({
      method,
      path,
      type: headers['content-type'] ?? '',
      key: String(headers['x-key'] ?? ''),
      body,
    });
    const now = path === '/elsewhere' ? { status: 200 } : answer;
    response.writeHead(now.status, now.headers).end(now.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const deliver = (): Promise<void> =>
  new HttpSink(`${base}/in?token=a`, ['X-Key', 'b']).deliver(
    Buffer.from('{"id":"1"}\n{"id":"2"}\n'),
    new AbortController().signal,
  );

test('a batch is one POST of NDJSON with the header of the settings', async () => {
  answer = { status: 204 };
  got.length = 0;
  await deliver();
  expect(got).toEqual([
    {
      method: 'POST',
      path: '/in?token=a',
      type: 'application/x-ndjson',
      key: 'b',
      body: '{"id":"1"}\n{"id":"2"}\n',
    },
  ]);
});

test.each([400, 401, 404, 429, 500, 503])('%d: it has taken nothing', async (status) => {
  answer = { status, body: 'no' };
  await expect(deliver()).rejects.toThrow(`it answers ${status}`);
});

test.each([301, 302, 307, 308])('%d is not followed: the batch would go to another', async (status) => {
  answer = { status, headers: { location: '/elsewhere' } };
  got.length = 0;
  await expect(deliver()).rejects.toThrow(`it answers ${status}`);
  expect(got.map(({ path }) => path)).toEqual(['/in?token=a']);
});

test('an answer of any length, and one that gives the delivery up', async () => {
  answer = { status: 200, body: 'x'.repeat(100_000) };
  await deliver();
  const closed = new HttpSink('http://127.0.0.1:1/', undefined);
  await expect(closed.deliver(Buffer.from(''), new AbortController().signal)).rejects.toThrow(
    /bad port|ECONNREFUSED/,
  );
  const given = AbortSignal.abort(new Error('over'));
  await expect(new HttpSink(base, undefined).deliver(Buffer.from(''), given)).rejects.toThrow('over');
});
