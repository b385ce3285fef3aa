// Answers of the real server while the pool is full, for the key that fills it and for others; and how much slow work
// a turn does.

import { expect, onTestFinished, test } from 'vitest';
import { openKernel, pointsOf } from '../../support/open-world.js';
import { encodeFrame, handshake, RawWebSocket, TEXT } from '../../support/raw-stream.js';
import { type Pool, parseAnswers, sendRaw, startServer } from '../../support/server.js';
import { sharedServer } from '../../support/shared.js';
import { slowWork, Wire } from '../../support/wire.js';
import { sendWorst, worstRequests } from '../../support/worst-requests.js';

const kernel = openKernel();

const due = (frame: Uint8Array): Buffer => Buffer.from(new Wire(kernel).frame(frame));

test('with a full pool open streams answer frame status 3 or UNAVAILABLE, and new requests 503 with Retry-After', async () => {
  let pool: Pool | undefined;
  const own = await startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  });
  onTestFinished(() => own.stop());

  const peer = await RawWebSocket.open(own.port, handshake(own.key));
  const json = await RawWebSocket.open(
    own.port,
    handshake(own.key, ['Sec-WebSocket-Protocol: hexcodes.v1.json']),
  );
  const takesBlocks = pool!.mayTakeBlock;
  pool!.mayTakeBlock = () => false;
  const large = encodeFrame(1, pointsOf(1, 60_000));
  peer.send(large);
  expect([...(await peer.next()).payload]).toEqual([1, 1, 3, 0, 1, ...new Array(11).fill(0)]);
  json.send(
    JSON.stringify({ seq: 1, op: 'encode', points: new Array(9000).fill([21.00001, 105.00001]) }),
    TEXT,
  );
  expect(JSON.parse((await json.next()).payload.toString())).toMatchObject({
    seq: 1,
    status: 'UNAVAILABLE',
  });
  // Small frames are answered without the pool.
  const small = encodeFrame(2, pointsOf(2, 5));
  peer.send(small);
  expect((await peer.next()).payload.equals(due(small))).toBe(true);

  const refused = await RawWebSocket.connect(own.port, handshake(own.key));
  while (refused.head === '') await new Promise((resolve) => setTimeout(resolve, 2));
  expect(refused.head).toMatch(/^HTTP\/1.1 503 .*Retry-After: \d+/is);
  const post = (path: string, type: string, body: string): Promise<Response> =>
    fetch(`${own.base}/v1/hexcodes/encode/${path}`, {
      method: 'POST',
      headers: { 'X-API-Key': own.key, 'Content-Type': type },
      body,
    });
  // Larger than what the main thread converts in slices.
  const points = JSON.stringify({
    points: new Array(9000).fill([21.00001, 105.00001]),
    padding: 'x'.repeat(2 ** 20),
  });
  for (const answer of [
    await post('batch', 'application/json', points),
    await post('bulk', 'text/csv', 'lat,lng\n1,2\n'),
  ]) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  }
  // The frame is answered once the pool takes blocks again.
  pool!.mayTakeBlock = takesBlocks;
  peer.send(large);
  expect((await peer.next()).payload.equals(due(large))).toBe(true);
  for (const socket of [peer, json, refused]) socket.end();
});

