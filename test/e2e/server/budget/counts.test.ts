// Limits of how many: requests under way and WebSockets of a key, and connections of the process, on real sockets.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Budget } from '#dist/server/budget.js';
import { RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { pointsOf } from '../../../support/open-world.js';
import { handshake, RawWebSocket } from '../../../support/raw-websocket.js';
import { sendRaw, startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const OTHER_KEY = 'other_0123456789abcdef';
const KEYS = [
  { name: 'one', secret: 'one_key_0123456789abcdef' },
  { name: 'other', secret: OTHER_KEY },
];
const KEY = KEYS[0]!.secret;
const ENCODE = '/v1/hexcodes/encode/bulk';

let server: TestServer;
let budget: Budget;
async function start(limits: Parameters<typeof startServer>[0]): Promise<void> {
  server = await startServer({ apiKeys: KEYS, ...limits }, undefined, {
    withBudget: (made) => {
      budget = made;
    },
  });
}
afterEach(() => server.stop());

/** A bulk body of which only the head and the header row have come. */
async function openUpload(key: string): Promise<RawBulkPeer> {
  const peer = await RawBulkPeer.connect(server.port);
  await peer.send(requestHead({ path: ENCODE, key, format: 'csv' }, 1e6));
  await peer.send('lat,lng\n');
  return peer;
}

const uploadsAre = async (count: number): Promise<void> => {
  while (budget.figures.requests !== count) await sleep(5);
};

test('requests of a key past its limit are 503 with Retry-After; other keys and later requests are served', async () => {
  await start({ maxRequestsPerKey: 3 });
  const peers = [await openUpload(KEY), await openUpload(KEY), await openUpload(KEY)];
  await uploadsAre(3);
  const refused = await openUpload(KEY);
  await refused.done;
  expect(refused.status).toBe(503);
  expect(refused.head).toMatch(/\r\nretry-after: 1\r\n/i);
  expect(refused.body.toString()).toContain('the key has 3 requests under way, the most it may have');
  expect(server.log()).toMatch(/"key_id":"env:one".*the key has 3 requests under way/);
  // A batch whose body comes in pieces is one as well; a single call is not.
  const head = `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
  expect(await sendRaw(server.port, [head, '{"points":'], { gapMs: 50 })).toMatch(/^HTTP\/1\.1 503 /);
  const single = await fetch(`${server.base}/v1/hexcodes/encode?lat=21&lng=105.8`, {
    headers: { 'X-API-Key': KEY },
  });
  expect(single.status).toBe(200);
  const other = await openUpload(OTHER_KEY);
  await uploadsAre(4);
  peers[0]!.socket.destroy();
  await uploadsAre(3);
  const later = await openUpload(KEY);
  await uploadsAre(4);
  expect([other.status, later.status]).toEqual([0, 0]);
  for (const peer of [...peers, other, later]) peer.socket.destroy();
  await uploadsAre(0);
});

test('WebSockets of a key past its limit are refused with 503; other keys and later ones are served', async () => {
  await start({ maxSocketsPerKey: 2 });
  const open = [
    await RawWebSocket.open(server.port, handshake(KEY)),
    await RawWebSocket.open(server.port, handshake(KEY)),
  ];
  const refused = await RawWebSocket.connect(server.port, handshake(KEY));
  while (refused.head === '') await sleep(5);
  expect(refused.head).toMatch(
    /^HTTP\/1.1 503 .*Retry-After: 1\r\n.*the key has 2 open WebSockets, the most it may have/is,
  );
  refused.end();
  const other = await RawWebSocket.open(server.port, handshake(OTHER_KEY));
  open[0]!.end();
  while (budget.figures.sockets !== 2) await sleep(5);
  const later = await RawWebSocket.open(server.port, handshake(KEY));
  later.send(encodeFrame(1, pointsOf(1, 2)));
  expect((await later.next()).payload.length).toBe(16 + 2 * 20);
  for (const peer of [open[1]!, other, later]) peer.end();
  while (budget.figures.keys !== 0) await sleep(5);
});

test('connections past the limit of the process are closed at once where all others have shown a key', async () => {
  await start({ maxConnections: 20 });
  const ask = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n\r\n`;
  const opened = (): Promise<{ socket: Socket; isClosed: Promise<unknown> }> =>
    new Promise((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => resolve({ socket, isClosed }));
      const isClosed = new Promise((closed) => socket.once('close', closed));
      socket.on('error', () => {});
      socket.resume();
    });
  const sockets = [];
  // A WebSocket counts as any other connection, until it is closed.
  const stream = await RawWebSocket.open(server.port, handshake(KEY));
  for (let n = 0; n < 19; n++) {
    const peer = await opened();
    const answered = once(peer.socket, 'data');
    peer.socket.write(ask);
    await answered;
    sockets.push(peer);
  }
  await (await opened()).isClosed;
  await (await opened()).isClosed;
  expect(server.log()).toContain('closed at once: too many connections are open');
  expect((await fetch(`http://127.0.0.1:${server.adminPort}/readyz`)).status).toBe(200);
  expect(await sendRaw(server.port, ask)).toBe('');
  stream.end();
  // The service may see the end of the stream a moment later.
  let answer = '';
  while (answer === '') answer = await sendRaw(server.port, ask);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  for (const { socket } of sockets) socket.destroy();
});
