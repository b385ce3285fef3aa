// Large writes are uncorked and lose nothing (transport README U20, U21). The service runs in a process of its own,
// because uWS prints its warning about uncorked writes on standard error.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { encodeFrame } from '../../../support/raw-stream.js';

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
