// Requests and bodies that /bulk refuses, on the real server.
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { csvBody, MEDIA, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { pointsOf } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const ENCODE = '/v1/hexcodes/encode/bulk';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

function post(
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array = '',
): Promise<Response> {
  const init = { method: 'POST', headers: { 'X-API-Key': server.key, ...headers }, body };
  return fetch(server.base + path, init as RequestInit);
}

test.each([
  [415, ENCODE, { 'Content-Type': 'application/json' }],
  [415, ENCODE, { 'Content-Type': 'text/csv; charset=latin1' }],
  [415, ENCODE, { 'Content-Type': 'text/csv', 'Content-Encoding': 'br' }],
  [406, ENCODE, { 'Content-Type': 'text/csv', Accept: 'application/json, text/csv;q=0' }],
  [400, `${ENCODE}?resolution=16`, { 'Content-Type': 'text/csv' }],
  [400, `${ENCODE}?resolution=1&resolution=2`, { 'Content-Type': 'text/csv' }],
  [400, `${ENCODE}?prefix=a%20b`, { 'Content-Type': 'text/csv' }],
  [400, ENCODE, { 'Content-Type': 'text/csv' }],
  [401, ENCODE, { 'Content-Type': 'text/csv', 'X-API-Key': 'nobody' }],
])('%i for %s %j', async (status, path, headers) => {
  const answer = await post(path, headers, 'p,q\n1,2\n');
  expect(answer.status).toBe(status);
  expect(Object.keys((await answer.json()) as object).slice(0, 3)).toEqual([
    'status',
    'message',
    'request_id',
  ]);
});

test('405 has an Allow header', async () => {
  const answer = await fetch(`${server.base}${ENCODE}?apikey=${server.key}`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
});

test.each([
  ['*/*', MEDIA.frames],
  ['text/*', MEDIA.csv],
  ['application/*;q=0.5, text/csv;q=0.4', MEDIA.frames],
  ['application/x-ndjson, */*;q=0.1', MEDIA.ndjson],
])('frames with Accept %s are answered in %s', async (accept, type) => {
  const answer = await post(
    ENCODE,
    { 'Content-Type': MEDIA.frames, Accept: accept },
    encodeFrame(1, pointsOf(1, 2)),
  );
  expect(answer.headers.get('content-type')).toContain(type);
});

test('a CSV column with the name of an added one is 400, unless a prefix renames the added ones', async () => {
  const body = 'lat,lng,status\n21,105,seen\n';
  expect((await post(ENCODE, { 'Content-Type': MEDIA.csv }, body)).status).toBe(400);
  const renamed = await post(`${ENCODE}?prefix=hx_`, { 'Content-Type': MEDIA.csv }, body);
  expect((await renamed.text()).split('\n')[0]).toBe(
    'lat,lng,status,hx_hexcodes,hx_resolution,hx_admin_code,hx_status',
  );
});

const UTF8 = 'in which CSV must be written';
const FEW = 'far fewer fields than the header row';
test.each([
  ['bytes of Windows-1258', Buffer.from('name,lat,lng\nTr\xe2n,21,105\n', 'latin1'), UTF8],
  ['a NUL', Buffer.from('lat,lng\n21,105\0\n'), 'NUL'],
  ['short rows under a wide header', Buffer.from(`${'c,'.repeat(8000)}lat,lng\n${'1\n'.repeat(8000)}`), FEW],
  ['the same, in the pool', Buffer.from(`${'c,'.repeat(8000)}lat,lng\n${'1\n'.repeat(100_000)}`), FEW],
])('400 for CSV with %s', async (_, body, message) => {
  const answer = await post(ENCODE, { 'Content-Type': MEDIA.csv }, body);
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { message: string }).message).toContain(message);
});

test('rows of another length than the header are answered with as many fields', async () => {
  const body = 'id,note,lat,lng\n1,a,21.03,105.85\n2,short,21.0\n3,long,21.03,105.85,extra\n4,"open,21,105\n';
  const answer = await post(ENCODE, { 'Content-Type': MEDIA.csv }, body);
  const rows = parse(await answer.text(), { columns: true }) as Record<string, string>[];
  expect(rows.map(({ id, status, note, lng }) => [id, status, note, lng])).toEqual([
    ['1', 'OK', 'a', '105.85'],
    ['2', 'INVALID_REQUEST', 'short', ''],
    ['3', 'INVALID_REQUEST', 'long', '105.85'],
    ['4', 'INVALID_REQUEST', 'open,21,105\n', ''],
  ]);
});

test('gzip that is invalid, incomplete, or of an absurd ratio is 400', async () => {
  const headers = { 'Content-Type': MEDIA.ndjson, 'Content-Encoding': 'gzip' };
  expect((await post(ENCODE, headers, 'plain')).status).toBe(400);
  expect((await post(ENCODE, headers, gzipSync('').subarray(0, 12))).status).toBe(400);
  // Blank lines have no answers: 64 MiB of them exceed the ratio before anything is answered.
  const bomb = await post(ENCODE, headers, gzipSync(Buffer.alloc(64 * 2 ** 20, '\n')));
  expect([bomb.status, ((await bomb.json()) as { message: string }).message]).toEqual([
    400,
    'the body unpacks to more than 200 times its size',
  ]);
  // The first MiB may have any ratio.
  expect((await post(ENCODE, headers, gzipSync(Buffer.alloc(2 ** 20 - 1, '\n')))).status).toBe(200);
});

test('bytes behind the gzip data are not dropped in silence; further gzip members are read', async () => {
  const headers = { 'Content-Type': MEDIA.ndjson, 'Content-Encoding': 'gzip' };
  const member = gzipSync('{"lat":21.0288,"lng":105.8525}\n');
  const two = await post(ENCODE, headers, Buffer.concat([member, member]));
  expect([two.status, (await two.text()).trim().split('\n').length]).toEqual([200, 2]);
  for (const behind of [
    Buffer.concat([Buffer.from([0]), member]),
    Buffer.from([0, 1]),
    Buffer.from('{"lat":1}\n'),
  ]) {
    // The answer to the rows before may have begun; then it is cut off.
    const outcome = await post(ENCODE, headers, Buffer.concat([member, behind])).then(
      async (answer) => (answer.status === 200 ? await answer.text().catch(() => 'cut') : answer.status),
      () => 'cut',
    );
    expect([400, 'cut']).toContain(outcome);
  }
});

test('an error after the first answers closes the connection without the last chunk', async () => {
  const good = csvBody(9, 5000);
  const bad = Buffer.concat([Buffer.from('1,2,"'), Buffer.alloc(300_000, 'x')]);
  const peer = await RawBulkPeer.connect(server.port);
  const request = { path: ENCODE, key: server.key, format: 'csv' } as const;
  await peer.send(requestHead(request, good.length + bad.length));
  await peer.send(good);
  while (peer.sizeBytes === 0) await sleep(2);
  await peer.send(bad);
  await peer.done;
  expect([peer.status, peer.isWhole]).toEqual([200, false]);
  expect(server.log()).toContain('A row is longer than');
});
