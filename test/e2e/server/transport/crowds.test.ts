// Peers that flood or come in crowds, with and without a key: the service outlives them, and others are answered.
// Flooding peers are processes of their own; uWS reads their sockets again and again within one turn of the event loop
// (README U28).

import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Crowd, KeylessPeers } from '../../../support/crowd.js';
import { freedMemory } from '../../../support/freed-memory.js';
import { askRaw, type RawClient, rawClient } from '../../../support/http-calls.js';
import { randomFrom } from '../../../support/open-world.js';
import { handshake, RawWebSocket } from '../../../support/raw-stream.js';
import { parseAnswers, sendRaw, startServer, type TestServer } from '../../../support/server.js';
import { ServeCommand } from '../../../support/server-process.js';

let server: TestServer;

const KEY = 'one_key_0123456789abcdef';

describe('fairness', () => {
  const FLOOD = resolve('build/test/support/peers/flood.js');

  const CHUNKS_SECONDS = 2;

  /** Longer than a busy machine needs to close some connections. */
  const LONG_SECONDS = 60;

  const CLOSINGS = 4;

  beforeAll(async () => {
    server = await startServer();
  });

  afterAll(() => server.stop());

  /** Resolves to how many connections of the flooding peer the service closed. */
  function flood(kind: string, seconds: number): Promise<number> {
    return new Promise((done, reject) => {
      const child = spawn(
        process.execPath,
        [FLOOD, kind, String(server.port), String(seconds), String(CLOSINGS)],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, FLOOD_KEY: server.key },
        },
      );
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
    do {
      const answer = await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': server.key } });
      statuses.push(answer.status);
      await answer.arrayBuffer();
    } while (!isOver);
    return statuses;
  }

  test('a peer that sends a body in chunks of one byte does not stop the others', async () => {
    // Whether it is cut off depends on how fast it sends; test/unit/server/transport/limits.test.ts has it.
    const statuses = await askDuring(flood('chunks', CHUNKS_SECONDS));
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  test.each(['requests', 'unread', 'unread-heads', 'frames', 'pings'])(
    'a peer that floods by %s is cut off, and all others are answered',
    async (kind) => {
      const flooding = flood(kind, LONG_SECONDS);
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

  test('a request with a chunked body is the last on its connection, whatever follows it', async () => {
    const chunked = (path: string, type: string, body: string, behind: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n${behind}`;
    const smuggled = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n\r\n`;
    for (const [path, type, body] of [
      ['/v1/hexcodes/encode/batch', 'application/json', '{"points":[[21.03,105.85]]}'],
      ['/v1/hexcodes/encode', 'application/json', '{"lat":21.03,"lng":105.85}'],
      ['/v1/hexcodes/encode/bulk', 'text/csv', 'lat,lng\n21.03,105.85\n'],
      ['/v1/hexcodes/encode/bulk', 'text/csv\r\nHexcodes-Answer: after-body', 'lat,lng\n21.03,105.85\n'],
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
});

describe('without a key', () => {
  const HEAD = `HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n`;

  const SINGLE = `GET /v1/hexcodes/encode?lat=21&lng=105.8 ${HEAD}\r\n`;

  const KEYLESS = 'GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n';

  const POST = 'POST /v1/hexcodes/encode HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

  const peers: KeylessPeers[] = [];

  const sockets: Socket[] = [];

  async function start(limits: Parameters<typeof startServer>[0] = {}): Promise<void> {
    server = await startServer({ apiKeys: [{ name: 'one', secret: KEY }], ...limits });
  }

  function keyless(from = '127.0.0.1'): KeylessPeers {
    const made = new KeylessPeers(server.port, from);
    peers.push(made);
    return made;
  }

  afterEach(async () => {
    for (const each of peers.splice(0)) each.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop();
  });

  async function client(from?: string): Promise<RawClient> {
    const made = await rawClient(server.port, from);
    sockets.push(made.socket);
    return made;
  }

  const metric = async (name: string): Promise<number> => {
    const page = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
  };

  test('a connection that rests is closed by the transport: silent, in the midst of a head, after any answer', async () => {
    await start();
    const silent = await client();
    const half = await client();
    half.socket.write('GET / HTTP/1.1\r\nHo');
    const asked = await client();
    expect(await askRaw(asked, [KEYLESS])).toMatch(/^HTTP\/1\.1 401 /);
    const refused = await client();
    expect(await askRaw(refused, [`${POST}Content-Length: 9\r\n\r\n`, '12345', '6789'])).toMatch(
      /^HTTP\/1\.1 401 /,
    );
    const known = await client();
    expect(await askRaw(known, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
    await Promise.all([silent, half, asked, refused, known].map(({ closed }) => closed));
  });

  test('on a crowded service an answer without a key closes its connection, whatever the request', async () => {
    await start({ maxConnections: 100, trustedProxies: ['127.0.0.9'] });
    const known = await client();
    expect(await askRaw(known, [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
    const asking = [];
    const requests: [string, RegExp][] = [
      [KEYLESS, /^HTTP\/1\.1 401 /],
      ['OPTIONS /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1\.1 204 /],
      [`${POST}Content-Length: 2\r\n\r\n{}`, /^HTTP\/1\.1 401 /],
      [`${POST}Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`, /^HTTP\/1\.1 401 /],
      [`${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, /^HTTP\/1\.1 401 /],
      [handshake('wrong'), /^HTTP\/1\.1 401 /],
    ];
    for (const request of requests) asking.push({ request, peer: await client() });
    await keyless('127.0.0.9').open(55);
    for (const { request, peer } of asking) {
      peer.socket.write(request[0]);
      await peer.closed;
      expect(peer.text(), request[0].slice(0, 80)).toMatch(request[1]);
    }
    // uws-pack closes after the head of a HEAD when the next request comes (U18).
    const head = await askRaw(await client(), [KEYLESS.replace('GET', 'HEAD')], /\r\n\r\n$/);
    expect(head).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close\r\n/s);
    // A long answer leaves the end to its client.
    const long = await fetch(`${server.base}/openapi.json`);
    expect([long.headers.get('connection'), Object.keys((await long.json()) as object)]).toEqual([
      'close',
      expect.arrayContaining(['openapi', 'paths']),
    ]);
    expect(await askRaw(known, [SINGLE.repeat(3)])).toMatch(/^HTTP\/1\.1 200 /);
    expect(known.socket.destroyed).toBe(false);
  });

  test('beyond half of all connections a network has its share; others are served, and proxies have no bound', async () => {
    await start({ maxConnections: 80, maxKeylessPerAddress: 5, trustedProxies: ['127.0.0.9'] });
    const [many, few, proxy] = [keyless('127.0.0.1'), keyless('127.0.0.2'), keyless('127.0.0.9')];
    await many.open(70);
    await few.open(5);
    await proxy.open(15);
    expect(await metric('hexcodes_connections')).toBe(65);
    expect([many.openCount, few.openCount, proxy.openCount]).toEqual([45, 5, 15]);
    expect(await metric('hexcodes_connections_refused_total{reason="share"}')).toBe(25);
    expect(server.log()).toContain('closed at once: too many connections are open, of all or of one network');
  });

  test('the last quarter is for networks that have shown a key, and the limit of all holds for them, too', async () => {
    await start({ maxConnections: 40, trustedProxies: ['127.0.0.9'] });
    await keyless('127.0.0.9').open(21);
    for (let call = 0; call < 3; call++)
      expect(await askRaw(await client('127.0.0.3'), [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
    await keyless('127.0.0.9').open(6);
    const stranger = await client('127.0.0.2');
    await stranger.closed;
    expect(await metric('hexcodes_connections_refused_total{reason="crowd"}')).toBe(1);
    for (let call = 0; call < 10; call++)
      expect(await askRaw(await client('127.0.0.3'), [SINGLE])).toMatch(/^HTTP\/1\.1 200 /);
    await (await client('127.0.0.3')).closed;
  });

  test('2,000 keyed trackers behind one address open at once, and all are served; so are as many streams', async () => {
    await start();
    const call = async (): Promise<string> => (await askRaw(await client(), [SINGLE])).slice(0, 12);
    const calls = await Promise.all(Array.from({ length: 2000 }, call));
    expect(calls.filter((status) => status !== 'HTTP/1.1 200')).toEqual([]);
    const streams = await Promise.all(
      Array.from({ length: 2000 }, () => RawWebSocket.open(server.port, handshake(KEY))),
    );
    for (const stream of streams) stream.socket.destroy();
    expect(streams.length).toBe(2000);
  });
});

describe('odd crowds', () => {
  const LENGTHS = ['1e3', '0x10', '+5', '5.5', '99999999999999999999', '1e-3', '5 5', '', '1_0', '٥'];

  const AT_ONCE = 20;

  const REQUESTS = 1000;

  /** Longer than the service keeps a connection that rests. */
  const REST_MS = 6500;

  /** Sends one request over a connection of its own; resolves when that is closed. */
  function ask(port: number, request: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      const timer = setTimeout(() => socket.destroy(), 300);
      socket.resume().on('error', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  test('a crowd whose lengths are not numbers of bytes does not end the service', async () => {
    const command = new ServeCommand(['--max-keyless-per-address', '500', '--log-level', 'error']);
    onTestFinished(async () => void (await command.stop()));
    const port = Number(new URL(await command.base()).port);
    let sent = 0;
    const peer = async (): Promise<void> => {
      while (sent < REQUESTS && !command.hasEnded) {
        const length = LENGTHS[sent++ % LENGTHS.length];
        await ask(port, `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, peer));
    await Promise.race([sleep(REST_MS), command.exit]);
    expect(command.hasEnded, `${command.child.signalCode} after ${sent} requests`).toBe(false);
  });

  const CROWD_REQUESTS = Number(process.env.CROWD_REQUESTS ?? 30_000);

  test.skipIf(freedMemory === undefined).each([
    ['crowded all the time', ['--max-connections', '80', '--max-keyless-per-address', '15']],
    ['crowded at times', ['--max-connections', '200']],
    ['never crowded', []],
  ])(
    'a service that is %s outlives crowds, by an allocator that overwrites freed memory (needs a C compiler)',
    async (_, args) => {
      const command = new ServeCommand([...args, '--log-level', 'info'], {
        ...freedMemory,
        HEXCODES_API_KEYS: `one:${KEY}`,
        HEXCODES_LOG_REQUESTS_PER_SECOND: '1',
      });
      onTestFinished(async () => void (await command.stop()));
      const port = Number(new URL(await command.base()).port);
      const seed = Number(process.env.CROWD_SEED ?? 1);
      const from = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
      const crowd = new Crowd({ port, key: KEY, random: randomFrom(seed), atOnce: 60, from });
      onTestFinished(() => crowd.end());
      await crowd.run((requests) => requests < CROWD_REQUESTS && !command.hasEnded);
      await Promise.race([sleep(2 * REST_MS), command.exit]);
      const said = `${command.child.signalCode} after ${crowd.requests} requests, seed ${seed}: ${command.err}`;
      expect(command.hasEnded, said).toBe(false);
      const headers = { 'X-API-Key': KEY };
      expect((await fetch(`http://127.0.0.1:${port}/v1/meta`, { headers })).status).toBe(200);
      expect(command.lines('a handler threw')).toEqual([]);
      crowd.end();
      // Each that opened has closed: the calls of the filter come in pairs.
      const metrics = `${await command.adminBase()}/metrics`;
      let open: string | undefined;
      do open = /^hexcodes_connections (.*)$/m.exec(await (await fetch(metrics)).text())?.[1];
      while (Number(open) > 1 && !command.hasEnded && (await sleep(200, true)));
      expect(Number(open)).toBeLessThanOrEqual(1);
    },
  );
});
