// The adapter alone, with routes made for the tests: handlers and clients that would abort uWS, or corrupt its
// answers, must not do so here. Then turns of the event loop on the real server.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { Adapter } from '#dist/server/transport/adapter.js';
import { randomFrom } from '../../../support/open-world.js';
import { parseAnswers, sendRaw, startServer } from '../../../support/server.js';

const ROW_BYTES = 997;
const CHUNKED_BYTES = 24 * 2 ** 20;
const LARGE = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i * 7919}`).join(','));

type Exchange = Parameters<Parameters<Adapter['route']>[2]>[0];

let adapter: Adapter;
let port: number;
let base: string;
const thrown: unknown[] = [];
const over: string[] = [];
const closed: number[] = [];
let pausedBytes = 0;
let pausedExchange: Exchange | undefined;

/** A row of the chunked answer, whose pattern shows its position. */
function patternedRow(row: number): Buffer {
  return Buffer.alloc(ROW_BYTES, `${row},`);
}

beforeAll(async () => {
  adapter = await Adapter.load({
    notes: () => undefined,
    answered: () => {},
    over: () => {},
    refused: (x, status, message, close) => x.send(status, 'text/plain', message, '', close),
    flooded: () => thrown.push(new Error('flooded')),
    crowded: () => thrown.push(new Error('crowded')),
    cut: (x) => x.abort('cut'),
    expired: (x) => x.send(503, 'text/plain', 'late', '', true),
    thrown: (x, error) => {
      thrown.push(error);
      if (x.state === 'open') x.send(500, 'text/plain', 'thrown', '', true);
      else x.abort('thrown');
    },
    socketThrown: (error) => thrown.push(error),
  });
  adapter.route('get', '/throws', () => {
    throw new Error('first tick');
  });
  adapter.route('get', '/silent', () => {});
  adapter.route('post', '/throws-in-body', (x) => {
    x.body.read(
      100,
      () => x.send(413, '', ''),
      () => {
        throw new Error('body');
      },
    );
  });
  adapter.route('get', '/throws-in-answer', (x) => {
    const answer = x.startChunked(200, 'text/plain')!;
    answer.onDrain = () => {
      throw new Error('drain');
    };
    answer.write(Buffer.alloc(400_000));
  });
  adapter.route('get', '/late', (x) => {
    x.onOver = () => over.push('late');
    x.deadline(50);
  });
  adapter.route('get', '/waits', (x) => {
    x.onOver = () => over.push('waits');
    x.deadline(60_000);
  });
  adapter.route('get', '/later', (x) => {
    x.deadline(5000);
    setTimeout(() => x.send(200, 'text/plain', 'later'), 20);
  });
  adapter.route('get', '/chunked', (x) => {
    const answer = x.startChunked(200, 'application/octet-stream')!;
    let row = 0;
    const fill = (): void => {
      while (row * ROW_BYTES < CHUNKED_BYTES) if (!answer.write(patternedRow(row++))) return;
      answer.end();
    };
    answer.onDrain = fill;
    x.onOver = () => over.push('chunked');
    fill();
  });
  adapter.route('get', '/large', (x) => x.send(200, 'text/plain', LARGE));
  adapter.route('post', '/paused', (x) => {
    pausedExchange = x;
    x.body.stream((chunk, isLast) => {
      pausedBytes += chunk.length;
      if (isLast) x.send(200, 'text/plain', String(pausedBytes));
      else x.body.pause();
    });
  });
  adapter.route('post', '/paused-for-good', (x) => {
    let seen = false;
    x.body.stream(() => {
      if (seen) return;
      seen = true;
      x.body.pause();
      setTimeout(() => x.send(200, 'text/plain', 'enough'), 50);
    });
  });
  adapter.route('post', '/echo', (x) => {
    const answer = x.startChunked(200, 'application/octet-stream')!;
    answer.onDrain = () => x.body.resume();
    x.body.stream((chunk, isLast) => {
      if (!answer.write(Uint8Array.from(chunk))) x.body.pause();
      if (isLast) answer.end();
    });
  });
  adapter.route('get', '/bodyless/204', (x) => x.send(204, '', ''));
  adapter.route('get', '/bodyless/304', (x) => x.send(304, '', '', '\r\nETag: "a"'));
  adapter.route('any', '/*', (x) => x.send(404, 'text/plain', x.head.method));
  adapter.websocket<{ name: string; turn: undefined }>('/socket', {
    maxPayloadBytes: 1 << 20,
    maxBackpressureBytes: 1 << 20,
    idleTimeoutSeconds: 60,
    upgrade: (x) => {
      if (x.head.rawQuery === 'throw') throw new Error('upgrade');
      if (x.head.rawQuery === 'no') x.send(403, 'text/plain', 'no');
      else
        x.acceptUpgrade({ name: x.head.rawQuery, turn: undefined }, x.head.header('sec-websocket-protocol'));
    },
    open: (ws) => void ws.send(`hello ${ws.getUserData().name}`, false),
    message: (ws, message, isBinary) => {
      if (message.byteLength === 0) throw new Error('message');
      ws.send(message, isBinary);
    },
    pong: () => {},
    drain: () => {},
    close: (_ws, code) => closed.push(code),
  });
  port = await adapter.listen('127.0.0.1', 0);
  base = `http://127.0.0.1:${port}`;
});
afterAll(() => adapter.close());

