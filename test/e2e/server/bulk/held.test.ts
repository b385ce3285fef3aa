// `Hexcodes-Answer: after-body`: nothing of the answer comes before the body has ended, and then all of it; what does
// not fit the disk or its limits is refused as a whole.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { csvBody, dueAnswer, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { RepeatedBody } from '../../../support/deploy/repeated-body.js';
import { canHaveNamespaces } from '../../../support/network-namespace.js';
import { openKernel } from '../../../support/open-world.js';
import { COMMAND_KEY } from '../../../support/serve-command.js';
import { startServer, type TestServer } from '../../../support/server.js';

const ENCODE = '/v1/hexcodes/encode/bulk';
/** fetch would have its answer packed, and so smaller. */
const PLAIN = { 'Accept-Encoding': 'identity' };
const HELD = 'Hexcodes-Answer: after-body';
const kernel = openKernel();
const body = csvBody(3, 200_000);
const due = dueAnswer(kernel, 'encode', 'csv', body);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

function post(url: string, headers: Record<string, string>, sent: Uint8Array): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body: sent } as RequestInit);
}

async function sendHalf(to: TestServer, headers: readonly string[] = []): Promise<RawBulkPeer> {
  const peer = await RawBulkPeer.connect(to.port);
  const request = { path: ENCODE, key: to.key, format: 'csv', headers: [HELD, ...headers] } as const;
  await peer.send(requestHead(request, body.length));
  await peer.send(body.subarray(0, body.length / 2));
  return peer;
}

test('nothing is answered before the body has ended, then everything, with its length', async () => {
  const peer = await sendHalf(server);
  // Without the header some of it comes at once (peers.test.ts).
  await sleep(500);
  expect(peer.head).toBe('');
  await peer.send(body.subarray(body.length / 2));
  await peer.done;
  expect(peer.head).toContain(`Content-Length: ${due.length}\r\n`);
  expect(peer.body.equals(due)).toBe(true);
  peer.socket.destroy();
  expect(readdirSync(join(server.dataDir, 'spool'))).toEqual([]);
});

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
  await peer.send(requestHead({ path: ENCODE, key: server.key, format: 'csv', headers: more }, small.length));
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
  [
    'its own limit',
    { spoolRequestBytes: 2 * MIB, spoolBytes: 64 * MIB },
    413,
    'HEXCODES_SPOOL_REQUEST_BYTES',
  ],
  ['its own limit, which its length already passes', { spoolRequestBytes: MIB }, 413, 'SPOOL_REQUEST_BYTES'],
  ['that of all', { spoolRequestBytes: 64 * MIB, spoolBytes: 2 * MIB }, 503, 'HEXCODES_SPOOL_BYTES'],
])(
  'an answer over the limit of the spool, %s, is refused and never cut',
  async (_, limits, status, words) => {
    const own = await startServer(limits);
    try {
      for (let time = 0; time < 3; time++) {
        const headers = {
          'X-API-Key': own.key,
          'Content-Type': 'text/csv',
          'Hexcodes-Answer': 'after-body',
          ...PLAIN,
        };
        const answer = await post(own.base + ENCODE, headers, body);
        const { message } = (await answer.json()) as { message: string };
        expect([answer.status, message]).toEqual([status, expect.stringContaining(words)]);
      }
      const small = await sendSmall(own);
      expect(small).toBe(200);
    } finally {
      await own.stop();
    }
  },
);

test('a key that withholds the ends of ten bodies keeps no other from its answers to bodies of 60 MB', async () => {
  const large = new RepeatedBody(60);
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
  try {
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
  } finally {
    for (const peer of peers) peer.socket.destroy();
    await own.stop();
  }
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
  try {
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
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
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
