// One peer that sends without a pause, or never reads, does not stop the service for the others. The flooding peers are
// processes of their own; uWS reads their sockets again and again within one turn of the event loop (README U28).
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAnswers, sendRaw, startServer, type TestServer } from '../../../support/server.js';

const FLOOD = resolve('build/test/support/peers/flood.js');
const SECONDS = 4;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Resolves to how many connections of the flooding peer the service closed. */
function flood(kind: string): Promise<number> {
  return new Promise((done, reject) => {
    const child = spawn(process.execPath, [FLOOD, kind, String(server.port), String(SECONDS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FLOOD_KEY: server.key },
    });
    let out = '';
    child.stdout.on('data', (text: Buffer) => {
      out += text.toString();
    });
    child.on('error', reject);
    child.on('close', () => done((JSON.parse(out) as { closed: number }).closed));
  });
}

/** Asks one thing after the other on connections of its own until the flood is over; resolves to the statuses. */
async function askDuring(flooding: Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  let isOver = false;
  void flooding.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const answer = await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': server.key } });
    statuses.push(answer.status);
    await answer.arrayBuffer();
  }
  return statuses;
}

test('a peer that sends a body in chunks of one byte does not stop the others', async () => {
  // Whether it is cut off depends on how fast it sends; turns.test.ts has the limit.
  const statuses = await askDuring(flood('chunks'));
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

test.each(['requests', 'unread', 'unread-heads', 'frames', 'pings'])(
  'a peer that floods by %s is cut off, and all others are answered',
  async (kind) => {
    const flooding = flood(kind);
    const statuses = await askDuring(flooding);
    expect(await flooding).toBeGreaterThan(0);
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  },
  60_000,
);

test('the log says that peers were cut off, a line a second at most', () => {
  const lines = server
    .log()
    .split('\n')
    .filter((line) => line.includes('too many requests or frames in one turn'));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(100);
});

test('1,000 requests pipelined on one connection are all answered', async () => {
  const requests = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000);
  const answers = parseAnswers(await sendRaw(server.port, requests, { idleMs: 2000 }));
  expect(answers).toHaveLength(1000);
});

test('2,000 connections whose requests are ready in one turn are all answered', async () => {
  const sockets = await Promise.all(
    Array.from(
      { length: 2000 },
      () =>
        new Promise<Socket>((done, reject) => {
          const socket: Socket = connect(server.port, '127.0.0.1', () => done(socket));
          socket.once('error', reject);
        }),
    ),
  );
  const answers = sockets.map(
    (socket) =>
      new Promise<string>((done) => {
        socket.once('data', (bytes: Buffer) => done(bytes.toString('latin1', 0, 12)));
        socket.once('close', () => done('closed'));
      }),
  );
  for (const socket of sockets) socket.write('GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n');
  const heads = await Promise.all(answers);
  expect(new Set(heads)).toEqual(new Set(['HTTP/1.1 401']));
  for (const socket of sockets) socket.destroy();
});

test('a request with a chunked body is the last on its connection, whatever stands behind it', async () => {
  const chunked = (path: string, type: string, body: string, behind: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n${behind}`;
  const smuggled = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n\r\n`;
  for (const [path, type, body] of [
    ['/v1/hexcodes/encode/batch', 'application/json', '{"points":[[21.03,105.85]]}'],
    ['/v1/hexcodes/encode', 'application/json', '{"lat":21.03,"lng":105.85}'],
    ['/v1/hexcodes/encode/bulk', 'text/csv', 'lat,lng\n21.03,105.85\n'],
  ] as const) {
    const alone = await sendRaw(server.port, chunked(path, type, body, '\r\n'), { idleMs: 1000 });
    expect(alone).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(alone.toLowerCase()).toContain('connection: close');
    // In the same segment, and in one that comes when the answer is complete.
    for (const pieces of [
      [chunked(path, type, body, `\r\n${smuggled}`)],
      [chunked(path, type, body, `AA${smuggled}`)],
      [chunked(path, type, body, '\r\n'), smuggled],
    ]) {
      const received = await sendRaw(server.port, pieces, { idleMs: 1000, gapMs: 300 });
      expect([path, received.includes('boundary_data')]).toEqual([path, false]);
    }
  }
});
