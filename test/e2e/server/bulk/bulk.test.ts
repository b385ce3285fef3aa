// /bulk of the real server: every row answered and in order whatever the peer does, and refusals before the body.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#dist/library/hexcodes.js';
import type { Pool } from '#dist/pool/pool.js';
import { answerFrame } from '#dist/wire/frames/answer-frame.js';
import {
  csvBody,
  dueAnswer,
  exchangeBulk,
  MEDIA,
  ndjsonBody,
  RawBulkPeer,
  requestHead,
} from '../../../support/bulk-bodies.js';
import { openKernel, pointsOf, randomFrom } from '../../../support/open-world.js';
import { isCutOfTheTransport } from '../../../support/raw-websocket.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { decodeFrame, encodeFrame } from '../../../support/stream-frames.js';

const ENCODE = '/v1/hexcodes/encode/bulk';
const DECODE = '/v1/hexcodes/decode/bulk';
const kernel = openKernel();
const library = new Hexcodes(openKernel());

let server: TestServer;
let pool: Pool;
beforeAll(async () => {
  server = await startServer({}, undefined, {
    bulk: { spoolAfterMs: 300, sweepMs: 50 },
    withPool: (made) => {
      pool = made;
    },
  });
});
afterAll(() => server.stop());

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function post(
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array = '',
): Promise<Response> {
  const init = { method: 'POST', headers: { 'X-API-Key': server.key, ...headers }, body };
  return fetch(server.base + path, init as RequestInit);
}

describe('answers', () => {
  test('CSV: each row passes through and its code is the library’s', async () => {
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
  ] as const)('%s %s: the flow adds and loses nothing', async (operation, format, body) => {
    const path = operation === 'encode' ? ENCODE : DECODE;
    const peer = await exchangeBulk(server.port, { path, key: server.key, format }, body);
    expect([peer.status, peer.isWhole]).toEqual([200, true]);
    expect(peer.body.equals(dueAnswer(kernel, operation, format, body))).toBe(true);
  });

  test('input and output formats are independent', async () => {
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

  test('gzip in and out', async () => {
    const body = csvBody(7, 30_000);
    const packed = await post(
      ENCODE,
      { 'Content-Type': MEDIA.csv, 'Content-Encoding': 'gzip', 'Accept-Encoding': 'gzip' },
      gzipSync(body),
    );
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(Buffer.from(await packed.arrayBuffer()).equals(dueAnswer(kernel, 'encode', 'csv', body))).toBe(
      true,
    );
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

  test('a row is answered when it comes, not when the body ends', async () => {
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
          // A busy machine may put the two segments together again.
          const isRefused = isCutOfTheTransport(bytes, cut) && peer.status === 505;
          if (!isRefused) expect(peer.body.equals(due), `cut at ${cut}: ${peer.head}`).toBe(true);
        }),
      );
    }
  });
});

