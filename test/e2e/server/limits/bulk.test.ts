// Limits of keys on /bulk: a rate slows a body down and loses none of its rows, a quota that is used up fills the rest
// of the rows.
import { afterEach, expect, test, vi } from 'vitest';
import {
  csvBody,
  dueAnswer,
  MEDIA,
  ndjsonBody,
  RawBulkPeer,
  requestHead,
} from '../../../support/bulk-bodies.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { type ServeConfig, startServer, type TestServer } from '../../../support/server.js';
import type { BulkFormat } from '../../../support/wire.js';

const kernel = openKernel();
const ENCODE = '/v1/hexcodes/encode/bulk';

let server: TestServer;
async function start(limits: Partial<ServeConfig>, tuning = {}): Promise<void> {
  server = await startServer(limits, undefined, tuning);
}
afterEach(() => server.stop());

const usage = async () =>
  (await (await fetch(`${server.base}/v1/usage`, { headers: { 'X-API-Key': server.key } })).json()).day;

async function encode(format: BulkFormat, body: Uint8Array, accept = format) {
  const answer = await fetch(`${server.base}${ENCODE}`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': MEDIA[format], Accept: MEDIA[accept] },
    body: body as Uint8Array<ArrayBuffer>,
  });
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

const lines = (bytes: Uint8Array): string[] => Buffer.from(bytes).toString().split('\n').slice(0, -1);
const framesBody = (frames: number, points: number): Buffer =>
  Buffer.concat(Array.from({ length: frames }, (_, i) => encodeFrame(i, pointsOf(i, points))));

test.each([
  ['csv', csvBody(1, 30_000)],
  ['ndjson', ndjsonBody(2, 30_000)],
  ['frames', framesBody(10, 3000)],
] as const)('without limits a body of %s is counted row by row', async (format, body) => {
  await start({});
  const answer = await encode(format, body);
  expect(answer.body.equals(dueAnswer(kernel, 'encode', format, body))).toBe(true);
  expect(await usage()).toMatchObject({ requests: 1, points: 30_000 });
});

test.each([
  ['csv', csvBody(1, 2500)],
  ['ndjson', ndjsonBody(2, 2500)],
  ['frames', framesBody(25, 100)],
] as const)('a body of %s over its rate waits, and its answer is the same', async (format, body) => {
  await start({ defaultPointsPerSecond: 1000 });
  const answer = await encode(format, body);
  expect(answer.status).toBe(200);
  expect(answer.body.equals(dueAnswer(kernel, 'encode', format, body))).toBe(true);
  expect((await usage()).points).toBe(2500);
});

test('a large body at a high rate goes through the pool with equal bytes', async () => {
  await start({ defaultPointsPerSecond: 200_000 });
  const body = csvBody(3, 300_000);
  const answer = await encode('csv', body);
  expect(answer.body.equals(dueAnswer(kernel, 'encode', 'csv', body))).toBe(true);
  expect((await usage()).points).toBe(300_000);
});

test('while a body waits for its rate it is not taken for stalled, and its answer begins', async () => {
  await start(
    { defaultPointsPerSecond: 20 },
    { bulk: { noProgressMs: 300, sweepMs: 20, spoolAfterMs: 10_000 } },
  );
  // The bucket owes some seconds before the body comes.
  const batch = { points: Array.from({ length: 40 }, () => [21, 105.8]) };
  await fetch(`${server.base}/v1/hexcodes/encode/batch`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: JSON.stringify(batch),
  });
  const body = csvBody(1, 10);
  const answer = await encode('csv', body);
  expect(answer.body.equals(dueAnswer(kernel, 'encode', 'csv', body))).toBe(true);
});

test('a body whose next point comes in thirty years sets no timer that ends at once', async () => {
  await start({ defaultPointsPerSecond: 1e-9 });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const left = new AbortController();
  const answer = await fetch(`${server.base}${ENCODE}`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': MEDIA.csv },
    body: 'lat,lng\n21,105\n21,105\n',
    signal: left.signal,
  });
  expect((await answer.body!.getReader().read()).done).toBe(false);
  left.abort();
  const delays = timers.mock.calls.map(([, delayMs]) => delayMs ?? 0);
  timers.mockRestore();
  expect(delays).toContain(60_000);
  expect(delays.filter((delayMs) => delayMs > 2 ** 31 - 1)).toEqual([]);
});

