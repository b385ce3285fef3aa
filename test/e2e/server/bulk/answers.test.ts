// Answers of /bulk on the real server: all formats, gzip, and bodies cut anywhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  csvBody,
  dueAnswer,
  exchangeBulk,
  MEDIA,
  ndjsonBody,
  RawBulkPeer,
  requestHead,
} from '../../../support/bulk-bodies.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { decodeFrame, encodeFrame, isCutOfTheTransport } from '../../../support/raw-stream.js';
import { sharedServer } from '../../../support/shared.js';
import { Wire } from '../../../support/wire.js';

const ENCODE = '/v1/hexcodes/encode/bulk';
const DECODE = '/v1/hexcodes/decode/bulk';
const kernel = openKernel();
const library = new Hexcodes(openKernel());

const server = sharedServer();

function post(
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array = '',
): Promise<Response> {
  const init = { method: 'POST', headers: { 'X-API-Key': server.key, ...headers }, body };
  return fetch(server.base + path, init as RequestInit);
}

test('a CSV row is copied, and its code is that of the library', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) => [8 + (i % 150) / 10, 102 + (i % 80) / 10] as const);
  const body = `lat,lng,name\r\n${rows.map(([lat, lng], i) => `${lat},${lng},"n ""${i}"""\r\n`).join('')}`;
  const answer = await post(`${ENCODE}?resolution=11`, { 'Content-Type': 'text/csv; charset=UTF-8' }, body);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  const lines = (await answer.text()).split('\r\n');
  expect(lines.shift()).toBe('lat,lng,name,hexcodes,resolution,admin_code,status');
  expect(lines.pop()).toBe('');
  expect(lines.length).toBe(rows.length);
  for (const [i, [lat, lng]] of rows.entries()) {
    const { hexcodes, admin_code } = library.encode(lat, lng, 11);
    expect(lines[i]).toBe(`${lat},${lng},"n ""${i}""",${hexcodes},11,${admin_code},OK`);
  }
});

test.each([
  ['encode', 'csv', csvBody(1, 20_000)],
  ['encode', 'csv', csvBody(2, 5)],
  ['encode', 'ndjson', ndjsonBody(3, 20_000)],
  [
    'encode',
    'frames',
    Buffer.concat([1, 4096, 0, 9000, 65_536].map((n, i) => encodeFrame(i, pointsOf(i, n)))),
  ],
  ['decode', 'frames', decodeFrame(1, library.encodeBatch(pointsOf(4, 30_000), 9))],
  ['encode', 'frames', encodeFrame(5, pointsOf(5, 10)).subarray(0, 100)],
  ['encode', 'ndjson', Buffer.alloc(0)],
] as const)(
  '%s %s: the answer is that of the wire functions, byte for byte',
  async (operation, format, body) => {
    const path = operation === 'encode' ? ENCODE : DECODE;
    const peer = await exchangeBulk(server.port, { path, key: server.key, format }, body);
    expect([peer.status, peer.isWhole]).toEqual([200, true]);
    expect(peer.body.equals(dueAnswer(kernel, operation, format, body))).toBe(true);
  },
);

test('any input format may be answered in any output format', async () => {
  const body = csvBody(6, 2000);
  for (const output of ['csv', 'ndjson', 'frames'] as const) {
    const answer = await post(ENCODE, { 'Content-Type': MEDIA.csv, Accept: MEDIA[output] }, body);
    expect(answer.headers.get('content-type')).toContain(MEDIA[output]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.equals(dueAnswer(kernel, 'encode', 'csv', body, { output }))).toBe(true);
  }
  const frame = encodeFrame(1, pointsOf(1, 500));
  const text = await post(ENCODE, { 'Content-Type': MEDIA.frames, Accept: 'application/x-ndjson' }, frame);
  expect((await text.text()).split('\n').length).toBe(501);
});

test('gzip is accepted and sent', async () => {
  const body = csvBody(7, 30_000);
  const packed = await post(
    ENCODE,
    { 'Content-Type': MEDIA.csv, 'Content-Encoding': 'gzip', 'Accept-Encoding': 'gzip' },
    gzipSync(body),
  );
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(Buffer.from(await packed.arrayBuffer()).equals(dueAnswer(kernel, 'encode', 'csv', body))).toBe(true);
  const raw = await exchangeBulk(
    server.port,
    { path: ENCODE, key: server.key, format: 'csv', headers: ['Accept-Encoding: br, gzip;q=0.5'] },
    body,
  );
  expect(gunzipSync(raw.body).equals(dueAnswer(kernel, 'encode', 'csv', body))).toBe(true);
  const plain = await post(
    ENCODE,
    { 'Content-Type': MEDIA.csv, 'Accept-Encoding': 'gzip;q=0' },
    csvBody(7, 3),
  );
  expect(plain.headers.get('content-encoding')).toBeNull();
});

test.each([
  ['gzip;q=0.5, identity', null],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['identity;q=0, *;q=0.1', 'gzip'],
  ['br;q=1, *;q=0', null],
  ['br, gzip;q=0.001', 'gzip'],
  ['gzip;q=x', null],
  ['X-GZIP', 'gzip'],
])('Accept-Encoding: %s', async (accepted, encoding) => {
  const headers = { 'Content-Type': MEDIA.csv, 'Accept-Encoding': accepted };
  const answer = await post(ENCODE, headers, csvBody(7, 3));
  expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding]);
  expect(await answer.text()).toContain(',OK');
});

test('a row is answered before the next one is sent', async () => {
  const peer = await RawBulkPeer.connect(server.port);
  const rows = ['{"lat":21,"lng":105}\n', '{"lat":10,"lng":106}\n', '{"lat":"x","lng":1}\n'];
  await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'ndjson' }, rows.join('').length));
  for (const [i, row] of rows.entries()) {
    await peer.send(row);
    while (peer.body.toString().split('\n').length < i + 2) await sleep(2);
  }
  await peer.done;
  expect(peer.isWhole).toBe(true);
  peer.socket.destroy();
});

test('every cut of a request into two segments gives the same answer', async () => {
  const request = { path: `${ENCODE}?resolution=9`, key: server.key, format: 'csv' } as const;
  const body = csvBody(8, 3, '\r\n');
  const bytes = Buffer.concat([Buffer.from(requestHead(request, body.length)), body]);
  const due = dueAnswer(kernel, 'encode', 'csv', body, { resolution: 9 });
  for (let first = 1; first < bytes.length; first += 32) {
    const cuts = Array.from({ length: Math.min(32, bytes.length - first) }, (_, i) => first + i);
    await Promise.all(
      cuts.map(async (cut) => {
        const peer = await exchangeBulk(server.port, request, body, cut);
        // On a busy machine the two segments may arrive as one.
        const isRefused = isCutOfTheTransport(bytes, cut) && peer.status === 505;
        if (!isRefused) expect(peer.body.equals(due), `cut at ${cut}: ${peer.head}`).toBe(true);
      }),
    );
  }
});

test("the frames of a body equal the stream's", async () => {
  const frames = [3, 5000].map((n, i) => encodeFrame(i, pointsOf(20 + i, n), 7, i));
  const answer = await post(ENCODE, { 'Content-Type': MEDIA.frames }, Buffer.concat(frames));
  const due = Buffer.concat(frames.map((frame) => new Wire(kernel).frame(frame)));
  expect(Buffer.from(await answer.arrayBuffer()).equals(due)).toBe(true);
});
