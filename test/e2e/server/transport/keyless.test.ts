// Connections without a key: how long they rest, and what is left for callers with a key while there are many.
import type { Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { KeylessPeers } from '../../../support/keyless-peers.js';
import { askRaw, type RawClient, rawClient } from '../../../support/raw-client.js';
import { handshake, RawWebSocket } from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';

const KEY = 'one_key_0123456789abcdef';
const HEAD = `HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n`;
const SINGLE = `GET /v1/hexcodes/encode?lat=21&lng=105.8 ${HEAD}\r\n`;
const KEYLESS = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /v1/hexcodes/encode HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

let server: TestServer;
const peers: KeylessPeers[] = [];
const sockets: Socket[] = [];
async function start(limits: Parameters<typeof startServer>[0] = {}): Promise<void> {
  server = await startServer({ apiKeys: [{ name: 'one', secret: KEY }], ...limits });
}
function keyless(from = '127.0.0.1'): KeylessPeers {
  const made = new KeylessPeers(server.port, from);
  peers.push(made);
  return made;
}
afterEach(async () => {
  for (const each of peers.splice(0)) each.close();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

async function client(from?: string): Promise<RawClient> {
  const made = await rawClient(server.port, from);
  sockets.push(made.socket);
  return made;
}
const metric = async (name: string): Promise<number> => {
  const page = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
};

test('a connection that rests is closed by the transport: silent, in the midst of a head, after any answer', async () => {
  await start();
  const silent = await client();
  const half = await client();
  half.socket.write('GET / HTTP/1.1\r\nHo');
  const asked = await client();
  expect(await askRaw(asked, [KEYLESS])).toMatch(/^HTTP\/1\.1 401 /);
  const refused = await client();
  expect(await askRaw(refused, [`${POST}Content-Length: 9\r\n\r\n`, '12345', '6789'])).toMatch(
    /^HTTP\/1\.1 401 /,
  );
  const known = await client();
  expect(await askRaw(known, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  await Promise.all([silent, half, asked, refused, known].map(({ closed }) => closed));
});

test('while the service is crowded an answer without a key closes its connection, whatever the request', async () => {
  await start({ maxConnections: 100, trustedProxies: ['127.0.0.9'] });
  const known = await client();
  expect(await askRaw(known, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  const asking = [];
  const requests: [string, RegExp][] = [
    [KEYLESS, /^HTTP\/1\.1 401 /],
    ['OPTIONS /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1\.1 204 /],
    [`${POST}Content-Length: 2\r\n\r\n{}`, /^HTTP\/1\.1 401 /],
    [`${POST}Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`, /^HTTP\/1\.1 401 /],
    [`${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, /^HTTP\/1\.1 401 /],
    [handshake('wrong'), /^HTTP\/1\.1 401 /],
  ];
  for (const request of requests) asking.push({ request, peer: await client() });
  await keyless('127.0.0.9').open(55);
  for (const { request, peer } of asking) {
    peer.socket.write(request[0]);
    await peer.closed;
    expect(peer.text(), request[0].slice(0, 80)).toMatch(request[1]);
  }
  // uws-pack closes behind the head of a HEAD when the next request comes (U18).
  const head = await askRaw(await client(), [KEYLESS.replace('GET', 'HEAD')], /\r\n\r\n$/);
  expect(head).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close\r\n/s);
  // A long answer leaves the end to its client.
  const long = await fetch(`${server.base}/openapi.json`);
  expect([long.headers.get('connection'), Object.keys((await long.json()) as object)]).toEqual([
    'close',
    expect.arrayContaining(['openapi', 'paths']),
  ]);
  expect(await askRaw(known, [SINGLE.repeat(3)])).toMatch(/^HTTP\/1\.1 200 /);
  expect(known.socket.destroyed).toBe(false);
});

test('beyond half of all connections a network has its share; others are served, and proxies have no bound', async () => {
  await start({ maxConnections: 80, maxKeylessPerAddress: 5, trustedProxies: ['127.0.0.9'] });
  const [many, few, proxy] = [keyless('127.0.0.1'), keyless('127.0.0.2'), keyless('127.0.0.9')];
  await many.open(70);
  await few.open(5);
  await proxy.open(15);
  expect(await metric('hexcodes_connections')).toBe(65);
  expect([many.openCount, few.openCount, proxy.openCount]).toEqual([45, 5, 15]);
  expect(await metric('hexcodes_connections_refused_total{reason="share"}')).toBe(25);
  expect(server.log()).toContain('closed at once: too many connections are open, of all or of one network');
});

test('the last quarter is for networks that have shown a key, and the limit of all holds for them, too', async () => {
  await start({ maxConnections: 40, trustedProxies: ['127.0.0.9'] });
  await keyless('127.0.0.9').open(21);
  for (let call = 0; call < 3; call++)
    expect(await askRaw(await client('127.0.0.3'), [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  await keyless('127.0.0.9').open(6);
  const stranger = await client('127.0.0.2');
  await stranger.closed;
  expect(await metric('hexcodes_connections_refused_total{reason="crowd"}')).toBe(1);
  for (let call = 0; call < 10; call++)
    expect(await askRaw(await client('127.0.0.3'), [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  await (await client('127.0.0.3')).closed;
});

test('2,000 keyed trackers behind one address open at once, and all are served; so are as many streams', async () => {
  await start();
  const call = async (): Promise<string> => (await askRaw(await client(), [SINGLE])).slice(0, 12);
  const calls = await Promise.all(Array.from({ length: 2000 }, call));
  expect(calls.filter((status) => status !== 'HTTP/1.1 200')).toEqual([]);
  const streams = await Promise.all(
    Array.from({ length: 2000 }, () => RawWebSocket.open(server.port, handshake(KEY))),
  );
  for (const stream of streams) stream.socket.destroy();
  expect(streams.length).toBe(2000);
});
