// Metrics of the real server: what requests of every kind add to them, that the warm-up adds nothing, and that
// documents, dashboard and alerts name metrics that there are.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { scrape, sumOf } from '../../../support/metrics.js';
import { startServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();

const ENCODE = '/v1/hexcodes/encode';

describe('metrics', () => {
  const headers = (): Record<string, string> => ({ 'X-API-Key': server.key });

  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.base}${path}`, { ...init, headers: { ...headers(), ...init.headers } });

  const get = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    sumOf((await scrape(server.adminPort)).metrics, name, labels);

  const POINTS = Array.from({ length: 40 }, (_, i) => [10 + i / 10, 106]);

  test('single calls are counted by route, method and status, with their points and bytes', async () => {
    const before = (await scrape(server.adminPort)).metrics;
    const bodies = await Promise.all(
      ['lat=10.5&lng=106.5', 'lat=80&lng=0', 'lat=x&lng=0'].map(async (query) =>
        (await call(`${ENCODE}?${query}`)).text(),
      ),
    );
    await call(ENCODE, { method: 'HEAD' });
    await call('/v1/hexcodes/decode?hexcodes=nonsense');
    const after = (await scrape(server.adminPort)).metrics;
    const added = (name: string, labels: Record<string, string> = {}): number =>
      sumOf(after, name, labels) - sumOf(before, name, labels);
    const requests = (method: string, status: string): number =>
      added('hexcodes_http_requests_total', { route: ENCODE, method, status });
    expect([
      requests('GET', '200'),
      requests('GET', '404'),
      requests('GET', '400'),
      requests('HEAD', '400'),
    ]).toEqual([1, 1, 1, 1]);
    expect(added('hexcodes_points_total', { operation: 'encode', outcome: 'ok' })).toBe(1);
    expect(added('hexcodes_points_total', { operation: 'encode', outcome: 'failed' })).toBe(1);
    expect(added('hexcodes_points_total', { operation: 'decode', outcome: 'failed' })).toBe(1);
    expect(added('hexcodes_http_sent_bytes_total', { route: ENCODE })).toBe(
      bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0),
    );
    expect(added('hexcodes_http_request_duration_seconds_count', { route: ENCODE })).toBe(4);
    expect(added('hexcodes_http_request_duration_seconds_bucket', { route: ENCODE, le: '+Inf' })).toBe(4);
    expect(added('hexcodes_http_cut_off_total')).toBe(0);
  });

  test('points of batches are counted, small ones and those of the pool', async () => {
    for (const count of [40, 9000]) {
      const points = Array.from({ length: count }, (_, i) => POINTS[i % POINTS.length]);
      const before = await get('hexcodes_points_total', { operation: 'encode_batch' });
      const runs = await get('hexcodes_pool_run_seconds_count');
      const body = JSON.stringify({ points: [...points, [80, 0]], padding: 'x'.repeat(count * 120) });
      const answer = await call(`${ENCODE}/batch`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      const { summary } = (await answer.json()) as { summary: { total: number } };
      expect(summary.total).toBe(count + 1);
      expect((await get('hexcodes_points_total', { operation: 'encode_batch' })) - before).toBe(count + 1);
      expect((await get('hexcodes_pool_run_seconds_count')) - runs).toBe(count === 40 ? 0 : 1);
    }
    const route = { route: `${ENCODE}/batch`, method: 'POST', status: '200' };
    expect(await get('hexcodes_http_requests_total', route)).toBe(2);
    expect(await get('hexcodes_http_received_bytes_total', { route: route.route })).toBeGreaterThan(100_000);
  });

  test('rows of a bulk body are counted, and its bytes', async () => {
    const before = await get('hexcodes_points_total', { operation: 'encode_bulk' });
    const body = `lat,lng\n${'10.5,106.5\n'.repeat(20_000)}80,0\n`;
    const answer = await call(`${ENCODE}/bulk`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'text/csv', 'Accept-Encoding': 'identity' },
    });
    const text = await answer.text();
    expect((await get('hexcodes_points_total', { operation: 'encode_bulk' })) - before).toBe(20_001);
    const route = { route: `${ENCODE}/bulk` };
    expect(await get('hexcodes_http_received_bytes_total', route)).toBe(body.length);
    expect(await get('hexcodes_http_sent_bytes_total', route)).toBe(Buffer.byteLength(text));
    expect(await get('hexcodes_bulk_answers')).toBe(0);
  });

  test('a bulk body under way shows its bytes, and is counted as cut off where the client leaves', async () => {
    const route = { route: '/v1/hexcodes/decode/bulk' };
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      `POST ${route.route} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: text/csv\r\nContent-Length: 1000\r\n\r\nhexcodes\n`,
    );
    while ((await get('hexcodes_http_received_bytes_total', route)) < 9) await sleep(5);
    expect(await get('hexcodes_bulk_answers')).toBe(1);
    expect(await get('hexcodes_http_requests_under_way')).toBe(1);
    socket.destroy();
    while ((await get('hexcodes_http_cut_off_total', route)) < 1) await sleep(5);
    expect(await get('hexcodes_http_received_bytes_total', route)).toBe(9);
    expect(await get('hexcodes_http_requests_total', route)).toBe(0);
  });

  test('frames of the stream are counted, with their points, and connections by their closing code', async () => {
    const before = await get('hexcodes_points_total', { operation: 'stream' });
    const subprotocol = 'hexcodes.v1.json';
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, subprotocol, {
      headers: headers(),
    });
    await once(socket, 'message');
    expect(await get('hexcodes_stream_connections', { subprotocol })).toBe(1);
    for (const count of [3, 20_000]) {
      const points = Array.from({ length: count }, () => [10.5, 106.5]);
      socket.send(JSON.stringify({ seq: count, op: 'encode', points }));
      await once(socket, 'message');
    }
    expect((await get('hexcodes_points_total', { operation: 'stream' })) - before).toBe(20_003);
    expect(await get('hexcodes_stream_frames_total', { subprotocol })).toBe(2);
    while ((await get('hexcodes_stream_frame_duration_seconds_count', { subprotocol })) < 1) await sleep(5);
    expect(await get('hexcodes_http_requests_total', { route: '/v1/hexcodes/stream', status: '101' })).toBe(
      1,
    );
    socket.send(Buffer.from([1]), { binary: true });
    await once(socket, 'close');
    while ((await get('hexcodes_stream_connections', { subprotocol })) > 0) await sleep(5);
    expect(await get('hexcodes_stream_closed_total', { subprotocol, code: '1003' })).toBe(1);
  });

  test("close codes of clients are not taken for the service's, and make no series", async () => {
    const subprotocol = 'hexcodes.v1.binary';
    const closed = (code: string) => get('hexcodes_stream_closed_total', { subprotocol, code });
    const codes = [1003, 1009, 1011, 4001, 4999];
    const before = await Promise.all(['other', '1000', ...codes.map(String)].map(closed));
    for (const code of [1000, ...codes]) {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, subprotocol, {
        headers: headers(),
      });
      await once(socket, 'message');
      socket.close(code);
      await once(socket, 'close');
    }
    while ((await get('hexcodes_stream_connections', { subprotocol })) > 0) await sleep(5);
    const after = await Promise.all(['other', '1000', ...codes.map(String)].map(closed));
    expect(after.map((count, i) => count - before[i]!)).toEqual([5, 1, 0, 0, 0, 0, 0]);
  });

  test('points of binary frames are counted', async () => {
    const before = await get('hexcodes_points_total', { operation: 'stream', outcome: 'failed' });
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, 'hexcodes.v1.binary', {
      headers: headers(),
    });
    await once(socket, 'message');
    for (const count of [5, 30_000]) {
      const frame = Buffer.alloc(16 + 16 * count);
      frame.set([1, 1, 13, 0]);
      frame.writeUInt32LE(count, 8);
      for (let i = 0; i < count; i++) frame.writeDoubleLE(80, 16 + 16 * i);
      socket.send(frame);
      await once(socket, 'message');
    }
    expect((await get('hexcodes_points_total', { operation: 'stream', outcome: 'failed' })) - before).toBe(
      30_005,
    );
    socket.close();
    await once(socket, 'close');
  });

  test('states of the service are shown', async () => {
    const { metrics } = await scrape(server.adminPort);
    const info = metrics.get('hexcodes_info')?.[0];
    expect(Object.keys(info?.labels ?? {})).toEqual([
      ...['version', 'kernel', 'data', 'data_date', 'transport', 'transport_version', 'node'],
    ]);
    expect(info?.labels.kernel).toMatch(/^[0-9a-f]{12}$/);
    expect(sumOf(metrics, 'hexcodes_ready')).toBe(1);
    expect(sumOf(metrics, 'hexcodes_keys')).toBe(1);
    expect(sumOf(metrics, 'hexcodes_key_store_fault')).toBe(0);
    expect(sumOf(metrics, 'hexcodes_pool_threads')).toBeGreaterThan(0);
    expect(sumOf(metrics, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect([...metrics.keys()].filter((name) => name.startsWith('nodejs_eventloop'))).toEqual([]);
  });

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

  test.skipIf(!hasPromtool)('promtool has nothing to say about them (where it is installed)', async () => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/metrics`);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await answer.text(),
      encoding: 'utf8',
    });
    expect([status, stdout + stderr]).toEqual([0, '']);
  });

  test('keys in use are shown with their counts', async () => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/activity`);
    const { keys } = (await answer.json()) as { keys: { id: string; requests: number; points: number }[] };
    expect(keys).toHaveLength(1);
    expect(keys[0]?.points).toBe(await get('hexcodes_points_total'));
  });

  interface Described {
    readonly name: string;
    readonly kind: string;
    readonly help: string;
  }

  /** Metrics that the scrape describes, whether or not they have a series yet. */
  async function described(): Promise<Described[]> {
    const { text } = await scrape(server.adminPort);
    return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(
      ([, name = '', help = '', kind = '']) => ({
        name,
        kind,
        help,
      }),
    );
  }

  test('the table of docs/reference/metrics.md has all metrics of the service and no others', async () => {
    const table = [
      ...readFileSync('docs/reference/metrics.md', 'utf8').matchAll(
        /^\| `(hexcodes_\w+)` \| (\w+) \| [^|]*\| (.*) \|$/gm,
      ),
    ].map(([, name = '', kind = '', help = '']) => ({ name, kind, help }));
    const own = (await described()).filter(({ name }) => name.startsWith('hexcodes_'));
    expect(table.sort(byName)).toEqual(
      own.sort(byName).map(({ name, kind, help }) => ({ name, kind, help })),
    );
  });

  const byName = (a: Described, b: Described): number => (a.name < b.name ? -1 : 1);

  /** Names of metrics in an expression; `up` is Prometheus' own. */
  function namesIn(expression: string): string[] {
    const words = expression.replace(/"[^"]*"/g, '""').matchAll(/\b((?:hexcodes|process|nodejs)_\w+)/g);
    return [...words].map((match) => match[1] as string);
  }

  /** The expressions of the dashboard. */
  function drawn(): string[] {
    const { panels } = JSON.parse(readFileSync('deploy/grafana/hexcodes.json', 'utf8')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  }

  test('dashboard, alerts, runbook and documents name metrics that there are', async () => {
    const metrics = await described();
    const known = new Set(
      metrics.flatMap(({ name, kind }) =>
        kind === 'histogram' || kind === 'summary'
          ? [name, ...['bucket', 'sum', 'count'].map((part) => `${name}_${part}`)]
          : [name],
      ),
    );
    const expressions = drawn();
    expect(expressions.length).toBeGreaterThan(30);
    const documents = ['deploy/prometheus/alerts.yml', 'deploy/README.md', 'docs/reference/metrics.md'];
    for (const [where, text] of [
      ['dashboard', expressions.join('\n')],
      ...documents.map((path) => [path, readFileSync(path, 'utf8')]),
    ] as [string, string][]) {
      const names = namesIn(text);
      expect(names.length, where).toBeGreaterThan(where === 'deploy/README.md' ? 0 : 5);
      expect(
        names.filter((name) => !known.has(name)),
        where,
      ).toEqual([]);
    }
  });

  test('a series whose first increase raises an alert is there before it, at 0', async () => {
    const fresh = await startServer();
    onTestFinished(() => fresh.stop());

    const { metrics } = await scrape(fresh.adminPort);
    expect(metrics.get('hexcodes_defects_total')?.map(({ value }) => value)).toEqual([0]);
    for (const code of ['1011', '1013']) {
      const series = (metrics.get('hexcodes_stream_closed_total') ?? []).filter(
        ({ labels }) => labels.code === code,
      );
      expect(series.map(({ value }) => value)).toEqual(series.map(() => 0));
      expect(series.length).toBeGreaterThan(0);
    }
  });

  test('every metric of the service is drawn or alerted on', async () => {
    const used = new Set(
      namesIn([...drawn(), readFileSync('deploy/prometheus/alerts.yml', 'utf8')].join('\n')),
    );
    const names = (await described()).map(({ name }) => name).filter((name) => name.startsWith('hexcodes_'));
    const left = names.filter((name) => ![name, `${name}_bucket`].some((n) => used.has(n)));
    // Its size follows from the number of blocks.
    expect(left).toEqual(['hexcodes_pool_bytes']);
  });

  test('every alert has its place in the runbook and a test', () => {
    const alerts = [...readFileSync('deploy/prometheus/alerts.yml', 'utf8').matchAll(/- alert: (\w+)/g)].map(
      (m) => m[1] as string,
    );
    const runbook = readFileSync('docs/reference/alerts.md', 'utf8');
    const tests = readFileSync('deploy/prometheus/alerts.test.yml', 'utf8');
    expect(alerts.length).toBeGreaterThan(10);
    for (const alert of alerts) {
      expect(runbook, alert).toContain(`\n### ${alert}\n`);
      expect(tests, alert).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:`));
      expect(readFileSync('deploy/prometheus/alerts.yml', 'utf8')).toContain(
        `docs/reference/alerts.md#${alert.toLowerCase()}\n`,
      );
    }
  });
});