const lastThrown = () => (thrown.at(-1) as Error).message;

test.each([204, 304])(
  'an answer of %i has neither body nor length, and the connection goes on',
  async (status) => {
    const request = `GET /bodyless/${status} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const last = 'GET /late-end HTTP/1.1\r\nHost: a\r\n\r\n';
    const text = (await sendRaw(port, [request + request + last])).toString();
    expect(text.split(`HTTP/1.1 ${status} `)).toHaveLength(3);
    const heads = text.slice(0, text.indexOf('HTTP/1.1 404 '));
    expect(heads).not.toMatch(/content-length/i);
    expect(heads.endsWith('\r\n\r\n')).toBe(true);
  },
);

test('a handler that throws answers 500 and the process lives', async () => {
  expect((await fetch(`${base}/throws`)).status).toBe(500);
  expect(lastThrown()).toBe('first tick');
  expect((await fetch(`${base}/throws-in-body`, { method: 'POST', body: 'x' })).status).toBe(500);
  expect(lastThrown()).toBe('body');
  expect((await fetch(`${base}/later`)).status).toBe(200);
});

test('a handler that returns without an answer answers 500', async () => {
  expect((await fetch(`${base}/silent`)).status).toBe(500);
  expect(lastThrown()).toContain('without an answer');
});

test('an exception after the status line closes the connection', async () => {
  const answer = await fetch(`${base}/throws-in-answer`);
  await expect(answer.arrayBuffer()).rejects.toThrow();
  expect(lastThrown()).toBe('drain');
});

test('a request that is not answered by its deadline gets 503', async () => {
  const answer = await fetch(`${base}/late`);
  expect(answer.status).toBe(503);
  expect(over.filter((name) => name === 'late')).toHaveLength(1);
});

test('onOver is called once when the client closes the connection', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /waits HTTP/1.1\r\nHost: a\r\n\r\n');
  while (adapter.pending.size === 0) await sleep(5);
  socket.destroy();
  while (adapter.pending.size > 0) await sleep(5);
  expect(over.filter((name) => name === 'waits')).toHaveLength(1);
});

test('chunked answers arrive complete at clients that read at random pace', async () => {
  const wanted = createHash('sha256');
  for (let row = 0; row * ROW_BYTES < CHUNKED_BYTES; row++) wanted.update(patternedRow(row));
  const digest = wanted.digest('hex');
  const random = randomFrom(7);
  const readers = Array.from({ length: 4 }, async () => {
    const { body } = await fetch(`${base}/chunked`);
    const hash = createHash('sha256');
    for await (const chunk of body!) {
      hash.update(chunk as Uint8Array);
      if (random() < 0.05) await sleep(random() * 10);
    }
    return hash.digest('hex');
  });
  for (const reader of readers) expect(await reader).toBe(digest);
  expect(over.filter((name) => name === 'chunked')).toHaveLength(4);
});

test('a large answer of known length arrives complete at a slow client', async () => {
  const { body, headers } = await fetch(`${base}/large`);
  expect(Number(headers.get('content-length'))).toBe(LARGE.length);
  const parts: Uint8Array[] = [];
  await sleep(200);
  for await (const chunk of body!) {
    parts.push(chunk as Uint8Array);
    if (parts.length % 8 === 0) await sleep(2);
  }
  expect(Buffer.concat(parts).equals(LARGE)).toBe(true);
});

test('a body is echoed while it is received, to a client that reads late', async () => {
  const bytes = Buffer.alloc(8 * 2 ** 20, '0123456789abcdef-');
  const answer = await fetch(`${base}/echo`, { method: 'POST', body: bytes });
  const back = Buffer.from(await answer.arrayBuffer());
  expect(back.equals(bytes)).toBe(true);
});

test('a paused body stops its own client and no other', async () => {
  const bytes = 64 * 2 ** 20;
  const answer = fetch(`${base}/paused`, { method: 'POST', body: Buffer.alloc(bytes) });
  while (pausedBytes === 0) await sleep(5);
  await sleep(200);
  expect(pausedBytes).toBeLessThan(bytes / 2);
  expect((await fetch(`${base}/later`)).status).toBe(200);
  while (pausedBytes < bytes) {
    pausedExchange?.body.resume();
    await sleep(1);
  }
  expect(await (await answer).text()).toBe(String(bytes));
});

test('a connection whose body was paused is read on after the answer', async () => {
  const size = 1_000_000;
  const body = `POST /paused-for-good HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`;
  const answers = parseAnswers(
    await sendRaw(port, [body, 'GET /later HTTP/1.1\r\nHost: a\r\n\r\n'], { gapMs: 200 }),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test('ambiguous requests are refused and the connection closed', async () => {
  const smuggled = 'GET /later HTTP/1.1\r\nHost: a\r\n\r\n';
  for (const [headers, body] of [
    ['Content-Length: 3\r\nContent-Length: 5', 'abcde'],
    ['Content-Length: 3\r\nContent-Length: 3', 'abc'],
    ['Content-Length:', ''],
    ['Host: b', ''],
    ['Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ]) {
    const request = `POST /echo HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`;
    // A newer uWS refuses some of these itself.
    const answer = await sendRaw(port, request);
    expect(answer.match(/HTTP\/1.1 \d+/g), headers).toEqual(['HTTP/1.1 400']);
    expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n');
    // Bytes after it in the same segment are never taken for a request.
    const more = await sendRaw(port, request + smuggled);
    expect(more, headers).not.toContain('HTTP/1.1 200');
  }
  const both = 'Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked';
  const answer = await sendRaw(port, `POST /echo HTTP/1.1\r\n${both}\r\n\r\n0\r\n\r\n${smuggled}`);
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400']);
});

test('WebSockets: accepted, refused, and with callbacks that throw', async () => {
  const open = (query: string) => new WebSocket(`ws://127.0.0.1:${port}/socket?${query}`, ['p']);
  const ws = open('me');
  const messages: string[] = [];
  ws.on('message', (data) => messages.push(String(data)));
  await new Promise((resolve) => ws.once('open', resolve));
  expect(ws.protocol).toBe('p');
  ws.send('ping');
  while (messages.length < 2) await sleep(5);
  expect(messages).toEqual(['hello me', 'ping']);
  const over = new Promise((resolve) => ws.once('close', resolve));
  ws.send('');
  await over;
  expect(lastThrown()).toBe('message');

  for (const [query, status] of [
    ['no', 403],
    ['throw', 500],
  ] as const) {
    const refused = open(query);
    const answer = await new Promise((resolve) =>
      refused.once('unexpected-response', (_request, response) => resolve(response.statusCode)),
    );
    expect(answer).toBe(status);
    refused.on('error', () => {});
    refused.terminate();
  }
  expect((await fetch(`${base}/socket`)).status).toBe(404);
});

