// The admin port over real sockets, in floods of peers without a key; and that of a worker.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Watched } from '#dist/cli/watched.js';
import { type AdminRoute, openAdminPort, textAnswer } from '#dist/server/admin/port.js';

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

  test('what a handler throws is answered 500 and reported', async () => {
    const thrown: unknown[] = [];
    const broken = () => Promise.reject(new Error('broken'));
    const routes: AdminRoute[] = [{ method: 'DELETE', path: '/keys/:id', handle: broken }];
    const port = await openAdminPort('127.0.0.1', 0, routes, (error) => thrown.push(error));
    close = port.close;
    const answer = await fetch(`http://127.0.0.1:${port.port}/keys/1`, { method: 'DELETE' });
    const id = answer.headers.get('x-request-id');
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { status: 'INTERNAL_ERROR', request_id: id, error: { code: 'internal' } },
    ]);
    expect(thrown).toEqual([new Error('broken')]);
  });

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

  test('many callers at once share one rendering, and beyond a limit are told so', async () => {
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

  test('idle connections keep no other out', async () => {
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

// The admin port of a worker has the bounds of the service's: the names by which it is asked, and one call at a time.

describe('the port of a worker', () => {
  const NO_TIMES = { counts: [], sumS: 0, add: () => {} };

  let watched: Watched;
  let port = 0;
  beforeEach(async () => {
    let said = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += text;
      return true;
    });
    vi.stubEnv('HEXCODES_ADMIN_NAMES', 'metrics.example.com');
    watched = await Watched.open(
      {
        role: 'worker',
        look: async () => ({ waiting: 0, underWay: 0, streams: [] }),
        figures: () => ({ counters: { points: 1 }, times: NO_TIMES }),
        say: () => {},
      },
      { adminPort: '0', adminHost: '127.0.0.1' },
    );
    stderr.mockRestore();
    port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
  });
  afterEach(() => {
    watched.end();
    vi.unstubAllEnvs();
  });

  /** All that a connection gets for a text until it is closed. */
  function answersTo(text: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let got = '';
      socket.on('data', (bytes) => (got += bytes));
      socket.on('error', () => {});
      socket.on('close', () => resolve(got));
      socket.write(text);
    });
  }

  test.each([
    ['127.0.0.1:9091', '200'],
    ['worker-1:9091', '200'],
    ['metrics.example.com', '200'],
    ['evil.example:9091', '421'],
    ['127.0.0.1.evil.vn', '421'],
  ])('a request for the host %s: %s', async (host, status) => {
    for (const path of ['/livez', '/readyz', '/metrics', '/other'].slice(0, status === '200' ? 1 : 4)) {
      const text = await answersTo(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(text.slice(9, 12), path).toBe(status);
    }
  });

  test.each([
    ['http://worker-1:9091/livez', '200'],
    ['HTTP://localhost/livez?now', '200'],
    ['http://localhost?now', '404'],
    ['http://evil.example/livez', '421'],
  ])('an absolute address is that of its path, and names the host: %s', async (target, status) => {
    const text = await answersTo(`GET ${target} HTTP/1.1\r\nHost: worker-1\r\nConnection: close\r\n\r\n`);
    expect(text.slice(9, 12)).toBe(status);
  });

  test('pipelined calls close their connection', async () => {
    const text = await answersTo('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000));
    expect(text.split('HTTP/1.1 200').length - 1).toBeLessThanOrEqual(1);
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([answer.status, (await answer.text()).includes('hexcodes_worker_points_total')]).toEqual([
      200,
      true,
    ]);
  });

  test('a worker that stores nothing for a minute while messages wait is not ready, and says so', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    const counters = { messages: 7 };
    let waiting = 5;
    let said = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += text;
      return true;
    });
    const stalled = await Watched.open(
      {
        role: 'worker',
        look: async () => ({ waiting, underWay: 0, streams: [] }),
        figures: () => ({ counters, times: NO_TIMES }),
        say: () => {},
      },
      { adminPort: '0', adminHost: '127.0.0.1' },
    );
    stderr.mockRestore();
    const other = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    const ready = async (): Promise<string> => (await fetch(`http://127.0.0.1:${other}/readyz`)).text();
    onTestFinished(() => {
      stalled.end();
      vi.useRealTimers();
    });

    await vi.advanceTimersByTimeAsync(55_000);
    expect(await ready()).toBe('ready\n');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await ready()).toMatch(/^no answer was stored for \d+ s, and messages wait\n$/);
    counters.messages++;
    await vi.advanceTimersByTimeAsync(5000);
    expect(await ready()).toBe('ready\n');
    waiting = 0;
    await vi.advanceTimersByTimeAsync(200_000);
    expect(await ready()).toBe('ready\n');
  });
});
