// The stream on the real server: which handshakes are accepted, JSON frames, and how connections end.

import { expect, onTestFinished, test } from 'vitest';
import { setKeyState } from '../../../support/keys.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import {
  BINARY,
  clientFrame,
  decodeFrame,
  encodeFrame,
  handshake,
  RawWebSocket,
  TEXT,
} from '../../../support/raw-stream.js';
import { startServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';
import { Wire } from '../../../support/wire.js';

const server = sharedServer();

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
  const inLists = handshake(k)
    .replace('Connection: Upgrade', 'Connection: keep-alive\r\nConnection: Upgrade')
    .replace('Upgrade: websocket', 'Upgrade: h2c, WebSocket');
  expect(await status(inLists)).toBe(101);
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

test.each(['Content-Length: 42', 'Transfer-Encoding: chunked'])(
  'a handshake with a body is 400, and no request is found in it: %s',
  async (line) => {
    const body = 'GET /v1/meta HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const peer = await RawWebSocket.connect(server.port, handshake(server.key, [line]) + body);
    await expect.poll(() => peer.head).not.toBe('');
    peer.end();
    await peer.closed;
    expect(peer.head.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400']);
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

const openJson = (): Promise<RawWebSocket> => open('Sec-WebSocket-Protocol: hexcodes.v1.json');

const ask = async (peer: RawWebSocket, frame: string): Promise<Record<string, unknown>> => {
  peer.send(frame, TEXT);
  const { payload, opcode } = await peer.next();
  expect(opcode).toBe(TEXT);
  return JSON.parse(payload.toString()) as Record<string, unknown>;
};

test.each([3, 9000])('%i points and codes get the answers of the batch endpoints', async (count) => {
  const pairs = pointsOf(31, count);
  const points = Array.from({ length: count }, (_, i) =>
    i % 3 === 0
      ? [pairs[2 * i] || 1, pairs[2 * i + 1] || 'x']
      : {
          lat: pairs[2 * i] || null,
          lng: pairs[2 * i + 1] || null,
          id: i,
          ...(i % 5 === 0 ? { resolution: i % 20 } : {}),
        },
  );
  const batch = async (path: string, body: object): Promise<object> => {
    const answer = await fetch(`${server.base}/v1/hexcodes/${path}/batch`, {
      method: 'POST',
      headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const whole = (await answer.json()) as { results: Record<string, unknown>[] };
    // Items of HTTP have these members beside those of the stream.
    const results = whole.results.map(({ code: _, index: __, ...result }) => result);
    return { ...whole, results };
  };
  const peer = await openJson();
  const encoded = await ask(peer, JSON.stringify({ seq: 7, op: 'encode', resolution: 9, points }));
  expect(encoded).toEqual({ seq: 7, ...(await batch('encode', { resolution: 9, points })) });
  const hexcodes = (encoded.results as { hexcodes: string | null }[]).map((r) => r.hexcodes ?? 'no code');
  const decoded = await ask(peer, JSON.stringify({ seq: -8, op: 'decode', hexcodes }));
  expect(decoded).toEqual({ seq: -8, ...(await batch('decode', { hexcodes })) });
  peer.end();
});

test('answers arrive in the order of the frames', async () => {
  const peer = await openJson();
  const sizes = [5000, 1, 4000, 0, 2];
  for (const [seq, size] of sizes.entries()) {
    peer.send(JSON.stringify({ seq, op: 'encode', points: new Array(size).fill([21, 105]) }), TEXT);
  }
  for (const [seq, size] of sizes.entries()) {
    const answer = JSON.parse((await peer.next()).payload.toString()) as {
      seq: number;
      results: unknown[];
    };
    expect([answer.seq, answer.results.length]).toEqual([seq, size]);
  }
  peer.end();
});

test.each([
  ['{', null],
  ['[]', null],
  ['"x"', null],
  ['{"op":"encode","points":[]}', null],
  ['{"seq":"1","op":"encode","points":[]}', null],
  ['{"seq":1.5,"op":"encode","points":[]}', null],
  ['{"seq":1}', 1],
  ['{"seq":1,"seq":2,"op":"encode","points":[]}', null],
  ['{"seq":1,"seq":[1],"op":"encode","points":[]}', null],
  ['{"seq":1,"op":"encode","op":"decode","points":[]}', 1],
  ['{"seq":2,"op":"ENCODE","points":[]}', 2],
  ['{"seq":3,"op":"encode"}', 3],
  ['{"seq":4,"op":"encode","points":{}}', 4],
  ['{"seq":5,"op":"encode","resolution":16,"points":[]}', 5],
  ['{"seq":6,"op":"encode","points":[1,]}', 6],
  ['{"seq":7,"op":"decode","points":[]}', 7],
  [`{"seq":8,"op":"encode","points":[${'0,'.repeat(65_536)}0]}`, 8],
])('%.40s is answered, and so is the frame behind it', async (frame, seq) => {
  const peer = await openJson();
  const answer = await ask(peer, frame);
  expect(Object.keys(answer)).toEqual(['seq', 'status', 'message']);
  expect([answer.seq, answer.status]).toEqual([seq, 'INVALID_REQUEST']);
  expect(await ask(peer, '{"seq":9,"op":"decode","hexcodes":[]}')).toEqual({
    seq: 9,
    status: 'OK',
    summary: { total: 0, ok: 0, failed: 0 },
    results: [],
  });
  peer.end();
});

test('a member of a frame may be repeated with one value, and is named where it has several', async () => {
  const peer = await openJson();
  const twice = '{"seq":1,"seq":1,"op":"decode","op":"decode","hexcodes":[]}';
  expect(await ask(peer, twice)).toMatchObject({ seq: 1, status: 'OK' });
  const message = async (frame: string) => (await ask(peer, frame)).message;
  const differs = 'is given more than once with different values';
  expect(await message('{"seq":1,"seq":2,"op":"decode","hexcodes":[]}')).toBe(`seq ${differs}`);
  expect(await message('{"seq":1,"op":"decode","op":"x","hexcodes":[]}')).toBe(`op ${differs}`);
  peer.end();
});

const kernel = openKernel();

const due = (frame: Uint8Array): Buffer => Buffer.from(new Wire(kernel).frame(frame));

test('1003: a frame of the other subprotocol', async () => {
  const binary = await open();
  binary.send('{"seq":1}', TEXT);
  expect(await binary.closed).toBe(1003);
  const json = await open('Sec-WebSocket-Protocol: hexcodes.v1.json');
  json.send(encodeFrame(1, pointsOf(1, 1)));
  expect(await json.closed).toBe(1003);
});

test('1009: one byte over max_frame_bytes; exactly max_frame_bytes is answered', async () => {
  const peer = await open();
  const largest = decodeFrame(3, new Uint8Array(65_536 * 20));
  peer.send(largest);
  expect((await peer.next()).payload.equals(due(largest))).toBe(true);
  peer.send(Buffer.concat([largest, Buffer.alloc(1)]));
  expect(await peer.closed).toBe(1009);
});

test('4003: a peer that keeps sending and does not read', async () => {
  const peer = await open();
  peer.socket.pause();
  const frame = clientFrame(encodeFrame(1, pointsOf(1, 4096)));
  // 80 KB of answer each: the buffers of the sockets hold the first few dozen.
  for (let i = 0; i < 16 + 128; i++) peer.socket.write(frame);
  await new Promise((resolve) => setTimeout(resolve, 500));
  peer.socket.resume();
  expect(await peer.closed).toBe(4003);
  // Every answer received is complete.
  for (const { payload } of peer.messages) expect(payload.length).toBe(16 + 4096 * 20);
});

test('a slow reader that keeps to the window gets every answer', async () => {
  const peer = await open();
  const frames = Array.from({ length: 200 }, (_, i) => encodeFrame(i, pointsOf(i % 3, 4096)));
  const answers = [0, 1, 2].map((i) => due(frames[i]!).subarray(16));
  let sent = 0;
  for (let answered = 0; answered < frames.length; answered++) {
    while (sent < frames.length && sent - answered < 16) peer.send(frames[sent++]!);
    peer.socket.pause();
    if (answered % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    peer.socket.resume();
    const { payload } = await peer.next();
    expect(payload.readUInt32LE(4)).toBe(answered);
    expect(payload.subarray(16).equals(answers[answered % 3]!)).toBe(true);
  }
  peer.end();
});

test('1006: over the limit of uWS there is no closing frame', async () => {
  const peer = await open();
  peer.socket.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0]));
  expect(await peer.closed).toBe(1006);
});

test('1001 for an idle connection, 1013 for one that does not read', async () => {
  const hasty = await startServer({}, undefined, {
    stream: { idleMs: 3000, noProgressMs: 300, sweepMs: 20 },
  });
  onTestFinished(() => hasty.stop());

  const idle = await RawWebSocket.open(hasty.port, handshake(hasty.key));
  const stalled = await RawWebSocket.open(hasty.port, handshake(hasty.key));
  stalled.socket.pause();
  // Answers wait once the buffers of the sockets are full; few enough then to stay within the window.
  const frame = clientFrame(encodeFrame(1, pointsOf(1, 16_384)));
  for (let i = 0; i < 45; i++) {
    stalled.socket.write(frame);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  expect(await idle.closed).toBe(1001);
  stalled.socket.resume();
  expect(await stalled.closed).toBe(1013);
});

test('1001 for a peer that hangs in a frame, as its pongs are payload; one that answers pings stays', async () => {
  const own = await startServer({}, undefined, { stream: { pingMs: 50, pongMs: 400, sweepMs: 20 } });
  onTestFinished(() => own.stop());

  const open = () => RawWebSocket.open(own.port, handshake(own.key));
  const [quiet, hanging, mute] = [await open(), await open(), await open()];
  const frame = encodeFrame(1, pointsOf(1, 1000));
  hanging.socket.write(clientFrame(frame).subarray(0, 500));
  let pings = 0;
  quiet.onPing = () => {
    pings++;
    quiet.pong();
    hanging.pong();
  };
  expect(await hanging.closed).toBe(1001);
  expect(await mute.closed).toBe(1001);
  const before = pings;
  while (pings < before + 5) await new Promise((resolve) => setTimeout(resolve, 10));
  quiet.send(frame);
  expect((await quiet.next()).payload.equals(due(frame))).toBe(true);
  quiet.end();
});

test.each(['disabled', 'revoked'] as const)('4001: the key is %s', async (state) => {
  const own = await startServer({}, undefined, { stream: { sweepMs: 20 } });
  onTestFinished(() => own.stop());

  const peer = await RawWebSocket.open(own.port, handshake(own.key));
  const frame = encodeFrame(1, pointsOf(1, 10));
  peer.send(frame);
  expect((await peer.next()).payload.equals(due(frame))).toBe(true);
  await setKeyState(own.dataDir, state);
  expect(await peer.closed).toBe(4001);
});

test('1012 when the service stops, after every accepted frame is answered', async () => {
  const own = await startServer();
  const peer = await RawWebSocket.open(own.port, handshake(own.key));
  const frames = [40_000, 10, 40_000, 4096].map((size, i) => encodeFrame(i, pointsOf(i, size)));
  for (const frame of frames) peer.send(frame);
  // All were sent together, so all are accepted once the first is answered.
  const first = await peer.next();
  const stopped = own.stop();
  expect(first.payload.equals(due(frames[0]!))).toBe(true);
  for (const frame of frames.slice(1)) expect((await peer.next()).payload.equals(due(frame))).toBe(true);
  expect(await peer.closed).toBe(1012);
  await stopped;
});

test('a closing frame with 1000 is answered with 1000', async () => {
  const peer = await open();
  peer.send(Buffer.from([0x03, 0xe8]), 8);
  expect(await peer.closed).toBe(1000);
});

test('1006: a text frame that is not UTF-8 ends its connection and no other', async () => {
  const witness = await open('Sec-WebSocket-Protocol: hexcodes.v1.json');
  const broken = await open('Sec-WebSocket-Protocol: hexcodes.v1.json');
  broken.send(Buffer.from([0x7b, 0xff, 0x7d]), TEXT);
  expect(await broken.closed).toBe(1006);
  witness.send('{"seq":1,"op":"decode","hexcodes":["HN-6GHP4-83RFR"]}', TEXT);
  expect((await witness.next()).payload.toString()).toContain('"seq":1');
  witness.end();
});

// uWS does not check the mask bit: it takes the first four bytes of the payload for the mask.
test('frames without a mask end or stall their connection and no other', async () => {
  const witness = await open();
  const frame = encodeFrame(3, pointsOf(3, 10));
  for (const [payload, opcode] of [
    [encodeFrame(1, pointsOf(1, 10)), BINARY],
    [Buffer.alloc(0), BINARY],
    [Buffer.from('{"seq":1,"op":"decode","hexcodes":[]}'), TEXT],
    [Buffer.from('hello'), 9],
  ] as const) {
    const broken = await open();
    const masked = clientFrame(payload, opcode);
    const head = Buffer.from(masked.subarray(0, masked.length - payload.length - 4));
    head[1]! &= 0x7f;
    broken.socket.write(Buffer.concat([head, payload, head, payload]));
    witness.send(frame);
    expect((await witness.next()).payload.equals(due(frame))).toBe(true);
    // The bytes are misread somehow, so the next frame does not get its answer.
    broken.send(frame);
    await Promise.race([broken.closed, new Promise((resolve) => setTimeout(resolve, 100))]);
    expect(broken.messages.filter((message) => message.payload.equals(due(frame)))).toEqual([]);
    broken.end();
  }
  witness.send(frame);
  expect((await witness.next()).payload.equals(due(frame))).toBe(true);
  witness.end();
});
