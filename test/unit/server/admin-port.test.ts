// The admin port over real sockets: its table of routes, the names by which it is asked, and floods of peers without
// a key.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AdminRoute, openAdminPort, textAnswer } from '#dist/server/admin/port.js';

// The route table of the admin port, over real sockets.
describe('routes', () => {
  const thrown: unknown[] = [];
  const routes: AdminRoute[] = [
    { method: 'GET', path: '/a', handle: () => textAnswer(200, 'one', 'two') },
    { method: 'DELETE', path: '/keys/:id', handle: () => Promise.reject(new Error('broken')) },
  ];

  let port: Awaited<ReturnType<typeof openAdminPort>>;
  const call = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port.port}${path}`, init);

  beforeAll(async () => {
    const failed = (error: unknown): unknown => thrown.push(error);
    port = await openAdminPort('127.0.0.1', 0, routes, failed, ['metrics.example.com']);
  });
  afterAll(() => port.close());

  test('a route is found by its path, and HEAD is answered as GET', async () => {
    const answer = await call('/a?x=1');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toBe('one\ntwo\n');
    const head = await call('/a', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '8', '']);
  });

  test('what a handler throws is answered 500 and reported', async () => {
    const answer = await call('/keys/1', { method: 'DELETE' });
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      {
        status: 'INTERNAL_ERROR',
        request_id: answer.headers.get('x-request-id'),
        error: { code: 'internal' },
      },
    ]);
    expect(thrown).toEqual([new Error('broken')]);
  });

  test('a port that is in use is named', async () => {
    await expect(openAdminPort('127.0.0.1', port.port, [])).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port.port} for the admin port: the port is in use`,
    );
  });

  /** The status of a request with a Host header of the caller's own, which fetch does not allow. */
  function statusFor(host: string | undefined): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port.port, '127.0.0.1');
      let text = '';
      socket.on('data', (bytes) => (text += bytes));
      socket.on('close', () => resolve(text.slice(9, 12)));
      const head = host === undefined ? 'GET /a HTTP/1.0\r\n' : `GET /a HTTP/1.1\r\nHost: ${host}\r\n`;
      socket.write(`${head}Connection: close\r\n\r\n`);
    });
  }

  test.each([
    ['127.0.0.1:9090', '200'],
    ['10.1.2.3', '200'],
    ['[::1]:9090', '200'],
    ['localhost:9090', '200'],
    ['node-1:9090', '200'],
    ['hexcodes.default.svc:9090', '200'],
    ['hexcodes.default.svc.cluster.local', '200'],
    ['Metrics.Example.com.:9090', '200'],
    [undefined, '200'],
    ['evil.example:9090', '421'],
    ['metrics.example.com.evil.vn', '421'],
    ['127.0.0.1.evil.vn', '421'],
    ['[::1].evil.vn', '421'],
    ['', '421'],
  ])('a request for the host %s: %s', async (host, status) => {
    expect(await statusFor(host)).toBe(status);
  });
});

