// How connections of the stream end on the real server: the close codes, and ends without one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerFrame } from '#dist/hexcodes/wire/frames/answer-frame.js';
import { setKeyState } from '../../../support/keys.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { BINARY, clientFrame, handshake, RawWebSocket, TEXT } from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { decodeFrame, encodeFrame } from '../../../support/stream-frames.js';

const PING = 9;
const PONG = 10;

const kernel = openKernel();

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const open = (...lines: string[]): Promise<RawWebSocket> =>
  RawWebSocket.open(server.port, lines.length > 0 ? handshake(server.key, lines) : handshake(server.key));

const due = (frame: Uint8Array): Buffer => Buffer.from(answerFrame(kernel, frame));

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
  try {
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
  } finally {
    await hasty.stop();
  }
});

test('1001 for a peer that hangs in a frame, as its pongs are payload; one that answers pings stays', async () => {
  const own = await startServer({}, undefined, { stream: { pingMs: 50, pongMs: 400, sweepMs: 20 } });
  try {
    const open = () => RawWebSocket.open(own.port, handshake(own.key));
    const [quiet, hanging, mute] = [await open(), await open(), await open()];
    const frame = encodeFrame(1, pointsOf(1, 1000));
    hanging.socket.write(clientFrame(frame).subarray(0, 500));
    let pings = 0;
    const answerPings = (async () => {
      for (;;) {
        const { opcode } = await quiet.next();
        if (opcode !== PING) break;
        pings++;
        quiet.send('', PONG);
        hanging.send('', PONG);
      }
    })();
    expect(await hanging.closed).toBe(1001);
    expect(await mute.closed).toBe(1001);
    const before = pings;
    while (pings < before + 5) await new Promise((resolve) => setTimeout(resolve, 10));
    quiet.send(frame);
    await answerPings;
    quiet.end();
  } finally {
    await own.stop();
  }
});

test.each(['disabled', 'revoked'] as const)('4001: the key is %s', async (state) => {
  const own = await startServer({}, undefined, { stream: { sweepMs: 20 } });
  try {
    const peer = await RawWebSocket.open(own.port, handshake(own.key));
    const frame = encodeFrame(1, pointsOf(1, 10));
    peer.send(frame);
    expect((await peer.next()).payload.equals(due(frame))).toBe(true);
    await setKeyState(own.dataDir, state);
    expect(await peer.closed).toBe(4001);
  } finally {
    await own.stop();
  }
});

test('1012 when the service stops, after every accepted frame is answered', async () => {
  const own = await startServer();
  const peer = await RawWebSocket.open(own.port, handshake(own.key));
  const frames = [40_000, 10, 40_000, 4096].map((size, i) => encodeFrame(i, pointsOf(i, size)));
  for (const frame of frames) peer.send(frame);
  // They were sent together, so all are accepted once the first is answered.
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
