// The routes are warmed before the service is ready, and nothing of it is counted, logged or stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scrape, sumOf } from '../../support/metrics.js';
import { startServer } from '../../support/server.js';

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
