// Limits of keys over HTTP on the real server: header fields, refusals and their order among the checks, and what is
// counted.
import { afterEach, expect, test } from 'vitest';
import type { ServeConfig } from '#dist/config/config.js';
import { startServer, type TestServer } from '../../../support/server.js';

const KEYS = [
  { name: 'one', secret: 'one_key_0123456789abcdef' },
  { name: 'two', secret: 'two_key_0123456789abcdef' },
];

let server: TestServer;
async function start(limits: Partial<ServeConfig> = {}): Promise<void> {
  server = await startServer({ apiKeys: KEYS, ...limits });
}
afterEach(() => server.stop());

async function call(path: string, init: RequestInit = {}, key = 0) {
  const answer = await fetch(`${server.base}/v1${path}`, {
    ...init,
    headers: { 'X-API-Key': KEYS[key]!.secret, ...init.headers },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}
const encode = (key = 0) => call('/hexcodes/encode?lat=21.03&lng=105.85', {}, key);
const batch = (count: number, padding = 0) =>
  call('/hexcodes/encode/batch', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      points: Array.from({ length: count }, () => [21.03, 105.85]),
      x: ' '.repeat(padding),
    }),
  });
const usage = async (key = 0) => (await call('/usage', {}, key)).body;

/** Larger than a body that is converted in the thread of the server. */
const POOLED = 200_000;

test('without limits there are no header fields, and usage is counted', async () => {
  await start();
  const { status, headers } = await encode();
  expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([200, null, null]);
  await batch(7);
  await batch(9, POOLED);
  await call('/hexcodes/encode?lat=91&lng=0');
  await call('/hexcodes/encode?lat=0&lng=0');
  await call('/hexcodes/decode?hexcodes=nope');
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
  // Ten times what the bucket holds: it is let in when the bucket is full.
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
    message: 'the key has reached its limit of points a second',
  });
  expect((await batch(1)).status).toBe(429);
  expect((await batch(1, POOLED)).status).toBe(429);
  expect((await encode(1)).status).toBe(200);
  // A request that is wrong takes no points.
  expect((await call('/hexcodes/encode?lat=x')).status).toBe(400);
  expect((await call('/meta')).status).toBe(200);
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
  expect([refused.status, refused.headers.get('retry-after'), refused.body.message]).toEqual([
    413,
    null,
    'the request has 101 points, and the key has 100 a day: send it in parts',
  ]);
  expect((await batch(50, POOLED)).status).toBe(200);
  for (const answer of [await batch(51, POOLED), await batch(51)]) {
    expect([answer.status, answer.body.message]).toEqual([
      429,
      'the quota of the key does not cover the request: of the 100 points of this day fewer than 51 are left',
    ]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await batch(50, POOLED)).status).toBe(200);
  expect((await batch(1)).status).toBe(429);
  expect((await usage()).day.points).toBe(100);
});

test('requests over the rate are refused before parameters are read, and lookups too', async () => {
  await start({ defaultRequestsPerSecond: 2 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('/hexcodes/encode?lat=x')));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(2);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.headers.get('ratelimit-policy')).toBe('"requests";q=2;w=1');
  expect(refused.body).toMatchObject({ lat: null, status: 'OVER_QUERY_LIMIT' });
  expect(refused.body).not.toHaveProperty('details');
  expect((await call('/meta', {}, 1)).status).toBe(200);
});

test('the order of checks: path, method, key, requests, parameters, points', async () => {
  await start({ defaultRequestsPerSecond: 1, defaultPointsPerDay: 1 });
  expect((await encode()).status).toBe(200);
  const wrong = await Promise.all([
    call('/nowhere'),
    call('/hexcodes/encode', { method: 'PUT' }),
    call('/hexcodes/encode', { headers: { 'X-API-Key': 'wrong' } }),
    call('/hexcodes/encode?lat=x'),
    call('/hexcodes/encode?lat=x'),
  ]);
  expect(wrong.map(({ status }) => status).slice(0, 3)).toEqual([404, 405, 401]);
  expect(wrong.map(({ status }) => status)).toContain(429);
  const faulty = await retried(() => call('/hexcodes/encode?lat=x'));
  expect(faulty.status).toBe(400);
  const over = await call('/hexcodes/encode?lat=21.03&lng=105.85');
  expect(over.status).toBe(429);
});

test('the ceiling of the service is 503 with Retry-After, without header fields of the key', async () => {
  await start({ maxPointsPerSecond: 10 });
  expect((await batch(100)).status).toBe(200);
  const refused = await encode(1);
  expect([refused.status, refused.body.status]).toEqual([503, 'UNAVAILABLE']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
  expect(refused.headers.get('ratelimit')).toBeNull();
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
  const first = await call(code);
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
  expect((await call('/hexcodes/HN-6GHP4-83RFQ/suggestions')).status).toBe(200);
  expect(await used()).toBe(11);
  expect((await call('/reverse?lat=21.03&lon=105.85')).status).toBe(200);
  expect(await used()).toBe(12);
  const tile = await call('/grid/12/3252/1803');
  expect(tile.status).toBe(200);
  const codes = tile.body.features.length;
  expect(codes).toBeGreaterThan(50);
  expect(await used()).toBe(12 + codes);
  // The same tile, from memory, costs the same: there is not enough left.
  const refused = await call('/grid/12/3252/1803');
  expect([refused.status, refused.body.message]).toEqual([
    429,
    `the quota of the key does not cover the request: of the 150 points of this day fewer than ${codes} are left`,
  ]);
  expect((await call('/meta')).status).toBe(200);
});

test('with metering switched off there is no usage', async () => {
  server = await startServer({ apiKeys: KEYS, defaultPointsPerSecond: 1 }, undefined, { metering: false });
  expect((await Promise.all([encode(), encode(), encode()])).map(({ status }) => status)).toEqual([
    200, 200, 200,
  ]);
  expect((await call('/usage')).status).toBe(404);
});