describe('slow rows', () => {
  const DECODE = '/v1/hexcodes/decode';

  const call = (path: string, init: RequestInit): Promise<Response> =>
    fetch(`${server.base}${path}`, { ...init, headers: { 'X-API-Key': server.key, ...init.headers } });

  test('rows that the kernel leaves to JavaScript are counted by endpoint and reason, others never', async () => {
    const post = async (
      path: string,
      type: string,
      body: string,
      accept = 'application/json',
    ): Promise<void> => {
      const answer = await call(path, {
        method: 'POST',
        body,
        headers: { 'Content-Type': type, Accept: accept },
      });
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    };
    const slow = async (): Promise<[string, number][]> => {
      const { metrics } = await scrape(server.adminPort);
      return [...(metrics.get('hexcodes_slow_rows_total') ?? [])].map(({ labels, value }) => [
        `${labels.endpoint} ${labels.reason}`,
        value,
      ]);
    };
    const added = async (work: () => Promise<void>): Promise<Record<string, number>> => {
      const before = Object.fromEntries(await slow());
      await work();
      const more = (await slow()).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
      return Object.fromEntries(more.filter(([, count]) => count !== 0));
    };
    const [lines, table] = ['application/x-ndjson', 'text/csv'];
    const spelled = '{"id": 1, "latitude": 21.0288, "note": {"a": []}, "longitude": 1.058525e2}\n';
    // A body that this thread converts, and one for the pool.
    for (const count of [10, 20_000]) {
      expect(
        await added(async () => {
          await post(`${ENCODE}/bulk`, lines, spelled.repeat(count), lines);
          await post(
            `${ENCODE}/batch`,
            'application/json',
            `{"points": [${Array(count / 10).fill(spelled)}]}`,
          );
        }),
      ).toEqual({});
      expect(
        await added(async () => {
          await post(`${ENCODE}/bulk`, lines, `${spelled}{"lat":"21","lng":105}\n`.repeat(count / 2), lines);
          await post(`${ENCODE}/batch`, 'application/json', `{"points":[${Array(10).fill('["x",1]')}]}`);
        }),
      ).toEqual({ 'bulk refused': count / 2, 'batch refused': 10 });
      expect(
        await added(async () => {
          await post(`${ENCODE}/bulk`, table, `lat,lng\n${'21.02e-300,105\n'.repeat(count)}`, table);
          await post(`${DECODE}/bulk`, table, `hexcodes\n${'ＨＮ-6GHP4-83RFR\n'.repeat(count)}`, table);
        }),
      ).toEqual({ 'bulk number': count, 'bulk code': count });
    }
  });
});

