// Connections at rest at the service itself: answers say how long they may rest, and clients that read it let go first.
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(agent: Agent, { method, path, headers = {}, body }: Call): Promise<[IncomingMessage, Socket]> {
  return new Promise((resolve, reject) => {
    const all = { 'X-API-Key': server.key, ...headers };
    const call = request(server.base + path, { agent, method, headers: all }, (answer) => {
      const { socket } = answer;
      answer.resume();
      answer.on('end', () => resolve([answer, socket]));
    });
    call.on('error', reject);
    call.end(body);
  });
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const POINT = '{"lat":21.0288,"lng":105.8525}';
const KEPT: readonly Call[] = [
  { method: 'GET', path: '/v1/hexcodes/encode?lat=21.0288&lng=105.8525' },
  { method: 'POST', path: '/v1/hexcodes/encode', headers: JSON_TYPE, body: POINT },
  { method: 'POST', path: '/v1/hexcodes/encode', headers: JSON_TYPE, body: '{"lat":0,"lng":0}' },
  { method: 'POST', path: '/v1/hexcodes/encode', headers: JSON_TYPE, body: '{' },
  { method: 'POST', path: '/v1/hexcodes/encode/batch', headers: JSON_TYPE, body: `{"points":[${POINT}]}` },
  {
    method: 'POST',
    path: '/v1/hexcodes/encode/bulk',
    headers: { 'Content-Type': 'text/csv' },
    body: 'lat,lng\n21.0288,105.8525\n',
  },
  { method: 'GET', path: '/v1/meta' },
  { method: 'HEAD', path: '/v1/meta' },
  { method: 'OPTIONS', path: '/v1/meta' },
  { method: 'GET', path: '/v1/nothing' },
  { method: 'GET', path: '/openapi.json' },
];

test('an answer after which the connection stays says for how long; one that ends it does not', async () => {
  const agent = new Agent({ keepAlive: true });
  for (const call of KEPT) {
    const [{ headers }] = await ask(agent, call);
    expect([call.path, headers.connection ?? 'kept', headers['keep-alive']]).toEqual([
      call.path,
      'kept',
      'timeout=7',
    ]);
  }
  const chunked = { 'Transfer-Encoding': 'chunked', ...JSON_TYPE };
  const [{ headers }] = await ask(agent, {
    method: 'POST',
    path: '/v1/hexcodes/encode',
    headers: chunked,
    body: POINT,
  });
  expect([headers.connection, headers['keep-alive']]).toEqual(['close', undefined]);
  agent.destroy();
});

test("Node's agent lets go of a connection at rest before the service ends it", async () => {
  // Only an agent that has a timeout of its own reads that of the service.
  const agent = new Agent({ keepAlive: true, timeout: 600_000 });
  const rested = KEPT.map(async (call) => {
    const [, socket] = await ask(agent, call);
    let isEndedByService = false;
    socket.once('end', () => (isEndedByService = true));
    await new Promise((resolve) => socket.once('close', resolve));
    return isEndedByService;
  });
  expect(await Promise.all(rested)).toEqual(KEPT.map(() => false));
});
