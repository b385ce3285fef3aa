// The data folder of a service of version 0.2.0 that was used and stopped (test/fixtures/data-0.2.0/, made by its
// make.mjs with 6dc676b), opened by this one: keys with their bounds, usage and what of it the store had not taken,
// a shared rate, and positions that wait for their sink.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import Database from 'libsql';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type ServeConfig, startServer, type TestServer } from '../../support/server.js';
import { ownFolder, sharedCommand } from '../../support/shared.js';
import { HttpSinkServer } from '../../support/traccar.js';

const FIXTURE = 'test/fixtures/data-0.2.0';
const made = JSON.parse(readFileSync(`${FIXTURE}/made.json`, 'utf8')) as {
  readonly keys: Readonly<
    Record<'fleet' | 'map' | 'withdrawn', { readonly id: string; readonly text: string }>
  >;
  /** Points that were answered, by name of the key. */
  readonly points: Readonly<Record<'fleet', number>>;
  /** Ids of the positions that Traccar was told are kept, and of those that the sink has taken. */
  readonly forwarded: readonly string[];
  readonly delivered: readonly string[];
};
const DAY_POINTS = 1000;

const root = ownFolder('old-data');
const command = sharedCommand();
let dataDir: string;
let server: TestServer | undefined;
beforeEach(() => {
  const beside = mkdtempSync(join(root, 'data-'));
  dataDir = join(beside, 'folder');
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(`${FIXTURE}/folder.zip`)))) {
    const path = join(beside, name);
    if (!name.endsWith('/')) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
  }
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const start = async (overrides: Partial<ServeConfig> = {}): Promise<TestServer> => {
  server = await startServer({ dataDir, usageFlushMs: 50, ...overrides });
  return server;
};

const call = (to: TestServer, path: string, key: string, init: RequestInit = {}): Promise<Response> =>
  fetch(to.base + path, { ...init, headers: { 'X-API-Key': key, ...init.headers } });

const ENCODE = '/v1/hexcodes/encode?lat=21.03&lng=105.85';

test('its keys: who is admitted, with which bounds, and look-ups for all', async () => {
  const { fleet, map, withdrawn } = made.keys;
  const to = await start();
  const statusOf = async (path: string, key: string, headers = {}): Promise<number> =>
    (await call(to, path, key, { headers })).status;
  expect(await statusOf(ENCODE, fleet.text)).toBe(200);
  const code = '/v1/hexcodes/HN-6GHP4-83RFR';
  expect(await statusOf(code, fleet.text)).not.toBe(403);
  expect(await statusOf(ENCODE, map.text, { Origin: 'https://map.example.vn' })).toBe(200);
  expect(await statusOf(ENCODE, map.text, { Origin: 'https://other.example.vn' })).toBe(403);
  expect(await statusOf('/v1/hexcodes/decode?hexcodes=HN-6GHP4-83RFR', map.text)).toBe(403);
  expect(await statusOf(ENCODE, withdrawn.text)).toBe(401);
  const { stdout } = await command.run(['keys', 'list', '--json', '--data-dir', dataDir]);
  const byName = Object.fromEntries(JSON.parse(stdout).map((key: { name: string }) => [key.name, key]));
  expect(byName.fleet).toMatchObject({
    id: fleet.id,
    state: 'active',
    scopes: ['encode', 'decode', 'bulk', 'lookup'],
    limits: { points_per_second: 500, points_burst: 800, points_per_day: DAY_POINTS, points_per_month: 5000 },
  });
  expect(byName.map).toMatchObject({ scopes: ['encode', 'lookup'], origins: ['https://map.example.vn'] });
  expect(byName.withdrawn.state).toBe('revoked');
});

/** A time zone in which no day begins during the test. */
const ZONE = new Date().getUTCHours() === 16 ? 'UTC' : 'Asia/Ho_Chi_Minh';

/** Makes all usage of the folder that of the present hour, day and month. */
function moveToToday(): void {
  const day = new Intl.DateTimeFormat('sv', { timeZone: ZONE }).format(new Date());
  const month = day.slice(0, 7);
  const hourMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const db = new Database(join(dataDir, 'usage.db'));
  db.prepare('UPDATE usage SET hour_ms = ?').run(hourMs);
  db.prepare('UPDATE used SET period = CASE length(period) WHEN 7 THEN ? ELSE ? END').run(month, day);
  db.exec('UPDATE flushed SET at_ms = unixepoch() * 1000');
  db.close();
  for (const name of leftovers()) {
    const batches = JSON.parse(readFileSync(join(dataDir, name), 'utf8')) as object[];
    const moved = batches.map((batch) => ({ ...batch, hourMs, day, month }));
    writeFileSync(join(dataDir, name), JSON.stringify(moved));
  }
}

const leftovers = (): string[] => readdirSync(dataDir).filter((name) => name.startsWith('usage-left-'));

async function pointsToday(to: TestServer): Promise<number> {
  const answer = await call(to, '/v1/usage', made.keys.fleet.text);
  return ((await answer.json()) as { day: { points: number } }).day.points;
}

test('its usage: counted once with what was left beside the store, and the quota ends where it did', async () => {
  moveToToday();
  expect(leftovers()).toHaveLength(1);
  const to = await start({ quotaTimeZone: ZONE });
  await expect.poll(() => pointsToday(to)).toBe(made.points.fleet);
  expect(leftovers()).toEqual([]);

  const points = Array.from({ length: 50 }, () => [21.0288, 105.8525]);
  const batch = { method: 'POST', body: JSON.stringify({ points }) };
  const headers = { 'Content-Type': 'application/json' };
  let answered = 0;
  let status: number;
  do {
    const answer = await call(to, '/v1/hexcodes/encode/batch', made.keys.fleet.text, { ...batch, headers });
    ({ status } = answer);
    if (status === 200) answered += 50;
    if (status === 429) expect((await answer.json()) as object).toMatchObject({ message: /a day/ });
  } while (status === 200);
  expect([status, made.points.fleet + answered]).toEqual([429, DAY_POINTS]);

  await to.stop();
  expect(await pointsToday(await start({ quotaTimeZone: ZONE }))).toBe(DAY_POINTS);
});

test('its rate that processes share: what the store says is left of it', async () => {
  moveToToday();
  const db = new Database(join(dataDir, 'usage.db'));
  const owed = db
    .prepare("UPDATE rate SET tokens = -500000, at_ms = ? WHERE kind = 'points'")
    .run(Date.now());
  db.close();
  expect(owed.changes).toBe(1);
  // This process knows of no other, and of the rate what it reads.
  const to = await start({ processes: 2, quotaTimeZone: ZONE });
  await expect.poll(async () => (await call(to, ENCODE, made.keys.fleet.text)).status).toBe(429);
});

test('its positions: the ones that the sink had not taken, once, in order', async () => {
  const sink = await HttpSinkServer.start();
  const waiting = made.forwarded.slice(made.delivered.length);
  expect(made.forwarded.slice(0, made.delivered.length)).toEqual(made.delivered);
  onTestFinished(() => sink.down());

  const to = await start({ traccarSink: { kind: 'http', url: sink.url }, traccarBatchMs: 20 });
  await sink.received(waiting.length);
  await to.stop();
  expect(sink.rows.map(({ id }) => id)).toEqual(waiting);
  expect(readdirSync(join(dataDir, 'traccar'))).toEqual([]);
});