const run = (...args: string[]): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    cwd: 'deploy/prometheus',
    encoding: 'utf8',
  });
  return { status, text: `${stdout}${stderr}` };
};

const isInstalled = run('--version').status === 0;

const named = isInstalled ? '' : ' (skipped: promtool is not installed)';

test.skipIf(!isInstalled)(`the rules are valid${named}`, () => {
  const { status, text } = run('check', 'rules', 'alerts.yml');
  expect(text).toMatch(/SUCCESS: \d+ rules found/);
  expect(status).toBe(0);
});

test.skipIf(!isInstalled)(
  `each alert is raised where it should be, and not where it should not${named}`,
  () => {
    const { status, text } = run('test', 'rules', 'alerts.test.yml');
    expect(text).toContain('SUCCESS');
    expect(status).toBe(0);
  },
);

// The routes are warmed before the service is ready, and nothing of it is counted, logged or stored.

interface Line {
  readonly msg: string;
  readonly warmed_calls?: number;
  readonly keys?: number;
}

const linesOf = (log: string): Line[] =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('each route is called before the first request, and none of them is seen', async () => {
  const server = await startServer({ usageFlushMs: 50 });
  try {
    const lines = linesOf(server.log());
    const listening = lines.find(({ msg }) => msg === 'listening')!;
    expect(listening.warmed_calls).toBe(4);
    expect(listening.keys).toBe(1);
    expect(lines.filter(({ msg }) => msg === 'answered')).toEqual([]);
    const { metrics } = await scrape(server.adminPort);
    for (const name of metrics.keys())
      if (/^hexcodes_(?:http_requests|http_request_duration_seconds_count|points|key_)/.test(name))
        expect([name, sumOf(metrics, name)]).toEqual([name, 0]);
    expect((metrics.get('hexcodes_keys') ?? metrics.get('hexcodes_keys_loaded'))?.[0]?.value).toBe(1);

    // A call counts itself alone, also in the store, and the key of the warm-up is gone.
    const call = (path: string, key: string) =>
      fetch(`${server.base}${path}`, { headers: { 'X-API-Key': key } });
    expect((await call('/v1/hexcodes/encode?lat=21.0288&lng=105.8525', server.key)).status).toBe(200);
    await sleep(200);
    const usage = await (await call('/v1/usage', server.key)).json();
    expect(JSON.stringify(usage)).not.toContain('warm-up');
    const after = await scrape(server.adminPort);
    expect(sumOf(after.metrics, 'hexcodes_http_requests_total', { route: '/v1/hexcodes/encode' })).toBe(1);
  } finally {
    await server.stop();
  }
  const stopped = linesOf(server.log()).find(({ msg }) => msg === 'stopped') as unknown as {
    requests: number;
  };
  expect(stopped.requests).toBe(2);
});
