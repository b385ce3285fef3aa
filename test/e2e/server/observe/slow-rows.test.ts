// The metric of rows that are not read by the kernel, of the real server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scrape } from '../../../support/metrics.js';
import { startServer, type TestServer } from '../../../support/server.js';

const ENCODE = '/v1/hexcodes/encode';
const DECODE = '/v1/hexcodes/decode';

let server: TestServer;
const call = (path: string, init: RequestInit): Promise<Response> =>
  fetch(`${server.base}${path}`, { ...init, headers: { 'X-API-Key': server.key, ...init.headers } });

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

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
        await post(`${ENCODE}/batch`, 'application/json', `{"points": [${Array(count / 10).fill(spelled)}]}`);
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
