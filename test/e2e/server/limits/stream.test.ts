// Limits of keys on the stream: frame status 2 over a rate, close 4002 over a quota, refusals of the handshake, and how
// the client of the package takes them.
import { afterEach, expect, test } from 'vitest';
import type { ServeConfig } from '#dist/config/config.js';
import { HexcodesClient } from '#hexcodes/client';
import { pointsOf } from '../../../support/open-world.js';
import { handshake, RawWebSocket, TEXT } from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const JSON_LINES = ['Sec-WebSocket-Protocol: hexcodes.v1.json'];

let server: TestServer;
async function start(limits: Partial<ServeConfig>): Promise<void> {
  server = await startServer(limits);
}
afterEach(() => server.stop());

const open = (lines?: string[]): Promise<RawWebSocket> =>
  RawWebSocket.open(server.port, handshake(server.key, lines));
const used = async () =>
  (await (await fetch(`${server.base}/v1/usage`, { headers: { 'X-API-Key': server.key } })).json()).day;

/** Frame status, seq and records of the next answer. */
async function nextHeader(peer: RawWebSocket): Promise<number[]> {
  const { payload } = await peer.next();
  return [payload[2]!, payload.readUInt32LE(4), payload.readUInt32LE(8)];
}
const jsonFrame = (seq: number, points: number, padding = 0): string =>
  JSON.stringify({
    seq,
    op: 'encode',
    points: Array.from({ length: points }, () => [21.03, 105.85]),
    x: ' '.repeat(padding),
  });

/** Frames larger than these go to the pool. */
const INLINE_POINTS = 16_384;
const INLINE_JSON_BYTES = 131_072;

test('frames are counted, good and bad', async () => {
  await start({});
  const peer = await open();
  peer.send(encodeFrame(1, pointsOf(1, 3)));
  peer.send(encodeFrame(2, new Float64Array([0, 0, 21.03, 105.85])));
  peer.send(encodeFrame(3, pointsOf(1, INLINE_POINTS + 1)));
  peer.send(Buffer.from([1, 1, 13]));
  for (const seq of [1, 2, 3, 0]) expect((await nextHeader(peer))[1]).toBe(seq);
  const json = await open(JSON_LINES);
  json.send(jsonFrame(1, 5), TEXT);
  json.send(jsonFrame(2, 6, INLINE_JSON_BYTES), TEXT);
  json.send('[]', TEXT);
  for (let n = 0; n < 3; n++) await json.next();
  expect(await used()).toMatchObject({ requests: 2, points: 3 + 2 + INLINE_POINTS + 1 + 5 + 6 });
  peer.end();
  json.end();
});

test('binary frames over the rate have status 2, the others are answered', async () => {
  await start({ defaultPointsPerSecond: 5 });
  const peer = await open();
  peer.send(encodeFrame(1, pointsOf(1, 1000)));
  peer.send(encodeFrame(2, pointsOf(1, 2)));
  peer.send(encodeFrame(3, pointsOf(1, INLINE_POINTS + 1)));
  peer.send(encodeFrame(4, new Float64Array(0)));
  expect(await nextHeader(peer)).toEqual([0, 1, 1000]);
  expect(await nextHeader(peer)).toEqual([2, 2, 0]);
  expect(await nextHeader(peer)).toEqual([2, 3, 0]);
  expect(await nextHeader(peer)).toEqual([0, 4, 0]);
  expect((await used()).points).toBe(1000);
  peer.end();
});

test('JSON frames over the rate are OVER_QUERY_LIMIT with their seq', async () => {
  await start({ defaultPointsPerSecond: 5 });
  const peer = await open(JSON_LINES);
  for (const frame of [
    jsonFrame(1, 100),
    jsonFrame(2, 1),
    jsonFrame(3, 1, INLINE_JSON_BYTES),
    '{"seq":4,"op":"x"}',
  ])
    peer.send(frame, TEXT);
  const answers = [];
  for (let n = 0; n < 4; n++) answers.push(JSON.parse((await peer.next()).payload.toString()));
  expect(answers.map(({ seq, status }) => [seq, status])).toEqual([
    [1, 'OK'],
    [2, 'OVER_QUERY_LIMIT'],
    [3, 'OVER_QUERY_LIMIT'],
    [4, 'INVALID_REQUEST'],
  ]);
  peer.end();
});

