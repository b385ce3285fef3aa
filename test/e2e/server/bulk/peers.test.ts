// /bulk on the real server with peers that read late, slowly or never, and with workers that die: no row is lost or
// doubled.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pool } from '#dist/pool/pool.js';
import {
  csvBody,
  dueAnswer,
  exchangeBulk,
  MEDIA,
  RawBulkPeer,
  requestHead,
} from '../../../support/bulk-bodies.js';
import { openKernel, pointsOf, randomFrom } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { encodeFrame } from '../../../support/stream-frames.js';

const ENCODE = '/v1/hexcodes/encode/bulk';
const kernel = openKernel();

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

// The answers are seven times as long as the body: more than the buffers of the sockets hold (up to 36 MB).
const points = pointsOf(10, 65_536);
const frames = Buffer.concat(Array.from({ length: 12 }, (_, i) => encodeFrame(i, points)));
const asText = ['Accept: application/x-ndjson'];

test('a peer that sends everything before it reads gets every row, through the spool', async () => {
  const peer = await RawBulkPeer.connect(server.port);
  peer.socket.pause();
  const request = { path: ENCODE, key: server.key, format: 'frames', headers: asText } as const;
  await peer.send(requestHead(request, frames.length));
  const spooled = server.log().split('an answer is spooled').length;
  for (let at = 0; at < frames.length; at += 65_536) await peer.send(frames.subarray(at, at + 65_536));
  // The peer has sent its body long before the server has read it from the buffers of the sockets.
  while (server.log().split('an answer is spooled').length === spooled) await sleep(20);
  const hash = createHash('sha256');
  peer.onBody = (bytes) => hash.update(bytes);
  peer.socket.resume();
  await peer.done;
  const due = dueAnswer(kernel, 'encode', 'frames', frames, { output: 'ndjson' });
  expect([peer.isWhole, peer.sizeBytes]).toEqual([true, due.length]);
  expect(hash.digest('hex')).toBe(createHash('sha256').update(due).digest('hex'));
  peer.socket.destroy();
  // A spool has no name, so no file is left.
  expect(readdirSync(join(server.dataDir, 'spool'))).toEqual([]);
});

test('over the limit of the spool the connection is closed, and the log gives the reason', async () => {
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
    expect(own.log()).toContain('more than the 2000000 bytes that are kept for a request');
  } finally {
    await own.stop();
  }
});

test('a peer that rests and then reads slowly is not served through the spool for good: its body waits for it', async () => {
  const requestBytes = 40_000_000;
  const own = await startServer({}, undefined, {
    bulk: { spoolAfterMs: 300, sweepMs: 20, spool: { requestBytes, totalBytes: 2 * requestBytes } },
  });
  try {
    const peer = await RawBulkPeer.connect(own.port);
    peer.socket.pause();
    const hash = createHash('sha256');
    let untilRest = 200_000;
    peer.onBody = (bytes) => {
      hash.update(bytes);
      untilRest -= bytes.length;
      if (untilRest > 0) return;
      untilRest = 200_000;
      peer.socket.pause();
      setTimeout(() => peer.socket.resume(), 10);
    };
    const request = { path: ENCODE, key: own.key, format: 'frames', headers: asText } as const;
    await peer.send(requestHead(request, frames.length));
    peer.socket.write(frames);
    while (!own.log().includes('an answer is spooled')) await sleep(5);
    peer.socket.resume();
    await peer.done;
    const due = dueAnswer(kernel, 'encode', 'frames', frames, { output: 'ndjson' });
    expect([peer.isWhole, peer.sizeBytes, own.log().includes('kept for a request')]).toEqual([
      true,
      due.length,
      false,
    ]);
    expect(due.length).toBeGreaterThan(2 * requestBytes);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(due).digest('hex'));
    peer.socket.destroy();
  } finally {
    await own.stop();
  }
});

test('a peer that reads at a random pace gets every byte of a chunked answer', async () => {
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

test('fetch with a streamed body and curl -T get the same answer', async () => {
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

test('no row is lost or doubled when workers are killed', async () => {
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
      // The pool tries a block again on another worker, but not without end: the next worker is killed once the block
      // that was lost must be through. Three blocks before it and three behind it may complete first.
      while (running && pool.figures.completed < completed + 8) await sleep(5);
    }
    const peer = await exchange;
    expect([peer.status, peer.isWhole], server.log().split('\n').slice(-4).join('\n')).toEqual([200, true]);
    expect(peer.body.equals(due)).toBe(true);
  }
});

test('readers that stall do not hold up others', async () => {
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
