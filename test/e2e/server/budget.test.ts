// Limits of how many and of how much is held for peers: requests, WebSockets, connections, bytes; all is given back.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { csvBody, RawBulkPeer, requestHead } from '../../support/bulk-bodies.js';
import { pointsOf } from '../../support/open-world.js';
import { clientFrame, encodeFrame, handshake, RawWebSocket } from '../../support/raw-stream.js';
import { type Budget, type Pool, sendRaw, startServer, type TestServer } from '../../support/server.js';

const OTHER_KEY = 'other_0123456789abcdef';

const ENCODE = '/v1/hexcodes/encode/bulk';

let server: TestServer;

let budget: Budget;

afterEach(() => server.stop());

describe('counts', () => {
  const KEYS = [
    { name: 'one', secret: 'one_key_0123456789abcdef' },
    { name: 'other', secret: OTHER_KEY },
  ];

  const KEY = KEYS[0]!.secret;

  async function start(limits: Parameters<typeof startServer>[0]): Promise<void> {
    server = await startServer({ apiKeys: KEYS, ...limits }, undefined, {
      withBudget: (made) => {
        budget = made;
      },
    });
  }

  /** A bulk body of which only the head and the header row have come. */
  async function openUpload(key: string): Promise<RawBulkPeer> {
    const peer = await RawBulkPeer.connect(server.port);
    await peer.send(requestHead({ path: ENCODE, key, format: 'csv' }, 1e6));
    await peer.send('lat,lng\n');
    return peer;
  }

  const uploadsAre = async (count: number): Promise<void> => {
    while (budget.figures.requests !== count) await sleep(5);
  };

  test('requests of a key past its limit are 503 with Retry-After; other keys and later requests are served', async () => {
    await start({ maxRequestsPerKey: 3 });
    const peers = [await openUpload(KEY), await openUpload(KEY), await openUpload(KEY)];
    await uploadsAre(3);
    const refused = await openUpload(KEY);
    await refused.done;
    expect(refused.status).toBe(503);
    expect(refused.head).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(refused.body.toString()).toContain('the key has 3 requests under way, the most it may have');
    expect(server.log()).toMatch(/"key_id":"env:one".*the key has 3 requests under way/);
    // A batch whose body comes in pieces is one as well; a single call is not.
    const head = `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
    expect(await sendRaw(server.port, [head, '{"points":'], { gapMs: 50 })).toMatch(/^HTTP\/1\.1 503 /);
    const single = await fetch(`${server.base}/v1/hexcodes/encode?lat=21&lng=105.8`, {
      headers: { 'X-API-Key': KEY },
    });
    expect(single.status).toBe(200);
    const other = await openUpload(OTHER_KEY);
    await uploadsAre(4);
    peers[0]!.socket.destroy();
    await uploadsAre(3);
    const later = await openUpload(KEY);
    await uploadsAre(4);
    expect([other.status, later.status]).toEqual([0, 0]);
    for (const peer of [...peers, other, later]) peer.socket.destroy();
    await uploadsAre(0);
  });

  test('WebSockets of a key past its limit are refused with 503; other keys and later ones are served', async () => {
    await start({ maxSocketsPerKey: 2 });
    const open = [
      await RawWebSocket.open(server.port, handshake(KEY)),
      await RawWebSocket.open(server.port, handshake(KEY)),
    ];
    const refused = await RawWebSocket.connect(server.port, handshake(KEY));
    while (refused.head === '') await sleep(5);
    expect(refused.head).toMatch(
      /^HTTP\/1.1 503 .*Retry-After: 1\r\n.*the key has 2 open WebSockets, the most it may have/is,
    );
    refused.end();
    const other = await RawWebSocket.open(server.port, handshake(OTHER_KEY));
    open[0]!.end();
    while (budget.figures.sockets !== 2) await sleep(5);
    const later = await RawWebSocket.open(server.port, handshake(KEY));
    later.send(encodeFrame(1, pointsOf(1, 2)));
    expect((await later.next()).payload.length).toBe(16 + 2 * 20);
    for (const peer of [open[1]!, other, later]) peer.end();
    while (budget.figures.keys !== 0) await sleep(5);
  });

  test('connections past the limit of the process are closed at once where all others have shown a key', async () => {
    await start({ maxConnections: 20 });
    const ask = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n\r\n`;
    const opened = (): Promise<{ socket: Socket; isClosed: Promise<unknown> }> =>
      new Promise((resolve) => {
        const socket = connect(server.port, '127.0.0.1', () => resolve({ socket, isClosed }));
        const isClosed = new Promise((closed) => socket.once('close', closed));
        socket.on('error', () => {});
        socket.resume();
      });
    const sockets = [];
    // A WebSocket counts as any other connection, until it is closed.
    const stream = await RawWebSocket.open(server.port, handshake(KEY));
    for (let n = 0; n < 19; n++) {
      const peer = await opened();
      const answered = once(peer.socket, 'data');
      peer.socket.write(ask);
      await answered;
      sockets.push(peer);
    }
    await (await opened()).isClosed;
    await (await opened()).isClosed;
    expect(server.log()).toContain('closed at once: too many connections are open');
    expect((await fetch(`http://127.0.0.1:${server.adminPort}/readyz`)).status).toBe(200);
    expect(await sendRaw(server.port, ask)).toBe('');
    stream.end();
    // The service may see the end of the stream a moment later.
    let answer = '';
    while (answer === '') answer = await sendRaw(server.port, ask);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    for (const { socket } of sockets) socket.destroy();
  });
});