// One turn of the event loop, and what it may bring and leave: too many requests, and answers in memory that is used
// again.

const HONEST = 40;

/** With all the others just above 1,000 and 4 for each connection, so that the one too many is one of the others. */
const FLOOD_REQUESTS = 1000 + 4 * (HONEST + 1) - HONEST / 2;

const REQUEST = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n';

/** Stops this process, and so the service in it, while the other end fills its sockets. */
function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a connection that brings one request in a turn is answered, whatever another one has brought before it', async () => {
  const server = await startServer({ logLevel: 'warn' });
  onTestFinished(() => server.stop());
  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      const socket: Socket = connect(server.port, '127.0.0.1', () => resolve(socket));
      socket.on('error', () => {});
    });
  const met = new Set<string>();
  for (let round = 0; round < 10; round++) {
    const flood = (await open()).resume();
    const honest = await Promise.all(Array.from({ length: HONEST }, open));
    const answers = honest.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.once('data', (bytes) => resolve(bytes.toString('latin1', 9, 12)));
          socket.once('close', () => resolve('closed'));
        }),
    );
    flood.write(REQUEST.repeat(FLOOD_REQUESTS));
    for (const socket of honest) socket.write(REQUEST);
    rest(50);
    for (const status of await Promise.all(answers)) met.add(status);
    const closed = [flood, ...honest].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of [flood, ...honest]) socket.destroy();
    await Promise.all(closed);
  }
  expect([...met].sort()).toEqual(['401', '503']);
  expect(server.log()).toContain('too many requests or frames in one turn of the event loop');
});

