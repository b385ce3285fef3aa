// /bulk with peers that read late, slowly or never, with workers that die, held answers (Hexcodes-Answer: after-body),
// and uploads as fast as curl can: no row is lost or doubled.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  chunkOf,
  csvBody,
  dueAnswer,
  exchangeBulk,
  MEDIA,
  RawBulkPeer,
  requestHead,
} from '../../../support/bulk-bodies.js';
import { RepeatedBody } from '../../../support/deploy/task-bodies.js';
import { canHaveNamespaces } from '../../../support/network.js';
import { openKernel, pointsOf, randomFrom } from '../../../support/open-world.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { type Pool, startServer, type TestServer } from '../../../support/server.js';
import { COMMAND_KEY } from '../../../support/server-process.js';
import { sharedServer } from '../../../support/shared.js';

const ENCODE = '/v1/hexcodes/encode/bulk';

const kernel = openKernel();

describe('peers that read late', () => {
  const server = sharedServer({}, undefined, {
    bulk: { spoolAfterMs: 300, sweepMs: 50 },
    withPool: (made) => {
      pool = made;
    },
  });

  let pool: Pool;

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
    onTestFinished(() => own.stop());

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
  });

  test('a peer that rests and then reads slowly is not served through the spool for good: its body waits for it', async () => {
    const requestBytes = 40_000_000;
    const own = await startServer({}, undefined, {
      bulk: { spoolAfterMs: 300, sweepMs: 20, spool: { requestBytes, totalBytes: 2 * requestBytes } },
    });
    onTestFinished(() => own.stop());

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
    onTestFinished(() => rmSync(folder, { recursive: true }));

    const file = join(folder, 'in.csv');
    writeFileSync(file, body);
    const curl = ['-sS', '-f', '-X', 'POST', '-T', file, '-o', join(folder, 'out.csv')];
    curl.push('-H', `X-API-Key: ${server.key}`, '-H', 'Content-Type: text/csv', `${server.base}${ENCODE}`);
    await promisify(execFile)('curl', curl);
    expect(readFileSync(join(folder, 'out.csv')).equals(due)).toBe(true);
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
        // that was lost must be through. Three blocks before it and three after it may complete first.
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
});

