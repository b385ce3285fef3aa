// The admin port of a worker has the bounds of the service's: the names by which it is asked, and one call at a time.
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Watched } from '#dist/cli/watched.js';

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
  try {
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
  } finally {
    stalled.end();
    vi.useRealTimers();
  }
});
