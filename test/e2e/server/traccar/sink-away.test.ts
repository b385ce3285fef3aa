// /v1/traccar on the real server while its sink is away, refuses or hangs: what waits, over restarts as well, and its
// bound.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Answer, expectError } from '../../../support/http-calls.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { shippedFiles } from '../../../support/shipped.js';
import { forwarded, forwardedBody, HttpSinkServer } from '../../../support/traccar.js';

const KEY = 'PlainSecret0123456789abcdef';
const files = shippedFiles();
const settings = { apiKeys: [{ name: 'own', secret: KEY }], traccarBatchMs: 5 };
const forward = (to: TestServer, body: unknown): Promise<Answer> => forwarded(to, KEY, body);

test('a sink that is down, refuses, hangs or is slow: nothing is lost, and what waits survives a restart', async () => {
  const away = await HttpSinkServer.start();
  const url = away.url;
  await away.down();
  const first = await startServer({ ...settings, traccarSink: { kind: 'http', url } }, files);
  const ready = async (of: TestServer): Promise<string> =>
    (await fetch(`http://127.0.0.1:${of.adminPort}/readyz`)).text();
  const ids: string[] = [];
  const send = async (to: TestServer, n: number): Promise<void> => {
    const answer = await forward(to, forwardedBody(n));
    expect(answer.status).toBe(200);
    ids.push(answer.body.id);
  };
  for (let n = 0; n < 20; n++) await send(first, n);
  while (!(await ready(first)).includes('takes no positions')) await sleep(5);
  expect(await ready(first)).toMatch(
    /^ready\nwarning: http:\S+ takes no positions \(.*ECONNREFUSED.*\): 20 wait on disk$/m,
  );
  await away.up();
  await away.received(20);
  expect(away.rows.map(({ id }) => id)).toEqual(ids);

  away.behaviour = 'refuses';
  for (let n = 20; n < 40; n++) await send(first, n);
  while (away.refused === 0) await sleep(5);
  away.behaviour = 'hangs';
  await first.stop();
  expect(first.log().match(/"msg":"the sink of positions takes none; they wait on disk"/g)).toHaveLength(2);
  expect(first.log()).toContain('"waiting":20,"msg":"positions wait on disk for the next start"');
  await away.down();
});

test('what waits is delivered after a restart, first', async () => {
  const away = await HttpSinkServer.start();
  const other = await startServer(settings, files);
  const folder = { dataDir: join(other.dataDir, 'own') };
  const own = { ...settings, ...folder, traccarSink: { kind: 'http', url: away.url } as const };
  const ids: string[] = [];
  away.behaviour = 'refuses';
  const first = await startServer(own, files);
  for (let n = 0; n < 5; n++) ids.push((await forward(first, forwardedBody(n))).body.id);
  await first.stop();
  away.behaviour = 'takes';
  away.delayMs = 30;
  const second = await startServer(own, files);
  for (let n = 5; n < 9; n++) ids.push((await forward(second, forwardedBody(n))).body.id);
  await away.received(9);
  expect(away.rows.map(({ id }) => id)).toEqual(ids);
  await second.stop();
  expect(readdirSync(join(folder.dataDir, 'traccar'))).toEqual([]);
  await Promise.all([away.down(), other.stop()]);
});

test('a NATS sink whose credentials cannot be read keeps the service from starting; another sink does not ask for them', async () => {
  const away = await HttpSinkServer.start();
  const credentials = { ...settings, traccarNatsCredsFile: '/no/such/file' };
  const nats = { kind: 'nats', server: 'nats://127.0.0.1:1', subject: 'a' } as const;
  await expect(startServer({ ...credentials, traccarSink: nats }, files)).rejects.toThrow(
    'HEXCODES_NATS_CREDS names a file that cannot be read: /no/such/file',
  );
  const other = await startServer({ ...credentials, traccarSink: { kind: 'http', url: away.url } }, files);
  expect((await forward(other, forwardedBody(0))).status).toBe(200);
  await other.stop();
  await away.down();
});

test('as much waits as may: 503 with Retry-After, which Traccar sends again; nothing that was taken is lost', async () => {
  const away = await HttpSinkServer.start();
  away.behaviour = 'refuses';
  const full = await startServer(
    { ...settings, traccarBacklogBytes: 65_536, traccarSink: { kind: 'http', url: away.url } },
    files,
  );
  const ids: string[] = [];
  let refused: Answer;
  for (let n = 0; ; n++) {
    refused = await forward(full, forwardedBody(n));
    if (refused.status !== 200) break;
    ids.push(refused.body.id);
  }
  expectError(refused, 503, 'UNAVAILABLE');
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(ids.length).toBeGreaterThan(50);
  away.behaviour = 'takes';
  await away.received(ids.length);
  expect(away.rows.map(({ id }) => id)).toEqual(ids);
  while ((await forward(full, forwardedBody(0))).status !== 200) await sleep(5);
  expect(full.log().match(/"msg":"positions are refused"/g)).toHaveLength(1);
  await full.stop();
  await away.down();
});
