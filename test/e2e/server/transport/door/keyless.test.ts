// Connections that have not shown a valid key keep nobody out: neither from their own address nor from another.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { KeylessPeers } from '../../../../support/keyless-peers.js';
import { pointsOf } from '../../../../support/open-world.js';
import { askRaw, type RawClient, rawClient } from '../../../../support/raw-client.js';
import { handshake, RawWebSocket } from '../../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../../support/server.js';
import { encodeFrame } from '../../../../support/stream-frames.js';

const KEY = 'one_key_0123456789abcdef';
const HEAD = `HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n`;
const SINGLE = `GET /v1/hexcodes/encode?lat=21&lng=105.8 ${HEAD}\r\n`;
const BATCH_BODY = '{"points":[{"lat":21,"lng":105.8}]}';
const BATCH = `POST /v1/hexcodes/encode/batch ${HEAD}Content-Type: application/json\r\n`;
const CSV = 'lat,lng\n21,105.8\n';
const BULK = `POST /v1/hexcodes/encode/bulk ${HEAD}Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n`;

let server: TestServer;
const peers: KeylessPeers[] = [];
const sockets: Socket[] = [];
async function start(
  limits: Parameters<typeof startServer>[0] = {},
  tuning: Parameters<typeof startServer>[2] = {},
): Promise<void> {
  server = await startServer({ apiKeys: [{ name: 'one', secret: KEY }], ...limits }, undefined, tuning);
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

test('connections that have shown a valid key are never closed for others, however they showed it', async () => {
  await start({ maxConnections: 60 }, { keyless: { tickMs: 20, idleTicks: 5 } });
  const shown: (readonly string[])[] = [
    [SINGLE],
    [SINGLE.slice(0, 30), SINGLE.slice(30)],
    [`${BATCH}Content-Length: ${BATCH_BODY.length}\r\n\r\n${BATCH_BODY}`],
    [`${BATCH}Content-Length: ${BATCH_BODY.length}\r\n\r\n`, BATCH_BODY],
    [`GET / HTTP/1.1\r\nHost: a\r\n\r\n${SINGLE}`],
    [`POST /v1/hexcodes/encode ${HEAD}Content-Length: 0\r\n\r\n${SINGLE}`],
    [`POST /v1/hexcodes/encode ${HEAD}Content-Length: 0\r\n`, '\r\n', SINGLE],
  ];
  const kept = [];
  for (const pieces of shown) {
    const peer = await client();
    expect(await askRaw(peer, pieces, /"status":"OK"[^\n]*}\s*$/), pieces[0]).toMatch(/HTTP\/1\.1 200 /);
    kept.push(peer);
  }
  // A body that is under way has shown its key, though nothing is answered.
  const upload = await client();
  upload.socket.write(`${BULK}\r\n`);
  const stream = await RawWebSocket.open(server.port, handshake(KEY));
  await keyless().open(200, 50, true);
  await sleep(1000);
  for (const peer of kept) expect(await askRaw(peer, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  stream.send(encodeFrame(1, pointsOf(1, 2)));
  expect((await stream.next()).payload.length).toBe(16 + 2 * 20);
  stream.end();
  expect(await askRaw(upload, [`${CSV.length.toString(16)}\r\n${CSV}\r\n0\r\n\r\n`])).toMatch(
    /^HTTP\/1\.1 200 /,
  );
});

test('a connection without a valid key is closed after a short rest, before its first request or after its last', async () => {
  await start({}, { keyless: { tickMs: 20, idleTicks: 5 } });
  const silent = await client();
  const half = await client();
  half.socket.write('GET / HTTP/1.1\r\nHo');
  const asked = await client();
  expect(await askRaw(asked, ['GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n'])).toMatch(/^HTTP\/1\.1 401 /);
  const refused = await client();
  const wrong = `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: wrong\r\nContent-Length: 9\r\n\r\n`;
  expect(await askRaw(refused, [wrong, '12345', '6789'])).toMatch(/^HTTP\/1\.1 401 /);
  const known = await client();
  expect(await askRaw(known, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  await Promise.all([silent.closed, half.closed, asked.closed, refused.closed]);
  await sleep(500);
  expect(await askRaw(known, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
});

test('a connection rests as long as it asks: 30 keyless requests in a row, one by one and pipelined', async () => {
  await start({}, { keyless: { tickMs: 20, idleTicks: 10 } });
  const peer = await client();
  const request = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n';
  for (let n = 0; n < 30; n++) {
    expect(await askRaw(peer, [request])).toMatch(/^HTTP\/1\.1 401 /);
    await sleep(20);
  }
  const before = peer.text().length;
  peer.socket.write(request.repeat(30));
  const answered = (): number =>
    peer
      .text()
      .slice(before)
      .match(/HTTP\/1\.1 401 /g)?.length ?? 0;
  while (answered() < 30 && !peer.socket.destroyed) await sleep(5);
  expect(answered()).toBe(30);
  await peer.closed;
});

test('of one network, connections above its share go, the oldest first; of others and of proxies none', async () => {
  await start(
    { maxKeylessPerAddress: 10, trustedProxies: ['127.0.0.9'] },
    { keyless: { tickMs: 20, idleTicks: 1000 } },
  );
  const [many, few, proxy] = [keyless('127.0.0.1'), keyless('127.0.0.2'), keyless('127.0.0.9')];
  await many.open(40);
  await few.open(10);
  await proxy.open(40);
  while (many.openCount > 10) await sleep(10);
  await sleep(300);
  expect([many.openCount, few.openCount, proxy.openCount]).toEqual([10, 10, 40]);
  expect(many.sockets.slice(0, 30).filter((socket) => !socket.destroyed)).toEqual([]);
  expect(server.log()).toContain('closed to make way: connections that have shown no valid key');
  expect(await metric('hexcodes_connections_refused_total{reason="share"}')).toBe(30);
});

test('at the limit of the process the network with the most keyless connections gives one up', async () => {
  await start({ maxConnections: 40, maxKeylessPerAddress: 1000 }, { keyless: { tickMs: 1e6 } });
  const [few, many] = [keyless('127.0.0.2'), keyless('127.0.0.1')];
  await few.open(5);
  await many.open(100);
  await sleep(100);
  expect([few.openCount, many.openCount]).toEqual([5, 35]);
  expect(await metric('hexcodes_connections')).toBe(40);
  expect(await metric('hexcodes_connections_refused_total{reason="limit"}')).toBe(65);
});

test('a chunked request without a key from a crowded address hides no connections behind it', async () => {
  await start({ maxConnections: 50, maxKeylessPerAddress: 20 }, { keyless: { tickMs: 20, idleTicks: 1000 } });
  const peers = keyless();
  await peers.open(20);
  for (let n = 0; n < 5; n++) {
    const peer = await client();
    peer.socket.write('POST /v1/meta HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    await peer.closed;
    expect(peer.text()).toBe('');
    await peers.open(20);
  }
  while (peers.openCount > 13) await sleep(10);
});

test('a connection that made one request with a key and rests is closed by the transport', async () => {
  await start();
  const peer = await client();
  expect(await askRaw(peer, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
  await peer.closed;
});