test('over the ceiling of the service frames have status 3', async () => {
  await start({ maxPointsPerSecond: 5 });
  const peer = await open();
  peer.send(encodeFrame(1, pointsOf(1, 1000)));
  peer.send(encodeFrame(2, pointsOf(1, 2)));
  expect(await nextHeader(peer)).toEqual([0, 1, 1000]);
  expect(await nextHeader(peer)).toEqual([3, 2, 0]);
  peer.end();
});

test.each([
  ['small', 4],
  ['for the pool', INLINE_POINTS + 1],
])(
  '4002 at a binary frame, %s, that the quota does not cover; answers before it arrive',
  async (_, points) => {
    await start({ defaultPointsPerDay: 3 + points });
    const peer = await open();
    peer.send(encodeFrame(1, pointsOf(1, points)));
    peer.send(encodeFrame(2, pointsOf(1, points)));
    peer.send(encodeFrame(3, pointsOf(1, 1)));
    expect(await nextHeader(peer)).toEqual([0, 1, points]);
    expect(await peer.closed).toBe(4002);
    expect(peer.messages).toEqual([]);
    const last = await open();
    last.send(encodeFrame(4, pointsOf(1, 3)));
    expect(await nextHeader(last)).toEqual([0, 4, 3]);
    // Nothing is left: the handshake is refused.
    const refused = await RawWebSocket.connect(server.port, handshake(server.key));
    while (refused.head === '') await new Promise((done) => setTimeout(done, 5));
    expect(refused.head).toMatch(/^HTTP\/1\.1 429 .*Retry-After: \d+\r\n.*OVER_QUERY_LIMIT/is);
    refused.end();
    last.end();
  },
);

test.each([
  ['small', 0],
  ['for the pool', INLINE_JSON_BYTES],
])('4002 at a JSON frame, %s, that the quota does not cover', async (_, padding) => {
  await start({ defaultPointsPerDay: 5 });
  const peer = await open(JSON_LINES);
  peer.send(jsonFrame(1, 4), TEXT);
  peer.send(jsonFrame(2, 4, padding), TEXT);
  expect(JSON.parse((await peer.next()).payload.toString())).toMatchObject({ seq: 1, status: 'OK' });
  expect(await peer.closed).toBe(4002);
});

/** All codes of a stream over a number of points, in frames of 100. */
async function codesOf(points: number): Promise<number> {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  let answered = 0;
  const stream = client.stream({ operation: 'encode', source: [pointsOf(1, points)], framePoints: 100 });
  for await (const { count } of stream) answered += count;
  return answered;
}

test('the client waits for its rate and loses nothing', async () => {
  await start({ defaultPointsPerSecond: 1000 });
  expect(await codesOf(2000)).toBe(2000);
  expect((await used()).points).toBe(2000);
});

test('the client ends with a clear error when the quota is used up, and at a later start at once', async () => {
  await start({ defaultPointsPerDay: 350 });
  await expect(codesOf(2000)).rejects.toMatchObject({
    code: 'OVER_QUERY_LIMIT',
    closeCode: 4002,
    message: expect.stringContaining("the key's quota is used up"),
  });
  await fetch(`${server.base}/v1/hexcodes/encode/batch`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ points: Array.from({ length: 50 }, () => [21, 105.8]) }),
  });
  expect((await used()).points).toBe(350);
  await expect(codesOf(10)).rejects.toMatchObject({ code: 'OVER_QUERY_LIMIT', httpStatus: 429 });
});