describe('refusals', () => {
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
    const answer = await post(path, headers, 'x,y\n1,2\n');
    expect(answer.status).toBe(status);
    expect(Object.keys((await answer.json()) as object).slice(0, 3)).toEqual([
      'status',
      'message',
      'request_id',
    ]);
  });

  test('405 names what is allowed', async () => {
    const answer = await fetch(`${server.base}${ENCODE}?apikey=${server.key}`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  test.each([
    ['*/*', MEDIA.frames],
    ['text/*', MEDIA.csv],
    ['application/*;q=0.5, text/csv;q=0.4', MEDIA.frames],
    ['application/x-ndjson, */*;q=0.1', MEDIA.ndjson],
  ])('Accept %s of a frames body is answered in %s', async (accept, type) => {
    const answer = await post(
      ENCODE,
      { 'Content-Type': MEDIA.frames, Accept: accept },
      encodeFrame(1, pointsOf(1, 2)),
    );
    expect(answer.headers.get('content-type')).toContain(type);
  });

  test('a column of ours in the input is 400 unless a prefix renames ours', async () => {
    const body = 'lat,lng,status\n21,105,seen\n';
    expect((await post(ENCODE, { 'Content-Type': MEDIA.csv }, body)).status).toBe(400);
    const renamed = await post(`${ENCODE}?prefix=hx_`, { 'Content-Type': MEDIA.csv }, body);
    expect((await renamed.text()).split('\n')[0]).toBe(
      'lat,lng,status,hx_hexcodes,hx_resolution,hx_admin_code,hx_status',
    );
  });

  test('gzip that is none, that is cut short, and that unpacks without end', async () => {
    const headers = { 'Content-Type': MEDIA.ndjson, 'Content-Encoding': 'gzip' };
    expect((await post(ENCODE, headers, 'plain')).status).toBe(400);
    expect((await post(ENCODE, headers, gzipSync('').subarray(0, 12))).status).toBe(400);
    // 64 MiB of blank lines have no rows, so nothing is answered before the ratio is known.
    const bomb = await post(ENCODE, headers, gzipSync(Buffer.alloc(64 * 2 ** 20, '\n')));
    expect([bomb.status, ((await bomb.json()) as { message: string }).message]).toEqual([
      400,
      'the body unpacks to more than 200 times its size',
    ]);
    // Up to the first MiB anything goes.
    expect((await post(ENCODE, headers, gzipSync(Buffer.alloc(2 ** 20 - 1, '\n')))).status).toBe(200);
  });

  test('an error after the first answers ends the connection without the final chunk', async () => {
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
});

describe('peers', () => {
  // Answers seven times the size of the body, so that they pass what the sockets' own buffers take (up to 36 MB).
  const points = pointsOf(10, 65_536);
  const frames = Buffer.concat(Array.from({ length: 12 }, (_, i) => encodeFrame(i, points)));
  const asText = ['Accept: application/x-ndjson'];

  test('one that sends everything before it reads gets every row, by way of the spool', async () => {
    const peer = await RawBulkPeer.connect(server.port);
    peer.socket.pause();
    const request = { path: ENCODE, key: server.key, format: 'frames', headers: asText } as const;
    await peer.send(requestHead(request, frames.length));
    const spooled = server.log().split('an answer is spooled').length;
    for (let at = 0; at < frames.length; at += 65_536) await peer.send(frames.subarray(at, at + 65_536));
    // The sockets' own buffers take the rest of the body long before the server has read it.
    while (server.log().split('an answer is spooled').length === spooled) await sleep(20);
    const hash = createHash('sha256');
    peer.onBody = (bytes) => hash.update(bytes);
    peer.socket.resume();
    await peer.done;
    const due = dueAnswer(kernel, 'encode', 'frames', frames, { output: 'ndjson' });
    expect([peer.isWhole, peer.sizeBytes]).toEqual([true, due.length]);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(due).digest('hex'));
    peer.socket.destroy();
    // A spool has no name, so nothing of it can stay behind.
    expect(readdirSync(join(server.dataDir, 'spool'))).toEqual([]);
  });

  test('past the spool’s limit the connection is closed, and the log says why', async () => {
    const own = await startServer({}, undefined, {
      bulk: { spoolAfterMs: 100, sweepMs: 20, spool: { requestBytes: 2_000_000, totalBytes: 4_000_000 } },
    });
    try {
      const peer = await RawBulkPeer.connect(own.port);
      peer.socket.pause();
      const request = { path: ENCODE, key: own.key, format: 'frames', headers: asText } as const;
      await peer.send(requestHead(request, frames.length));
      peer.socket.write(frames);
      while (!own.log().includes('an answer was cut off')) await sleep(20);
      peer.socket.resume();
      await peer.done;
      expect(peer.isWhole).toBe(false);
      expect(own.log()).toContain('spooled for this request passes 2000000 bytes');
    } finally {
      await own.stop();
    }
  });

  test('one that reads at random pace gets every byte of the chunked answer', async () => {
    const random = randomFrom(12);
    const part = csvBody(12, 100_000);
    const rows = part.subarray(part.indexOf('\n') + 1);
    const repeats = 12;
    const peer = await RawBulkPeer.connect(server.port);
    const size = part.length + rows.length * (repeats - 1);
    const hash = createHash('sha256');
    let untilRest = 1_000_000;
    peer.onBody = (bytes) => {
      hash.update(bytes);
      untilRest -= bytes.length;
      if (untilRest > 0) return;
      untilRest = random() * 3_000_000;
      peer.socket.pause();
      setTimeout(() => peer.socket.resume(), random() * 30);
    };
    await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, size));
    peer.socket.write(part);
    for (let i = 1; i < repeats; i++) await peer.send(rows);
    await peer.done;
    const due = dueAnswer(kernel, 'encode', 'csv', part);
    const dueRows = due.subarray(due.indexOf('\n') + 1);
    const dueHash = createHash('sha256').update(due);
    for (let i = 1; i < repeats; i++) dueHash.update(dueRows);
    expect([peer.isWhole, peer.sizeBytes]).toEqual([true, due.length + dueRows.length * (repeats - 1)]);
    expect(peer.sizeBytes).toBeGreaterThan(50_000_000);
    expect(hash.digest('hex')).toBe(dueHash.digest('hex'));
    peer.socket.destroy();
  });

  test('fetch with a streaming body, and curl -T', async () => {
    const body = csvBody(13, 100_000);
    const due = dueAnswer(kernel, 'encode', 'csv', body);
    const stream = new ReadableStream({
      start: async (controller) => {
        for (let at = 0; at < body.length; at += 100_000) {
          controller.enqueue(body.subarray(at, at + 100_000));
          await sleep(1);
        }
        controller.close();
      },
    });
    const answer = await fetch(`${server.base}${ENCODE}`, {
      method: 'POST',
      headers: { 'X-API-Key': server.key, 'Content-Type': MEDIA.csv },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(Buffer.from(await answer.arrayBuffer()).equals(due)).toBe(true);

    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-curl-'));
    try {
      const file = join(folder, 'in.csv');
      writeFileSync(file, body);
      const curl = ['-sS', '-f', '-X', 'POST', '-T', file, '-o', join(folder, 'out.csv')];
      curl.push('-H', `X-API-Key: ${server.key}`, '-H', 'Content-Type: text/csv', `${server.base}${ENCODE}`);
      await promisify(execFile)('curl', curl);
      expect(readFileSync(join(folder, 'out.csv')).equals(due)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('workers killed while a body is answered lose and double no row', async () => {
    const body = csvBody(14, 200_000);
    const due = dueAnswer(kernel, 'encode', 'csv', body);
    const random = randomFrom(14);
    let killed = 0;
    while (killed < 20) {
      let running = true;
      const exchange = exchangeBulk(server.port, { path: ENCODE, key: server.key, format: 'csv' }, body);
      exchange.finally(() => {
        running = false;
      });
      while (running) {
        await sleep(5 + random() * 60);
        if (pool.figures.blocks === 0) continue;
        const { completed } = pool.figures;
        const { loadedWorkers } = pool;
        const worker = loadedWorkers[killed % loadedWorkers.length];
        if (worker === undefined) continue;
        await worker.terminate();
        killed++;
        // A block is tried twice: let the one that was hit get through before the next blow. Three blocks before it and
        // three behind it may be done first.
        while (running && pool.figures.completed < completed + 8) await sleep(5);
      }
      const peer = await exchange;
      expect([peer.status, peer.isWhole], server.log().split('\n').slice(-4).join('\n')).toEqual([200, true]);
      expect(peer.body.equals(due)).toBe(true);
    }
  });

  test('a stalled reader holds up nobody else', async () => {
    const body = csvBody(15, 300_000);
    const stalled = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const peer = await RawBulkPeer.connect(server.port);
        peer.socket.pause();
        peer.socket.write(requestHead({ path: ENCODE, key: server.key, format: 'csv' }, body.length));
        peer.socket.write(body);
        return peer;
      }),
    );
    const small = csvBody(16, 20_000);
    const healthy = await exchangeBulk(server.port, { path: ENCODE, key: server.key, format: 'csv' }, small);
    expect(healthy.body.equals(dueAnswer(kernel, 'encode', 'csv', small))).toBe(true);
    for (const peer of stalled) peer.socket.destroy();
  });
});

test('frames of the bulk body are those of the stream', async () => {
  const frames = [3, 5000].map((n, i) => encodeFrame(i, pointsOf(20 + i, n), 7, i));
  const answer = await post(ENCODE, { 'Content-Type': MEDIA.frames }, Buffer.concat(frames));
  const due = Buffer.concat(frames.map((frame) => answerFrame(kernel, frame)));
  expect(Buffer.from(await answer.arrayBuffer()).equals(due)).toBe(true);
});