describe('held bytes', () => {
  const MIB = 1024 * 1024;

  const KEY = 'one_key_0123456789abcdef';

  const KEYS = [
    { name: 'one', secret: KEY },
    { name: 'other', secret: OTHER_KEY },
  ];

  let pool: Pool;

  async function start(
    limits: Parameters<typeof startServer>[0] = {},
    tuning: Parameters<typeof startServer>[2] = {},
  ): Promise<void> {
    server = await startServer({ apiKeys: KEYS, ...limits }, undefined, {
      ...tuning,
      withPool: (made) => {
        pool = made;
      },
      withBudget: (made) => {
        budget = made;
      },
    });
  }

  const nothingIsHeld = async (): Promise<void> => {
    const { figures } = budget;
    if (figures.requests + figures.sockets > 0) await sleep(10).then(nothingIsHeld);
    else expect(figures).toEqual({ bytes: 0, keys: 0, requests: 0, sockets: 0 });
  };

  /** Resolves when something is held, and nothing has been converted for a second. */
  async function isStill(): Promise<void> {
    let still = 0;
    for (let before = -1; still < 50; before = pool.figures.completed) {
      await sleep(20);
      const isBusy =
        budget.figures.bytes === 0 || pool.figures.blocks > 0 || pool.figures.completed !== before;
      still = isBusy ? 0 : still + 1;
    }
  }

  /** Sends a request, and no more than given of its body. */
  async function sendPart(
    key: string,
    path: string,
    type: string,
    part: string | Uint8Array,
  ): Promise<RawBulkPeer> {
    const peer = await RawBulkPeer.connect(server.port);
    await peer.send(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: ${type}\r\nContent-Length: ${4 * MIB}\r\n\r\n`,
    );
    await peer.send(part);
    return peer;
  }

  const sendBatchPart = (key: string, sizeBytes = 4 * MIB - 1): Promise<RawBulkPeer> =>
    sendPart(key, '/v1/hexcodes/encode/batch', 'application/json', Buffer.alloc(sizeBytes, ' '));

  /**
   * Two bodies hold 8 MiB, and this leaves less than the first buffer of a third. So it is refused with its first
   * bytes, when none is unread: a connection that is closed with unread bytes is reset, which would lose the answer.
   */
  const LIMIT_BYTES = 8 * MIB + 1000;

  const FIRST_BYTES = 10;

  test('bodies that never end are refused with 503 past the limit of a key, and others are served', async () => {
    await start({ maxKeyBytes: LIMIT_BYTES });
    const first = [await sendBatchPart(KEY), await sendBatchPart(KEY)];
    while (budget.figures.bytes < 8 * MIB) await sleep(5);
    const refused = await sendBatchPart(KEY, FIRST_BYTES);
    await refused.done;
    expect(refused.status).toBe(503);
    expect(refused.head).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(server.log()).toMatch(/"key_id":"env:one".*the bytes held for one key pass 8389608/);
    const other = await sendBatchPart(OTHER_KEY);
    while (budget.figures.bytes < 12 * MIB) await sleep(5);
    expect(budget.figures.requests).toBe(3);
    await other.send('x');
    await other.done;
    expect(other.status).toBe(400);
    for (const peer of [...first, refused, other]) peer.socket.destroy();
    await nothingIsHeld();
  });

  test('the limit of the process refuses every key', async () => {
    // Three quarters of it are the two bodies, and less than the beginning of another.
    const maxHeldBytes = Math.ceil((8 * MIB + 1000) / 0.75);
    await start({ maxHeldBytes });
    const peers = [await sendBatchPart(KEY), await sendBatchPart(OTHER_KEY)];
    while (budget.figures.bytes < 8 * MIB) await sleep(5);
    const refused = await sendBatchPart(OTHER_KEY, FIRST_BYTES);
    await refused.done;
    expect(refused.status).toBe(503);
    expect(server.log()).toContain(`the bytes held for all connections pass ${maxHeldBytes}`);
    for (const peer of [...peers, refused]) peer.socket.destroy();
    await nothingIsHeld();
  });

  test('a body that takes too long is answered 408', async () => {
    await start({}, { bodyTimeoutMs: 300 });
    const peer = await sendPart(KEY, '/v1/hexcodes/encode/batch', 'application/json', '{"points"');
    await peer.done;
    expect(peer.status).toBe(408);
    expect(peer.head.toLowerCase()).toContain('connection: close');
    expect(JSON.parse(peer.body.toString())).toMatchObject({
      status: 'INVALID_REQUEST',
      message: 'the body took too long',
    });
    await nothingIsHeld();
  });

  test('a bulk body whose answer would pass the limit of a connection is refused', async () => {
    await start({ maxConnectionBytes: 8 * MIB });
    // The answer to each of these rows has a hundred times its bytes.
    const rows = Buffer.from('1\n'.repeat(256 * 1024));
    const peer = await RawBulkPeer.connect(server.port);
    peer.socket.pause();
    peer.socket.write(requestHead({ path: ENCODE, key: KEY, format: 'ndjson' }, rows.length));
    peer.socket.write(rows);
    while (!server.log().includes('the bytes held for one connection pass 8388608')) await sleep(20);
    peer.socket.resume();
    await peer.done;
    expect(peer.isWhole && peer.status === 200).toBe(false);
    await nothingIsHeld();
  });

  test('of many bulk bodies whose answers are not read some are cut off, and the others go on within the limit', async () => {
    await start({ maxKeyBytes: 32 * MIB }, { bulk: { spoolAfterMs: 60_000 } });
    // The answers have fourteen times as many bytes.
    const rows = Buffer.from('[21,105]\n'.repeat(200_000));
    let maxBytes = 0;
    const watch = setInterval(() => {
      maxBytes = Math.max(maxBytes, budget.figures.bytes);
    }, 1);
    const peers = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const peer = await RawBulkPeer.connect(server.port);
        peer.onBody = () => {};
        peer.socket.pause();
        peer.socket.write(requestHead({ path: ENCODE, key: KEY, format: 'ndjson' }, rows.length));
        peer.socket.write(rows);
        return peer;
      }),
    );
    await isStill();
    const single = await fetch(`${server.base}/v1/hexcodes/encode?lat=21&lng=105.8`, {
      headers: { 'X-API-Key': KEY },
    });
    expect(single.status).toBe(200);
    const refused = 12 - budget.figures.requests;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(12);
    for (const peer of peers) peer.socket.resume();
    await Promise.all(peers.map(({ done }) => done));
    clearInterval(watch);
    expect(maxBytes).toBeLessThanOrEqual(32 * MIB);
    // The others leave room for one another, or are cut off in their turn: none that was cut off looks whole.
    const whole = peers.filter(({ isWhole, status }) => isWhole && status === 200);
    expect(whole.length).toBeGreaterThan(0);
    expect(new Set(whole.map(({ sizeBytes }) => sizeBytes)).size).toBe(1);
    for (const peer of peers) peer.socket.destroy();
    await nothingIsHeld();
  });

  test('streams whose frames and answers wait are closed with 1013 past the limit', async () => {
    await start({ maxConnectionBytes: 8 * MIB, maxKeyBytes: 8 * MIB });
    const frame = clientFrame(encodeFrame(1, pointsOf(1, 16_384)));
    const peers = await Promise.all(
      Array.from({ length: 8 }, () => RawWebSocket.open(server.port, handshake(KEY))),
    );
    for (const { socket } of peers) socket.pause();
    // Answers wait once the buffers of the sockets are full; few enough then to stay within the window.
    for (let n = 0; n < 45; n++) {
      for (const { socket } of peers) socket.write(frame);
      await sleep(20);
    }
    while (!server.log().includes('the bytes held for one')) await sleep(20);
    for (const { socket } of peers) socket.resume();
    const codes = await Promise.race([
      Promise.any(peers.map(async ({ closed }) => ((await closed) === 1013 ? 1013 : Promise.reject()))),
      sleep(20_000),
    ]);
    expect(codes).toBe(1013);
    for (const peer of peers) peer.end();
    await nothingIsHeld();
  });

  test('nothing stays counted after 3,000 uploads that were broken off', async () => {
    await start();
    const gzipped = gzipSync(csvBody(4, 2000));
    const parts: [head: string, body: string | Uint8Array][] = [
      ['encode/bulk HTTP/1.1\r\nContent-Type: text/csv', csvBody(5, 200)],
      ['encode/bulk HTTP/1.1\r\nContent-Type: application/x-ndjson', '[21.03,105.85]\n'.repeat(50)],
      [
        'encode/bulk HTTP/1.1\r\nContent-Type: application/vnd.hexcodes.frames',
        encodeFrame(1, pointsOf(1, 900)),
      ],
      ['encode/bulk HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Encoding: gzip', gzipped.subarray(0, 9000)],
      ['encode/bulk HTTP/1.1\r\nContent-Type: text/csv\r\nAccept-Encoding: gzip', csvBody(6, 200)],
      ['encode/batch HTTP/1.1\r\nContent-Type: application/json', '{"points":['],
      ['decode HTTP/1.1\r\nContent-Type: application/json', '{"hexcodes":'],
    ];
    let uploads = 0;
    const breakOff = async (seed: number): Promise<void> => {
      const [head, body] = parts[seed % parts.length]!;
      const socket = await new Promise<Socket>((resolve, reject) => {
        const made: Socket = connect(server.port, '127.0.0.1', () => resolve(made));
        made.once('error', reject);
      });
      socket.on('error', () => {});
      socket.resume();
      socket.write(
        `POST /v1/hexcodes/${head}\r\nHost: a\r\nX-API-Key: ${KEY}\r\nContent-Length: 1000000\r\n\r\n`,
      );
      socket.write(body);
      // Some end before the service has read anything, some in the middle of their answer.
      if (seed % 3 > 0) await sleep(seed % 7);
      if (seed % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
      uploads++;
    };
    let next = 0;
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        while (next < 3000) await breakOff(next++);
      }),
    );
    expect(uploads).toBe(3000);
    await nothingIsHeld();
  });
});