test('batches beyond the time of a turn are refused with 503 and Retry-After; the connection goes on', async () => {
  const own = await startServer({}, undefined, { batchTurnMs: 0 });
  onTestFinished(() => own.stop());

  const body = JSON.stringify({ points: [[21.00001, 105.00001]] });
  const batch = `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${own.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const single = `GET /v1/hexcodes/encode?lat=21&lng=105 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${own.key}\r\n\r\n`;
  // In one segment, so in one turn. The first asks twice: for its head and for its body.
  const answers = parseAnswers(await sendRaw(own.port, batch + batch + single));
  expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
    [503, '1'],
    [503, '1'],
    [200, null],
  ]);
  expect(JSON.parse(answers[1]!.body)).toMatchObject({ status: 'UNAVAILABLE' });
});

const FLOODING = 'flooding_key_0123456789abcdefghijklm';

const OTHER = 'other_key_0123456789abcdefghijklmnop';

/** More than 1 MiB, so that the pool converts it. */
const largeBatch = (): string =>
  `{"points":[${new Array(9000).fill(`[21.00001,105.00001]${' '.repeat(100)}`).join(',')}]}`;

test('batches and bodies of another key are answered while one key keeps the pool full', async () => {
  let pool: Pool | undefined;
  const server = await startServer(
    { apiKeys: [FLOODING, OTHER].map((secret) => ({ name: secret.slice(0, 5), secret })) },
    undefined,
    {
      pool: { threads: 1, maxQueued: 8 },
      withPool: (made) => {
        pool = made;
      },
    },
  );
  let isOver = false;
  const seen = { answers: 0, overloaded: 0, full: 0 };
  onTestFinished(async () => {
    isOver = true;
    await server.stop();
  });

  const frame = encodeFrame(1, new Float64Array(2 * 17_000).fill(Number.NaN));
  const flood = async (): Promise<void> => {
    const socket = await RawWebSocket.open(server.port, handshake(FLOODING));
    while (!isOver) {
      socket.send(frame);
      const { payload } = await socket.next();
      if (payload[2] !== 3) seen.answers++;
      else await new Promise((resolve) => setTimeout(resolve, 5, seen.overloaded++));
    }
    socket.end();
  };
  const floods = Array.from({ length: 14 }, flood);
  while (seen.overloaded < 10) await new Promise((resolve) => setTimeout(resolve, 5));
  const points = largeBatch();
  const post = async (path: string, type: string, body: string): Promise<number> => {
    if (pool!.figures.blocks >= 9) seen.full++;
    const headers = { 'X-API-Key': OTHER, 'Content-Type': type };
    const answer = await fetch(`${server.base}/v1/hexcodes/encode/${path}`, {
      method: 'POST',
      headers,
      body,
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  for (let i = 0; i < 4; i++) {
    expect(await post('batch', 'application/json', points)).toBe(200);
    expect(await post('bulk', 'text/csv', `lat,lng\n${'21.5,105.5\n'.repeat(20_000)}`)).toBe(200);
  }
  expect(seen.full).toBeGreaterThan(0);
  isOver = true;
  await Promise.all(floods);
  expect(seen.answers).toBeGreaterThan(0);
});

test('a large batch is refused before its body is read while the pool is full', async () => {
  let pool: Pool | undefined;
  const server = await startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  });
  onTestFinished(() => server.stop());

  pool!.mayTakeBlock = () => false;
  const head = (sizeBytes: number): string =>
    `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: application/json\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
  // No byte of the body is sent.
  const received = await sendRaw(server.port, head(1_100_000));
  expect(received).toMatch(/^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n/s);
  // The size of a chunked one is known when it was read; its envelope, which has no points, is not searched.
  const body = largeBatch().replace('points', 'point');
  const chunked = head(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked');
  const answer = await sendRaw(server.port, `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n/s);
  const small = '{"points":[[21.5,105.5]]}';
  expect(await sendRaw(server.port, head(small.length) + small)).toMatch(/^HTTP\/1.1 200 /);
});

// How much slow work the main thread does in one turn of its event loop, counted over the worst requests known: rows
// that the host reads or writes, their bytes, and members of envelopes. The server runs in this process, its workers in
// threads.

/** The allowance of a turn may be refilled once within it, between its callbacks and its immediates. */
const MOST = { rows: 2 * (256 + 16), bytes: 2 * 64 * (256 + 16), members: 65 };

const server = sharedServer({ logLevel: 'info' });

/** The most of each count within one turn while the work goes on. */
async function maxInTurn(work: Promise<unknown>): Promise<typeof slowWork> {
  const most = { rows: 0, bytes: 0, members: 0 };
  let last = { ...slowWork };
  let isOver = false;
  const overNow = (): void => {
    isOver = true;
  };
  work.then(overNow, overNow);
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const name of ['rows', 'bytes', 'members'] as const)
      most[name] = Math.max(most[name], slowWork[name] - last[name]);
    last = { ...slowWork };
  }
  await work;
  return most;
}

test.each(Object.entries(worstRequests()))('%s', async (_name, request) => {
  const most = await maxInTurn(sendWorst(server.port, server.key, request));
  for (const name of ['rows', 'bytes', 'members'] as const)
    expect([name, Math.min(most[name], MOST[name])]).toEqual([name, most[name]]);
});

test('forty connections share the slow rows of a turn, a few each', async () => {
  const request = worstRequests()['NDJSON of {}']!;
  const work = Promise.all(Array.from({ length: 40 }, () => sendWorst(server.port, server.key, request)));
  expect((await maxInTurn(work)).rows).toBeLessThanOrEqual(2 * (256 + 40 * 16));
});

test('without slow rows nothing is counted', async () => {
  const before = { ...slowWork };
  const body = Buffer.from('lat,lng\n21.0288,105.8525\n');
  const path = '/v1/hexcodes/encode/bulk';
  await sendWorst(server.port, server.key, { path, type: 'text/csv', accept: 'text/csv', body });
  expect(slowWork).toEqual(before);
});