// Peers without a key ask the admin port for more than it can carry: what they make it do and hold stays bounded, and
// probes and honest callers are answered meanwhile.
describe('floods', () => {
  const PAGE = 'x'.repeat(1_000_000);
  const sockets: Socket[] = [];
  let close = async (): Promise<void> => {};
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await close();
  });

  /** An admin port whose pages count how often they are rendered. */
  async function opened(handle: () => Promise<void> = async () => {}) {
    const figures = { rendered: 0, calls: 0, underWay: 0, maxUnderWay: 0 };
    const counted = async (): Promise<void> => {
      figures.maxUnderWay = Math.max(figures.maxUnderWay, ++figures.underWay);
      await handle();
      figures.underWay--;
    };
    const routes: AdminRoute[] = [
      {
        method: 'GET',
        path: '/metrics',
        isShared: true,
        handle: async () => {
          figures.rendered++;
          await counted();
          return { status: 200, type: 'text/plain', body: PAGE };
        },
      },
      {
        method: 'GET',
        path: '/keys',
        handle: async () => {
          figures.calls++;
          await counted();
          return textAnswer(200, 'keys');
        },
      },
      { method: 'GET', path: '/livez', handle: () => textAnswer(200, 'alive') },
    ];
    const port = await openAdminPort('127.0.0.1', 0, routes);
    close = port.close;
    return { port: port.port, figures };
  }

  /** A connection that sends a text; it reads nothing if it is paused. */
  function peer(port: number, text: string, isPaused: boolean): Socket {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    if (isPaused) socket.pause();
    else socket.resume();
    socket.write(text);
    return socket;
  }

  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  test.each(['/metrics', '/metrics?a=1', '/keys', '/none', '/livez'])(
    'pipelined calls of %s do not add up',
    async (path) => {
      const { port, figures } = await opened();
      for (let i = 0; i < 40; i++) peer(port, request(path).repeat(400), i % 2 === 0);
      const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of sockets) socket.resume();
      await Promise.all(closed);
      // One a connection at most, of 400.
      expect(figures.rendered + figures.calls).toBeLessThanOrEqual(40);
      expect(figures.maxUnderWay).toBeLessThanOrEqual(4);
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect([answer.status, (await answer.text()).length]).toEqual([200, PAGE.length]);
    },
  );

  test('many who ask at the same time get one rendering, and beyond a number an answer that says so', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { port, figures } = await opened(() => held);
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: answer.status, retry: answer.headers.get('retry-after'), text: await answer.text() };
    };
    const answers = Array.from({ length: 100 }, () => ask('/metrics'));
    // Each is answered or refused; a probe is neither counted nor refused.
    while (figures.rendered === 0) await sleep(5);
    expect(await ask('/livez')).toMatchObject({ status: 200 });
    const refused = (await Promise.race([Promise.all(answers.slice(0, 99)), sleep(300)])) ?? [];
    expect(refused).toEqual([]);
    release();
    const all = await Promise.all(answers);
    const good = all.filter(({ status }) => status === 200);
    expect(good.length).toBeGreaterThanOrEqual(32);
    expect(all.filter(({ status }) => status === 503).every(({ retry }) => retry === '1')).toBe(true);
    expect(good.length + all.filter(({ status }) => status === 503).length).toBe(100);
    expect(figures.rendered).toBeLessThanOrEqual(2);
  });

  test('calls that differ wait for one another, however many connections come and go', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { port, figures } = await opened(() => held);
    for (let i = 0; i < 300; i++) {
      const socket = peer(port, request('/keys'), false);
      if (i % 3 > 0) setTimeout(() => socket.destroy(), 30);
      if (i % 20 === 0) await sleep(10);
    }
    // Connections are accepted in their order.
    const answer = await fetch(`http://127.0.0.1:${port}/none`);
    expect(answer.status).toBe(503);
    await sleep(200);
    expect(figures.calls).toBe(4);
    release();
    while (figures.underWay > 0 || figures.calls < 4 + 32) await sleep(5);
    expect(figures.maxUnderWay).toBeLessThanOrEqual(4);
    // Calls in the service, and calls that waited in the thread.
    expect(figures.calls).toBeLessThanOrEqual(4 + 32);
  });

  test('idle connections keep nobody out', async () => {
    const { port } = await opened();
    for (let i = 0; i < 400; i++) {
      peer(port, i % 2 === 0 ? '' : 'GET /metrics HTTP/1.1\r\nHost:', true);
      if (i % 50 === 0) await sleep(20);
    }
    for (let i = 0; i < 5; i++) {
      const answer = await fetch(`http://127.0.0.1:${port}/livez`);
      expect(answer.status).toBe(200);
      await answer.text();
    }
    const open = sockets.filter((socket) => !socket.destroyed);
    await sleep(100);
    for (const socket of open) socket.resume();
    await sleep(200);
    expect(sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length).toBeLessThanOrEqual(
      256,
    );
  });
});
