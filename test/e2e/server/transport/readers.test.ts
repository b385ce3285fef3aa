// Readers that rest for longer than the timeouts of uWS and then go on get every byte (transport README U24), and so
// do those of large writes.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { chunkOf, dueAnswer, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { call } from '../../../support/http-calls.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();

// An answer of more bytes than the sockets of both ends buffer on loopback.
const body = Buffer.concat(Array.from({ length: 12 }, (_, seq) => encodeFrame(seq, pointsOf(1, 65_536))));

/** The bytes of an answer whose reader rests before its first byte. */
async function afterRest(restMs: number, headers: readonly string[], isChunked = false): Promise<unknown[]> {
  const peer = await RawBulkPeer.connect(server.port);
  peer.socket.pause();
  const hash = createHash('sha256');
  peer.onBody = (bytes) => hash.update(bytes);
  const asText = ['Accept: application/x-ndjson', ...headers];
  const ask = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'frames' as const };
  peer.socket.write(requestHead({ ...ask, headers: asText }, isChunked ? undefined : body.length));
  peer.socket.write(isChunked ? Buffer.concat([chunkOf(body), chunkOf(Buffer.alloc(0))]) : body);
  await sleep(restMs);
  peer.socket.resume();
  await peer.done;
  return [peer.status, peer.isWhole, peer.sizeBytes, hash.digest('hex')];
}

test('answers in chunks, and of known length', async () => {
  const due = dueAnswer(openKernel(), 'encode', 'frames', body, { output: 'ndjson' });
  const whole = [200, true, due.length, createHash('sha256').update(due).digest('hex')];
  const { transport } = (await call(server, '/v1/meta')).body;
  // Longer than the timeout of uWS, in steps of four seconds: ten in uws-pack, thirty in 20.57.0.
  const restMs = transport.name === 'uws-pack' ? 15_000 : 40_000;
  const answers = await Promise.all([
    afterRest(restMs, []),
    afterRest(restMs, ['Hexcodes-Answer: after-body']),
    afterRest(restMs, ['Hexcodes-Answer: after-body'], true),
  ]);
  expect(answers).toEqual([whole, whole, whole]);
});

// Large writes are uncorked and lose nothing (transport README U20, U21). The service runs in a process of its own,
// because uWS prints its warning about uncorked writes on standard error.

describe('large writes', () => {
  const POINTS = 4096;
  const HEADER_BYTES = 16;
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-large-writes-'));
  let child: ChildProcess;
  let errors = '';
  let port = 0;

  beforeAll(async () => {
    child = spawn(process.execPath, ['dist/cli/main.js', 'serve', '--port', '0'], {
      env: { PATH: process.env.PATH ?? '', HEXCODES_DATA_DIR: folder, HEXCODES_ADMIN_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (bytes) => {
      errors += bytes;
    });
    while (port === 0) {
      port = Number(/answers on http:\/\/[^:]+:(\d+)/.exec(errors)?.[1] ?? 0);
      if (child.exitCode !== null) throw new Error(errors);
      await sleep(10);
    }
  });
  afterAll(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  test.each(['quick', 'slow'])('a %s client gets every byte, most of them in large chunks', async (pace) => {
    const pairsDeg = Array.from({ length: 96 }, (_, seq) =>
      Float64Array.from({ length: 2 * POINTS }, (_, i) => (i % 2 === 0 ? 16 : 108) + seq / 1e3 + i / 1e5),
    );
    const body = Buffer.concat(pairsDeg.map((pairs, seq) => encodeFrame(seq, pairs)));
    const peer = await RawBulkPeer.connect(port);
    const ask = {
      path: '/v1/hexcodes/encode/bulk',
      key: readFileSync(join(folder, 'first-key'), 'utf8').trim(),
      format: 'frames' as const,
    };
    peer.socket.write(requestHead(ask, body.length));
    peer.socket.write(body);
    if (pace === 'slow') {
      for (let i = 0; i < 40; i++) {
        peer.socket.pause();
        await sleep(10);
        peer.socket.resume();
        await sleep(1);
      }
    }
    await peer.done;
    expect([peer.status, peer.isWhole]).toEqual([200, true]);
    const library = await Hexcodes.load();
    const due = pairsDeg.map((pairs, seq) => {
      const head = Buffer.from(encodeFrame(seq, pairs).subarray(0, HEADER_BYTES));
      // An answer has its status where the frame has its resolution.
      head[2] = 0;
      return Buffer.concat([head, library.encodeBatch(pairs)]);
    });
    expect(peer.body.equals(Buffer.concat(due))).toBe(true);
    const largeBytes = peer.chunkSizes.filter((size) => size > 60_000).reduce((sum, size) => sum + size, 0);
    expect(largeBytes / peer.sizeBytes).toBeGreaterThan(0.5);
    expect(errors).not.toContain('Warning');
  });
});
