// Limits of keys over HTTP and on the stream: header fields, refusals and their order among the checks, frame status 2,
// close 4002, and what is counted.

import { afterEach, describe, expect, test } from 'vitest';
import { HexcodesClient } from '#hexcodes/client';
import { call } from '../../../support/http-calls.js';
import { pointsOf } from '../../../support/open-world.js';
import { encodeFrame, handshake, RawWebSocket, TEXT } from '../../../support/raw-stream.js';
import { type ServeConfig, startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;

afterEach(() => server.stop());

describe('HTTP', () => {
  const KEYS = [
    { name: 'one', secret: 'one_key_0123456789abcdef' },
    { name: 'two', secret: 'two_key_0123456789abcdef' },
  ];

  async function start(limits: Partial<ServeConfig> = {}): Promise<void> {
    server = await startServer({ apiKeys: KEYS, ...limits });
  }

  const ask = (path: string, init: RequestInit = {}, key = 0) =>
    call(server, `/v1${path}`, init, KEYS[key]!.secret);

  const encode = (key = 0) => ask('/hexcodes/encode?lat=21.03&lng=105.85', {}, key);

  const batch = (count: number, padding = 0) =>
    ask('/hexcodes/encode/batch', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        points: Array.from({ length: count }, () => [21.03, 105.85]),
        x: ' '.repeat(padding),
      }),
    });

  const usage = async (key = 0) => (await ask('/usage', {}, key)).body;

  /** Larger than a body that is converted in the thread of the server. */
  const POOLED = 200_000;

  test('without limits there are no header fields, and usage is counted', async () => {
    await start();
    const { status, headers } = await encode();
    expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([200, null, null]);
    await batch(7);
    await batch(9, POOLED);
    await ask('/hexcodes/encode?lat=91&lng=0');
    await ask('/hexcodes/encode?lat=0&lng=0');
    await ask('/hexcodes/decode?hexcodes=nope');
    expect(await usage()).toMatchObject({
      status: 'OK',
      key: { id: 'env:one', name: 'one' },
      day: { requests: 6, points: 1 + 7 + 9 + 0 + 1 + 1 },
      month: { requests: 6, points: 19 },
      time_zone: 'Asia/Ho_Chi_Minh',
      limits: {
        points_per_second: null,
        points_burst: null,
        requests_per_second: null,
        requests_burst: null,
        points_per_day: null,
        points_per_month: null,
      },
    });
    expect((await usage(1)).day).toMatchObject({ requests: 0, points: 0 });
  });

  test('points over the rate are 429 with Retry-After, for this key alone', async () => {
    await start({ defaultPointsPerSecond: 10 });
    const first = await batch(10);
    expect(first.headers.get('ratelimit-policy')).toBe('"points";q=10;w=1');
    expect(first.headers.get('ratelimit')).toMatch(/^"points";r=\d;t=1$/);
    // Ten times what the bucket holds: it is admitted when the bucket is full.
    const large = await retried(() => batch(100));
    expect(large.status).toBe(200);
    const refused = await encode();
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([
      429,
      expect.stringMatching(/^"points";r=0;t=\d+$/),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(refused.body).toMatchObject({
      hexcodes: null,
      lat: 21.03,
      lng: 105.85,
      resolution: 13,
      status: 'OVER_QUERY_LIMIT',
    });
    expect((await batch(1)).status).toBe(429);
    expect((await batch(1, POOLED)).status).toBe(429);
    expect((await encode(1)).status).toBe(200);
    // A request that is wrong takes no points.
    expect((await ask('/hexcodes/encode?lat=x')).status).toBe(400);
    expect((await ask('/meta')).status).toBe(200);
  });

  test.each([
    { defaultPointsPerSecond: 5e-324 },
    { defaultPointsPerSecond: 1e-9 },
    { defaultRequestsPerSecond: 1e-300 },
    { defaultPointsPerSecond: 1e15 },
    { defaultPointsPerDay: 1e15 },
  ])('the header fields of %o have integers of 15 digits at most', async (limits) => {
    await start(limits);
    for (const { headers } of [await encode(), await encode()]) {
      const policy = headers.get('ratelimit-policy');
      expect(policy).toMatch(/^"[a-z-]+";q=\d{1,15};w=\d{1,15}$/);
      expect(headers.get('ratelimit')).toMatch(/^"[a-z-]+";r=\d{1,15};t=\d{1,15}$/);
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'])
        expect(headers.get(name) ?? '0').toMatch(/^\d{1,15}$/);
    }
  });

  /** Asks again, after what the server says, until it is not refused. */
  async function retried<T extends { status: number; headers: Headers }>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      const answer = await ask();
      if (answer.status !== 429) return answer;
      await new Promise((done) => setTimeout(done, 1000 * Number(answer.headers.get('retry-after'))));
    }
  }

  test('a batch for the pool with more points than are left is refused as a whole', async () => {
    await start({ defaultPointsPerDay: 100 });
    const refused = await batch(101, POOLED);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([413, null]);
    expect((await batch(50, POOLED)).status).toBe(200);
    for (const answer of [await batch(51, POOLED), await batch(51)]) {
      expect(answer.status).toBe(429);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await batch(50, POOLED)).status).toBe(200);
    expect((await batch(1)).status).toBe(429);
    expect((await usage()).day).toMatchObject({ requests: 2, points: 100 });
  });

  test('requests over the rate are refused before parameters are read, and lookups too', async () => {
    await start({ defaultRequestsPerSecond: 2 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/hexcodes/encode?lat=x')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(2);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit-policy')).toBe('"requests";q=2;w=1');
    expect(refused.body).toMatchObject({ lat: null, status: 'OVER_QUERY_LIMIT' });
    expect(refused.body).not.toHaveProperty('details');
    expect((await ask('/meta', {}, 1)).status).toBe(200);
  });

  test('the order of checks: path, method, key, requests, parameters, points', async () => {
    await start({ defaultRequestsPerSecond: 1, defaultPointsPerDay: 1 });
    expect((await encode()).status).toBe(200);
    const wrong = await Promise.all([
      ask('/nowhere'),
      ask('/hexcodes/encode', { method: 'PUT' }),
      call(server, '/v1/hexcodes/encode', {}, 'wrong'),
      ask('/hexcodes/encode?lat=x'),
      ask('/hexcodes/encode?lat=x'),
    ]);
    expect(wrong.map(({ status }) => status).slice(0, 3)).toEqual([404, 405, 401]);
    expect(wrong.map(({ status }) => status)).toContain(429);
    const faulty = await retried(() => ask('/hexcodes/encode?lat=x'));
    expect(faulty.status).toBe(400);
    const over = await ask('/hexcodes/encode?lat=21.03&lng=105.85');
    expect(over.status).toBe(429);
  });

  test('the ceiling of the service is 503 with Retry-After, without header fields of the key', async () => {
    await start({ maxPointsPerSecond: 10 });
    expect((await batch(100)).status).toBe(200);
    const refused = await encode(1);
    expect([refused.status, refused.body.status]).toEqual([503, 'UNAVAILABLE']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(refused.headers.get('ratelimit')).toBeNull();
    expect((await usage(1)).day).toMatchObject({ requests: 0, points: 0 });
  });

  test('limits stand in usage as they hold', async () => {
    await start({ defaultPointsPerSecond: 7, defaultPointsPerMonth: 1000 });
    expect((await usage()).limits).toEqual({
      points_per_second: 7,
      points_burst: 7,
      requests_per_second: null,
      requests_burst: null,
      points_per_day: null,
      points_per_month: 1000,
    });
  });

  test('look-ups have a price: a point for each code that they may be about; 304 is free', async () => {
    await start({ defaultPointsPerDay: 150 });
    const code = '/hexcodes/HN-6GHP4-83RFR';
    const used = async (): Promise<number> => (await usage()).day.points;
    const first = await ask(code);
    expect([first.status, first.headers.get('ratelimit')]).toEqual([
      200,
      expect.stringMatching(/^"points-day";r=149;/),
    ]);
    const tag = first.headers.get('etag') as string;
    expect(
      (
        await fetch(`${server.base}/v1${code}`, {
          headers: { 'X-API-Key': KEYS[0]!.secret, 'If-None-Match': tag },
        })
      ).status,
    ).toBe(304);
    expect(await used()).toBe(1);
    expect((await ask('/hexcodes/HN-6GHP4-83RFQ/suggestions')).status).toBe(200);
    expect(await used()).toBe(11);
    expect((await ask('/reverse?lat=21.03&lon=105.85')).status).toBe(200);
    expect(await used()).toBe(12);
    const tile = await ask('/grid/12/3252/1803');
    expect(tile.status).toBe(200);
    const codes = tile.body.features.length;
    expect(codes).toBeGreaterThan(50);
    expect(await used()).toBe(12 + codes);
    // A tile from memory costs as much: there is not enough left.
    const refused = await ask('/grid/12/3252/1803');
    expect(refused.status).toBe(429);
    expect((await ask('/meta')).status).toBe(200);
  });

  test('with metering switched off there is no usage', async () => {
    server = await startServer({ apiKeys: KEYS, defaultPointsPerSecond: 1 }, undefined, { metering: false });
    expect((await Promise.all([encode(), encode(), encode()])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
    expect((await ask('/usage')).status).toBe(404);
  });
});

describe('the stream', () => {
  const JSON_LINES = ['Sec-WebSocket-Protocol: hexcodes.v1.json'];

  async function start(limits: Partial<ServeConfig>): Promise<void> {
    server = await startServer(limits);
  }

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
});