const POINTS = 900;

const MAX_ANSWERS = 300;

/** An answer that is complete is logged long before this. */
const STALLED_MS = 1000;

const PATH = '/v1/hexcodes/encode/batch';

const bodyFrom = (latDeg: number): string =>
  JSON.stringify({ points: Array.from({ length: POINTS }, (_, i) => [latDeg + i / 1e4, 105 + i / 1e4]) });

test('the rest of an answer is not overwritten by later answers', async () => {
  const server = await startServer();
  const ask = async (body: string): Promise<string> => {
    const headers = { 'X-API-Key': server.key, 'Content-Type': 'application/json' };
    return (await fetch(server.base + PATH, { method: 'POST', headers, body })).text();
  };
  onTestFinished(() => server.stop());

  const body = bodyFrom(21);
  const due = await ask(body);
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.pause();
  const isLogged = async (id: string): Promise<boolean> => {
    for (const endMs = performance.now() + STALLED_MS; performance.now() < endMs; await sleep(1))
      if (server.log().includes(`"${id}"`)) return true;
    return false;
  };
  let asked = 0;
  for (let isTaken = true; isTaken && asked < MAX_ANSWERS; ) {
    const id = `stalled-${asked++}`;
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.key}\r\nX-Request-Id: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    isTaken = await isLogged(id);
  }
  expect(asked).toBeLessThan(MAX_ANSWERS);
  for (let n = 0; n < 3; n++) await ask(bodyFrom(10 + n));
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  socket.resume();
  while (received.split(due).length <= asked && !socket.destroyed) {
    await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(STALLED_MS)]);
    // All has come, and some of it is wrong.
    if (received.length >= asked * due.length + 200 * asked) break;
  }
  expect(received.split(due).length - 1).toBe(asked);
  socket.destroy();
});