describe('held answers', () => {
  const server = sharedServer();

  /** fetch would have its answer packed, and so smaller. */
  const PLAIN = { 'Accept-Encoding': 'identity' };

  const HELD = 'Hexcodes-Answer: after-body';

  const body = csvBody(3, 200_000);

  const due = dueAnswer(kernel, 'encode', 'csv', body);

  function post(url: string, headers: Record<string, string>, sent: Uint8Array): Promise<Response> {
    return fetch(url, { method: 'POST', headers, body: sent } as RequestInit);
  }

  async function sendHalf(
    to: TestServer,
    headers: readonly string[] = [],
    isChunked = false,
  ): Promise<RawBulkPeer> {
    const peer = await RawBulkPeer.connect(to.port);
    const request = { path: ENCODE, key: to.key, format: 'csv', headers: [HELD, ...headers] } as const;
    await peer.send(requestHead(request, isChunked ? undefined : body.length));
    const half = body.subarray(0, body.length / 2);
    await peer.send(isChunked ? chunkOf(half) : half);
    return peer;
  }

  // A proxy that loses its node may end an answer in chunks as if it were whole; the length shows that it is not.
  test.each([
    ['a body of known length', false, []],
    ['a body in chunks', true, []],
    ['a body in chunks, packed', true, ['Accept-Encoding: gzip']],
  ])(
    'nothing is answered before the end of %s, then everything, with its length',
    async (_, isChunked, headers) => {
      const peer = await sendHalf(server, headers, isChunked);
      // Without the header some of it comes at once (peers.test.ts).
      await sleep(500);
      expect(peer.head).toBe('');
      const half = body.subarray(body.length / 2);
      await peer.send(isChunked ? Buffer.concat([chunkOf(half), chunkOf(Buffer.alloc(0))]) : half);
      await peer.done;
      expect(peer.head).toContain(`Content-Length: ${peer.sizeBytes}\r\n`);
      expect((headers.length > 0 ? gunzipSync(peer.body) : peer.body).equals(due)).toBe(true);
      peer.socket.destroy();
      expect(readdirSync(join(server.dataDir, 'spool'))).toEqual([]);
    },
  );

  test.each([
    ['a few rows', csvBody(4, 10)],
    ['no rows', Buffer.from('id,lat,note,lng\n')],
  ])('%s, by fetch, in chunks and with gzip', async (_, small) => {
    const expected = dueAnswer(kernel, 'encode', 'csv', small);
    const headers = { 'X-API-Key': server.key, 'Content-Type': 'text/csv', 'Hexcodes-Answer': 'After-Body' };
    const inChunks = new ReadableStream({
      start: (to) => {
        for (const byte of small) to.enqueue(Uint8Array.of(byte));
        to.close();
      },
    });
    for (const sent of [small, inChunks]) {
      const init = { method: 'POST', headers, body: sent, duplex: 'half' } as RequestInit;
      const answer = await fetch(server.base + ENCODE, init);
      expect(Buffer.from(await answer.arrayBuffer()).equals(expected)).toBe(true);
    }
    const peer = await RawBulkPeer.connect(server.port);
    const more = [HELD, 'Accept-Encoding: gzip'];
    await peer.send(
      requestHead({ path: ENCODE, key: server.key, format: 'csv', headers: more }, small.length),
    );
    await peer.send(small);
    await peer.done;
    expect(gunzipSync(peer.body).equals(expected)).toBe(true);
    peer.socket.destroy();
  });

  test('another value of the header is 400, and names it', async () => {
    const headers = { 'X-API-Key': server.key, 'Content-Type': 'text/csv', 'Hexcodes-Answer': 'later' };
    const answer = await post(server.base + ENCODE, headers, csvBody(1, 3));
    const { details } = (await answer.json()) as { details: { parameter: string }[] };
    expect([answer.status, details.map(({ parameter }) => parameter)]).toEqual([400, ['Hexcodes-Answer']]);
  });

  test('an error in the middle of the body is an answer as a whole, after the body', async () => {
    const broken = Buffer.concat([
      body.subarray(0, 2_000_000),
      Buffer.from('\n\0\n'),
      body.subarray(2_000_000),
    ]);
    const peer = await RawBulkPeer.connect(server.port);
    const request = { path: ENCODE, key: server.key, format: 'csv', headers: [HELD] } as const;
    await peer.send(requestHead(request, broken.length));
    await peer.send(broken.subarray(0, 3_000_000));
    await sleep(300);
    expect(peer.head).toBe('');
    await peer.send(broken.subarray(3_000_000));
    await peer.done;
    expect([peer.status, peer.body.toString()]).toEqual([400, expect.stringContaining('NUL')]);
  });

  const MIB = 2 ** 20;

  test.each([
    ['its own limit', { spoolRequestBytes: 2 * MIB, spoolBytes: 64 * MIB }, 413],
    ['its own limit, which its length already passes', { spoolRequestBytes: MIB }, 413],
    ['that of all', { spoolRequestBytes: 64 * MIB, spoolBytes: 2 * MIB }, 503],
  ])('an answer over the limit of the spool, %s, is refused and never cut', async (_, limits, status) => {
    const own = await startServer(limits);
    onTestFinished(() => own.stop());

    for (let time = 0; time < 3; time++) {
      const headers = {
        'X-API-Key': own.key,
        'Content-Type': 'text/csv',
        'Hexcodes-Answer': 'after-body',
        ...PLAIN,
      };
      const answer = await post(own.base + ENCODE, headers, body);
      expect(answer.status).toBe(status);
      await answer.arrayBuffer();
    }
    const small = await sendSmall(own);
    expect(small).toBe(200);
  });

  test('a spool folder that somebody removes is made again', async () => {
    const own = await startServer();
    onTestFinished(() => own.stop());

    rmSync(join(own.dataDir, 'spool'), { recursive: true });
    const headers = { 'X-API-Key': own.key, 'Content-Type': 'text/csv', 'Hexcodes-Answer': 'after-body' };
    const answer = await post(own.base + ENCODE, { ...headers, ...PLAIN }, body);
    expect([answer.status, (await answer.arrayBuffer()).byteLength > body.length]).toEqual([200, true]);
  });

  test('a key that withholds the ends of ten bodies keeps no other from its answers to bodies of 16 MB', async () => {
    const large = new RepeatedBody(16);
    const [a, ...others] = ['a', 'b', 'c'].map((name) => ({ name, secret: `${name}_0123456789abcdefghij` }));
    await large.learnAnswer(server.base, server.key);
    // Room for nine answers: six of them are the share of one key.
    const own = await startServer({ apiKeys: [a!, ...others], spoolBytes: 9 * large.answerBytes });
    const peers: RawBulkPeer[] = [];
    const open = async (secret: string): Promise<RawBulkPeer> => {
      const peer = await RawBulkPeer.connect(own.port);
      peers.push(peer);
      const request = { path: ENCODE, key: secret, format: 'csv', headers: [HELD] } as const;
      await peer.send(requestHead(request, large.sizeBytes));
      return peer;
    };
    const sendTo = async (peer: RawBulkPeer, chunks: Iterable<Buffer>): Promise<void> => {
      for (const chunk of chunks) if (peer.head === '') await peer.send(chunk);
    };
    onTestFinished(async () => {
      for (const peer of peers) peer.socket.destroy();
      await own.stop();
    });

    const withheld: RawBulkPeer[] = [];
    for (let i = 0; i < 10; i++) withheld.push(await open(a!.secret));
    // In turns: a body of which nothing comes for 8 s is closed.
    for (const chunk of large.chunks(large.blocks - 1))
      for (const peer of withheld) await sendTo(peer, [chunk]);
    await expect.poll(() => peers.filter(({ head }) => head.includes(' 503 ')).length).toBeGreaterThan(0);
    expect(peers.find(({ head }) => head !== '')?.body.toString()).toContain('share');
    await Promise.all(
      others.map(async ({ secret }) => {
        const peer = await open(secret);
        await sendTo(peer, large.chunks());
        await peer.done;
        expect(peer.status).toBe(200);
        const check = large.check();
        for (const chunk of peer.chunks) check.add(chunk);
        expect(check.fault).toBeUndefined();
      }),
    );
  });

  async function sendSmall(own: TestServer): Promise<number> {
    const headers = {
      'X-API-Key': own.key,
      'Content-Type': 'text/csv',
      'Hexcodes-Answer': 'after-body',
      ...PLAIN,
    };
    const answer = await post(own.base + ENCODE, headers, csvBody(1, 100));
    await answer.arrayBuffer();
    return answer.status;
  }

  test.skipIf(!canHaveNamespaces())('a full disk is 503 and says so (needs root)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-full-'));
    const serve = `mount -t tmpfs -o size=6m full "$0" && exec ${process.execPath} dist/cli/main.js serve`;
    const child = spawn('unshare', ['-m', 'sh', '-c', serve, folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...{
          PATH: process.env.PATH ?? '',
          HEXCODES_PORT: '0',
          HEXCODES_ADMIN_PORT: '0',
          HEXCODES_DRAIN_MS: '0',
        },
        ...{ HEXCODES_DATA_DIR: folder, HEXCODES_API_KEYS: `command:${COMMAND_KEY}` },
      },
    });
    onTestFinished(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });

    let said = '';
    let log = '';
    child.stderr!.on('data', (bytes) => (said += bytes));
    child.stdout!.on('data', (bytes) => (log += bytes));
    while (!said.includes('answers on')) await sleep(20);
    const base = /answers on (http:\/\/\S+)/.exec(said)![1];
    const headers = {
      'X-API-Key': COMMAND_KEY,
      'Content-Type': 'text/csv',
      'Hexcodes-Answer': 'after-body',
      ...PLAIN,
    };
    const answer = await post(base + ENCODE, headers, body);
    const { message } = (await answer.json()) as { message: string };
    expect([answer.status, message, answer.headers.get('retry-after')]).toEqual([
      503,
      'the disk cannot keep the answer: no space is left on it',
      '1',
    ]);
    await expect.poll(() => log).toContain('no space is left on it');
    const small = await post(base + ENCODE, headers, csvBody(1, 100));
    expect(small.status).toBe(200);
  });

  test.skipIf(spawnSync('curl', ['--version']).status !== 0)(
    'curl with Expect gets its answer too',
    async () => {
      const head = ['-H', `X-API-Key: ${server.key}`, '-H', 'Content-Type: text/csv', '-H', HELD];
      const child = spawn('curl', ['-sS', '-X', 'POST', '-T', '-', ...head, server.base + ENCODE]);
      child.stdin.end(body);
      const chunks: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      await once(child, 'close');
      expect(Buffer.concat(chunks).equals(due)).toBe(true);
    },
  );
});

const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;

test.skipIf(!canHaveNamespaces() || !hasCurl)(
  'every row of a fast upload is answered, with small receive buffers (needs root and curl)',
  () => {
    const args = ['build/test/proof/main.js', 'upload', '--megabytes', '60', '--times', '2'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('no fault'), '']);
  },
  120_000,
);