test.each([
  ['csv', csvBody(1, 300)],
  ['csv', csvBody(1, 40_000)],
  ['ndjson', ndjsonBody(2, 40_000)],
] as const)('once the quota is used up the rest of the rows say so: %s', async (format, body) => {
  const quota = 123;
  await start({ defaultPointsPerDay: quota });
  const answer = await encode(format, body);
  expect(answer.status).toBe(200);
  const rows = lines(answer.body);
  const due = lines(dueAnswer(kernel, 'encode', format, body));
  expect(rows.length).toBe(due.length);
  const heads = format === 'csv' ? 1 : 0;
  expect(rows.slice(0, heads + quota)).toEqual(due.slice(0, heads + quota));
  // Rows that are not positions say that in any case.
  const rest = rows.slice(heads + quota).filter((row) => !row.includes('INVALID_REQUEST'));
  expect(rest.length).toBeGreaterThan(150);
  expect(rest.filter((row) => !row.includes('OVER_QUERY_LIMIT'))).toEqual([]);
  expect((await usage()).points).toBe(quota);
  // No row of a body that comes later can be converted.
  const later = await encode(format, body);
  expect([later.status, JSON.parse(later.body.toString()).status]).toEqual([429, 'OVER_QUERY_LIMIT']);
});

test('a quota that ends in the midst of large blocks is used to its last point', async () => {
  await start({ defaultPointsPerDay: 100_001 });
  const body = csvBody(3, 300_000);
  const rows = lines((await encode('csv', body)).body);
  const due = lines(dueAnswer(kernel, 'encode', 'csv', body));
  expect(rows.slice(0, 100_002)).toEqual(due.slice(0, 100_002));
  expect(rows[100_010]).toMatch(/,OVER_QUERY_LIMIT$|,INVALID_REQUEST$/);
  expect(rows.length).toBe(300_001);
  expect((await usage()).points).toBe(100_001);
});

test('a frame beyond the quota, and all frames after it, have status 2', async () => {
  await start({ defaultPointsPerDay: 250 });
  const answer = await encode('frames', framesBody(5, 100));
  const due = dueAnswer(kernel, 'encode', 'frames', framesBody(5, 100));
  const whole = 2 * (16 + 100 * 20);
  expect(answer.body.subarray(0, whole).equals(due.subarray(0, whole))).toBe(true);
  const rest = answer.body.subarray(whole);
  expect(rest.length).toBe(3 * 16);
  expect([0, 1, 2].map((i) => [rest[16 * i + 2], rest.readUInt32LE(16 * i + 4)])).toEqual([
    [2, 2],
    [2, 3],
    [2, 4],
  ]);
  expect((await usage()).points).toBe(200);
});

test('two bodies at once use the quota up together, and no more', async () => {
  await start({ defaultPointsPerDay: 30_000 });
  const [one, two] = await Promise.all([
    encode('csv', csvBody(1, 40_000)),
    encode('csv', csvBody(2, 40_000)),
  ]);
  const converted = [one, two].flatMap(({ body }) =>
    lines(body).filter((row) => /,(OK|NOT_FOUND)$/.test(row)),
  );
  expect(converted.length).toBeLessThanOrEqual(30_000);
  expect(converted.length).toBeGreaterThan(29_000);
  expect((await usage()).points).toBe(30_000);
});

test('a body that is left while it waits gives its points back', async () => {
  await start({ defaultPointsPerSecond: 50, defaultPointsPerDay: 1_000_000 });
  const body = csvBody(1, 5000);
  const peer = await RawBulkPeer.connect(server.port);
  await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, body.length));
  await peer.send(body);
  while (peer.sizeBytes === 0) await new Promise((done) => setTimeout(done, 5));
  peer.socket.destroy();
  const left = async () => {
    const { headers } = await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': server.key } });
    return Number(/"points-day";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  };
  // Nothing stays reserved: what is left and what is used are the whole quota.
  let sum = 0;
  while (sum !== 1_000_000) sum = (await usage()).points + (await left());
  expect((await usage()).points).toBeLessThan(5000);
});
