// The opening of the stream on the real server: which handshakes are accepted, and how the others are answered.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handshake, RawWebSocket, TEXT } from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const open = (...lines: string[]): Promise<RawWebSocket> =>
  RawWebSocket.open(server.port, lines.length > 0 ? handshake(server.key, lines) : handshake(server.key));

const status = async (opening: string): Promise<number> => {
  const peer = await RawWebSocket.connect(server.port, opening);
  while (peer.head === '') await new Promise((resolve) => setTimeout(resolve, 2));
  peer.end();
  return Number(peer.head.split(' ')[1]);
};

test('key, version and protocol are checked before the upgrade', async () => {
  const k = server.key;
  expect(await status(handshake(undefined))).toBe(401);
  expect(await status(handshake('nobody'))).toBe(401);
  expect(await status(handshake(k, [], '12'))).toBe(426);
  expect(await status(handshake(k, [], ''))).toBe(426);
  expect(await status(handshake(undefined, [], '12'))).toBe(401);
  expect(await status(handshake(k).replace('Upgrade: websocket\r\n', ''))).toBe(426);
  expect(await status(handshake(k).replace('Connection: Upgrade', 'Connection: close'))).toBe(426);
  expect(await status(handshake(k, ['Sec-WebSocket-Protocol: soap, hexcodes.v2.binary']))).toBe(400);
  expect(await status(handshake(k).replace(/GET (\S+)/, `GET $1?apikey=${k}x`))).toBe(400);
  expect(await status(handshake(k))).toBe(101);
});

test.each(['', 'short', 'dGhlIHNhbXBsZSBub25jZQ=!', 'dGhlIHNhbXBsZSBub25jZQ==AAAA'])(
  'a handshake whose Sec-WebSocket-Key is “%s” is 400',
  async (text) => {
    const opening = handshake(server.key).replace('dGhlIHNhbXBsZSBub25jZQ==', text);
    const peer = await RawWebSocket.connect(server.port, opening);
    while (peer.head === '') await new Promise((resolve) => setTimeout(resolve, 2));
    peer.end();
    expect(Number(peer.head.split(' ')[1])).toBe(400);
    expect(peer.head).toContain('Sec-WebSocket-Key');
  },
);

test('a handshake without Sec-WebSocket-Key is 400; of another version it is 426', async () => {
  const keyless = /Sec-WebSocket-Key: .*\r\n/;
  expect(await status(handshake(server.key).replace(keyless, ''))).toBe(400);
  expect(await status(handshake(server.key, [], '12').replace(keyless, ''))).toBe(426);
  expect(await status(handshake(server.key, [], '12').replace('dGhlIHNhbXBsZSBub25jZQ==', 'x'))).toBe(426);
});

test('a plain GET is 426, and names the version; other methods are 405', async () => {
  const plain = await fetch(`${server.base}/v1/hexcodes/stream`, { headers: { 'X-API-Key': server.key } });
  expect([plain.status, plain.headers.get('sec-websocket-version'), plain.headers.get('upgrade')]).toEqual([
    426,
    '13',
    'websocket',
  ]);
  const post = await fetch(`${server.base}/v1/hexcodes/stream?apikey=${server.key}`, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test.each([
  [['Sec-WebSocket-Protocol: hexcodes.v1.json, hexcodes.v1.binary'], 'hexcodes.v1.json'],
  [['Sec-WebSocket-Protocol: soap,hexcodes.v1.binary,hexcodes.v1.json'], 'hexcodes.v1.binary'],
  [['Sec-WebSocket-Protocol: soap', 'Sec-WebSocket-Protocol: hexcodes.v1.json'], 'hexcodes.v1.json'],
])('the offer %j gets %s', async (lines, chosen) => {
  const peer = await open(...lines);
  expect(/sec-websocket-protocol: (\S+)/i.exec(peer.head)?.[1]).toBe(chosen);
  expect(peer.head).not.toMatch(/sec-websocket-extensions/i);
  peer.end();
});

test('without an offer the subprotocol is JSON, and the first frame is the ready frame', async () => {
  const peer = await RawWebSocket.connect(server.port, handshake(server.key, []));
  const ready = await peer.next();
  expect(ready.opcode).toBe(TEXT);
  expect(ready.payload.toString()).toBe(
    '{"type":"ready","format":1,"max_frame_bytes":1310736,"max_points":65536,"window":16,"window_bytes":4194304}',
  );
  expect(peer.head).not.toMatch(/sec-websocket-protocol/i);
  peer.send(Buffer.alloc(16));
  expect(await peer.closed).toBe(1003);
});
