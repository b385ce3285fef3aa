// The store of usage, in the data folder and shared by nodes.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { logged } from '../../support/http-calls.js';
import { scrape, sumOf } from '../../support/metrics.js';
import { noPostgres, Postgres } from '../../support/postgres.js';
import { startServer, type TestServer } from '../../support/server.js';
import { ownFolder } from '../../support/shared.js';
import {
  CELLS,
  openOrMakeUsage,
  openUsage,
  type QuotaOrder,
  type UsageBatch,
  type UsageRow,
} from '../../support/usage-model.js';

const MAIN = 'dist/cli/main.js';

const root = ownFolder('usage');

const PEPPER = 'a pepper that all nodes have in common';

const headersOf = (key: string) => ({ 'X-API-Key': key, 'Content-Type': 'application/json' });

/** @returns the status of a batch of a number of points */
async function batch(base: string, key: string, points: number): Promise<number> {
  const answer = await fetch(`${base}/v1/hexcodes/encode/batch`, {
    method: 'POST',
    // Each call on a connection of its own: the system deals connections to the processes.
    headers: { ...headersOf(key), Connection: 'close' },
    body: JSON.stringify({ points: Array.from({ length: points }, () => [21.03, 105.85]) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

const dayOf = async (base: string, key: string): Promise<{ requests: number; points: number }> =>
  (await (await fetch(`${base}/v1/usage`, { headers: headersOf(key) })).json()).day;

/**
 * Sends batches to both in turn, again where they are refused with 503, until 429.
 * @returns the points that were converted
 */
async function useUp(bases: readonly string[], key: string, size: number): Promise<number> {
  let points = 0;
  const open = new Set(bases);
  while (open.size > 0) {
    for (const base of open) {
      const status = await batch(base, key, size);
      expect([200, 429, 503]).toContain(status);
      if (status === 200) points += size;
      if (status === 429) open.delete(base);
    }
  }
  return points;
}

function command(args: readonly string[], env: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
    child.on('close', () => resolve(text));
  });
}

const HOUR_MS = 1_700_000_000_000 - (1_700_000_000_000 % 3_600_000);
const NOTHING = { covered: [], rates: [], quotas: [], returns: [], watchedIds: [] };

/** A request of some points for each key. */
function batchOf(number: number, keyIds: readonly string[], more: Partial<UsageBatch> = {}): UsageBatch {
  const cells = new Float64Array(2 * CELLS * keyIds.length);
  for (const at of keyIds.keys()) cells.set([1, 10], 2 * CELLS * at);
  return { number, hourMs: HOUR_MS, day: '2026-11-24', month: '2026-11', keyIds, cells, ...NOTHING, ...more };
}

const order = (keyId: string, more: Partial<QuotaOrder> = {}): QuotaOrder => ({
  ...{ keyId, perDay: 100, perMonth: undefined, held: 0, need: 1, want: 8, isShared: true },
  ...more,
});

describe.each([
  ['libsql', false],
  [`PostgreSQL${noPostgres === undefined ? '' : ` (${noPostgres})`}`, true],
])('the contract of the store in %s', (_, isShared) => {
  if (isShared && noPostgres !== undefined) {
    test.skip('needs PostgreSQL', () => {});
    return;
  }
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    if (isShared) postgres = await Postgres.start();
    return () => postgres?.remove();
  });
  let store: Awaited<ReturnType<typeof openOrMakeUsage>>;
  beforeEach(async () => {
    const url = postgres?.newDatabase();
    store = await openOrMakeUsage({ dataDir: mkdtempSync(join(root, 'data-')), url });
    return () => store.close();
  });
  const add = (node: string, batch: UsageBatch) => store.add(node, batch, Date.now());

  test('a batch is counted once however often it comes, and others add to it', async () => {
    await add('one', batchOf(1, ['b', 'a']));
    await add('one', batchOf(1, ['b', 'a']));
    const { used } = await add('two', batchOf(1, ['a'], { watchedIds: ['b', 'nobody'] }));
    expect(
      [...used].map(([id, { dayPoints, monthRequests }]) => [id, dayPoints, monthRequests]).sort(),
    ).toEqual([
      ['a', 20, 2],
      ['b', 10, 1],
    ]);
    const rows = [];
    for await (const { keyId, operation, requests, points } of store.rows(HOUR_MS, HOUR_MS + 1))
      rows.push([keyId, operation, requests, points]);
    expect(rows).toEqual([
      ['a', 'encode', 2, 20],
      ['b', 'encode', 1, 10],
    ]);
    expect((await store.load('2026-11-25', '2026-11')).latestDay).toBe('2026-11-24');
    const prune = () => store.prune('2026-12', Date.now(), HOUR_MS + 1);
    // Sums of a day and of a month, one after the other.
    expect([await prune(), await prune(), await prune()]).toEqual([false, false, true]);
    expect((await store.load('2026-11-24', '2026-11')).used.size).toBe(0);
  });

  test('a quota is given once: day and month hold it, the others hear of it, an answer that was lost comes again', async () => {
    const asked = batchOf(1, [], { quotas: [order('a', { need: 60, want: 60 })] });
    const first = await add('one', asked);
    expect(first.grants).toEqual([{ keyId: 'a', granted: 60, others: 0, isWanted: false }]);
    expect(first.used.get('a')).toMatchObject({ dayHeld: 60, monthHeld: 60 });
    expect((await add('one', asked)).grants[0]?.granted).toBe(60);
    const second = await add('two', batchOf(1, [], { quotas: [order('a', { need: 50 })] }));
    expect(second.grants).toEqual([{ keyId: 'a', granted: 0, others: 60, isWanted: false }]);
    const returns = [{ keyId: 'a', day: '2026-11-24', month: '2026-11', points: 60 }];
    const third = await add('one', batchOf(2, [], { quotas: [order('a', { need: 0, want: 0 })], returns }));
    expect(third.grants).toEqual([{ keyId: 'a', granted: 0, others: 0, isWanted: true }]);
    expect(third.used.get('a')).toMatchObject({ dayHeld: 0, monthHeld: 0 });
  });

  test('the points of a process that is gone are not waited for where the clock was set back since', async () => {
    await add('gone', batchOf(1, [], { quotas: [order('a', { need: 60, want: 60 })] }));
    const { connection } = store as unknown as {
      connection: { sql: { tables: { holder: string } }; run(text: string): Promise<void> };
    };
    await connection.run(`UPDATE ${connection.sql.tables.holder} SET at_ms = at_ms + 3600000`);
    const { grants } = await add('two', batchOf(1, [], { quotas: [order('a', { need: 50 })] }));
    expect(grants).toEqual([{ keyId: 'a', granted: 0, others: 0, isWanted: false }]);
  });

  test('a bucket begins full, is shared, and is filled by the time that has passed', async () => {
    const take = async (number: number, spent: number) => {
      const rates = ['a', 'b'].map((keyId) => ({
        ...{ keyId, kind: 'points' as const, perSecond: 0.001, capacity: 100, spent },
      }));
      const { rates: levels } = await add('one', batchOf(number, [], { rates }));
      return levels.map(({ keyId, tokens }) => [keyId, Math.round(tokens)]).sort();
    };
    expect(await take(1, 30.25)).toEqual([
      ['a', 70],
      ['b', 70],
    ]);
    expect(await take(2, 80)).toEqual([
      ['a', -10],
      ['b', -10],
    ]);
    expect(await take(3, -500)).toEqual([
      ['a', 490],
      ['b', 490],
    ]);
    expect(await take(4, 0)).toEqual([
      ['a', 100],
      ['b', 100],
    ]);
  });
});

describe.skipIf(noPostgres !== undefined)(
  `PostgreSQL${noPostgres === undefined ? '' : ` (${noPostgres})`}`,
  () => {
    let postgres: Postgres;
    let store: string;
    let key: string;
    const nodes: TestServer[] = [];
    beforeAll(async () => {
      postgres = await Postgres.start();
    });
    afterAll(() => postgres.remove());
    beforeEach(() => {
      store = postgres.newDatabase();
    });

    const stop = async (): Promise<void> => {
      await Promise.all(nodes.splice(0).map((node) => node.stop()));
    };
    afterEach(stop);

    async function start(count: number, settings = {}): Promise<readonly string[]> {
      for (let i = 0; i < count; i++) {
        const dataDir = mkdtempSync(join(root, 'node-'));
        nodes.push(await startServer({ store, keyPepper: PEPPER, dataDir, usageFlushMs: 100, ...settings }));
      }
      key = nodes.map((node) => node.key).find((text) => text !== '') as string;
      // A node may not know the key yet.
      for (const node of nodes) while ((await dayOf(node.base, key)) === undefined) await sleep(20);
      return nodes.slice(-count).map(({ base }) => base);
    }
    const storedPoints = (): number =>
      Number(
        postgres.sql("SELECT coalesce(sum(points), 0) FROM hexcodes_usage WHERE outcome <> 'refused'", store),
      );
    async function storedBecomes(points: number): Promise<void> {
      for (let tries = 0; tries < 1000 && storedPoints() !== points; tries++) await sleep(20);
      expect(storedPoints()).toBe(points);
    }
    async function logged(node: TestServer, text: string, times = 1): Promise<void> {
      for (let tries = 0; tries < 1500 && node.log().split(text).length <= times; tries++) await sleep(10);
      expect(node.log()).toContain(text);
    }

    test('two nodes use a quota up together, each counts all, and a restart goes on with it', async () => {
      const quota = { defaultPointsPerDay: 2000 };
      const bases = await start(2, quota);
      const points = await useUp(bases, key, 10);
      expect(points).toBeGreaterThan(1990 - 1);
      // Stated: a lease each at most, which is an eighth of what was left when the other took its own.
      expect(points).toBeLessThanOrEqual(2000 + 2 * 250);
      await storedBecomes(points);
      for (const base of bases) while ((await dayOf(base, key)).points !== points) await sleep(20);
      const env = { HEXCODES_STORE: store, HEXCODES_KEY_PEPPER: PEPPER };
      const shown = await command(['usage'], env);
      // Requests that are refused with 503 until the nodes have settled are answered, too.
      expect(shown).toMatch(new RegExp(`^\\w+ +first +encode_batch +\\d+ +${points} +0 +\\d+ +\\d+$`, 'm'));
      expect(await command(['usage', 'export', '--csv'], env)).toMatch(
        new RegExp(`,encode_batch,ok,${points / 10},${points}\n`),
      );
      const { dataDir } = nodes[0]!;
      await stop();
      const again = await startServer({ store, keyPepper: PEPPER, dataDir, ...quota });
      expect([await batch(again.base, key, 1), (await dayOf(again.base, key)).points]).toEqual([429, points]);
      await again.stop();
    });

    test('where somebody locks tables, the connections for keys and usage wait for them, and no further ones with each try', async () => {
      const [base] = (await start(1)) as [string];
      const locking = new pg.Client({ connectionString: store });
      // The end of a test that failed ends PostgreSQL.
      locking.on('error', () => undefined);
      await locking.connect();
      await locking.query('BEGIN; LOCK TABLE hexcodes_used, hexcodes_store');
      expect(await batch(base, key, 5)).toBe(200);
      const failures = async (): Promise<number> =>
        sumOf((await scrape(nodes[0]!.adminPort)).metrics, 'hexcodes_usage_flush_failures_total');
      await expect.poll(failures).toBeGreaterThanOrEqual(3);
      const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      // A statement that is given up, and the next one in its place, may both wait for a moment.
      await expect.poll(() => Number(postgres.sql(waiting))).toBeLessThanOrEqual(2);
      await locking.query('ROLLBACK');
      await locking.end();
      await storedBecomes(5);
    });

    test('usage of a key without limits is that of all nodes, also where it has sent nothing before', async () => {
      const [first, second] = (await start(2)) as [string, string];
      expect(await batch(first, key, 30)).toBe(200);
      await storedBecomes(30);
      expect((await dayOf(second, key)).points).toBe(30);
      expect(await batch(first, key, 12)).toBe(200);
      await storedBecomes(42);
      expect((await dayOf(second, key)).points).toBe(42);
      await stop();
    });

    test('two nodes have one rate', async () => {
      const [first] = (await start(1)) as [string];
      // 400 points may be taken at once, whichever node takes them, and one comes in ten seconds: that is a lease.
      const limits = '{"pointsPerSecond": 0.1, "pointsBurst": 400}';
      postgres.sql(`UPDATE hexcodes_key SET limits = '${limits}'`, store);
      const policyOf = async (base: string): Promise<string | null> =>
        (await fetch(`${base}/v1/meta`, { headers: headersOf(key) })).headers.get('ratelimit-policy');
      while ((await policyOf(first)) !== '"points";q=400;w=4000') await sleep(20);
      const startMs = performance.now();
      const [second] = (await start(1)) as [string];
      const points = await useUp([first, second], key, 20);
      expect(points).toBeGreaterThan(400 - 20);
      // A lease, or one batch, of each; and what has come meanwhile.
      const comeMeanwhile = (performance.now() - startMs) / 10_000;
      expect(points).toBeLessThanOrEqual(400 + 2 * 20 + comeMeanwhile);
      await stop();
    });

    test.each(['open', 'closed'] as const)(
      'the database stops and comes back, limits are %s meanwhile: what was answered is counted once',
      async (limitsWhenAway) => {
        const [base] = (await start(1, { defaultPointsPerDay: 8000, limitsWhenAway })) as [string];
        const [node] = nodes as [TestServer];
        expect(await batch(base, key, 10)).toBe(200);
        await storedBecomes(10);
        await postgres.halt();
        const statuses: number[] = [];
        try {
          // Closed: what the node holds, which is some 64 points where a key has used few, and none where it rested.
          statuses.push(await batch(base, key, 10));
          await logged(node, 'usage cannot be stored; it is kept in memory until it can');
          for (let i = 0; i < 120; i++) statuses.push(await batch(base, key, 10));
          const ready = await fetch(`http://127.0.0.1:${node.adminPort}/readyz`);
          expect([ready.status, await ready.text()]).toEqual([
            200,
            expect.stringContaining('warning: the database of HEXCODES_STORE'),
          ]);
          const page = await (await fetch(`http://127.0.0.1:${node.adminPort}/metrics`)).text();
          expect(page).toMatch(/^hexcodes_usage_store_fault 1$/m);
          expect(page).toMatch(/^hexcodes_usage_flush_failures_total [1-9]\d*$/m);
        } finally {
          await postgres.resume();
        }
        const answered = 1 + statuses.filter((status) => status === 200).length;
        if (limitsWhenAway === 'open') expect(answered).toBe(122);
        else {
          expect(answered).toBeLessThan(20);
          expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
        }
        await logged(node, 'usage can be stored again');
        await storedBecomes(10 * answered);
        while ((await batch(base, key, 10)) !== 200) await sleep(20);
        await storedBecomes(10 * answered + 10);
        expect(node.log().split('usage can be stored again')).toHaveLength(2);
        await stop();
        expect(storedPoints()).toBe(10 * answered + 10);
      },
      60_000,
    );

    test('a stop while the database is away keeps what was counted for the next start', async () => {
      const [base] = (await start(1)) as [string];
      const { dataDir } = nodes[0]!;
      expect(await batch(base, key, 10)).toBe(200);
      await storedBecomes(10);
      await postgres.halt();
      try {
        expect(await batch(base, key, 7)).toBe(200);
        await stop();
      } finally {
        await postgres.resume();
      }
      const left = (): string[] => readdirSync(dataDir).filter((name) => name.startsWith('usage-left-'));
      const [name] = left() as [string];
      const copy = readFileSync(join(dataDir, name));
      const settings = { store, keyPepper: PEPPER, dataDir, usageFlushMs: 100 };
      const again = await startServer(settings);
      expect((await dayOf(again.base, key)).points).toBe(17);
      await again.stop();
      expect([left(), storedPoints()]).toEqual([[], 17]);
      // Found again, as after a crash before it was removed, and beside one that was cut off: nothing is counted twice.
      writeFileSync(join(dataDir, name), copy);
      writeFileSync(join(dataDir, 'usage-left-00.json'), copy.subarray(0, 20));
      const third = await startServer(settings);
      await third.stop();
      expect([left(), storedPoints()]).toEqual([['usage-left-00.json'], 17]);
    });

    test('answers go on while the database hangs', async () => {
      const [base] = (await start(1, { defaultPointsPerDay: 800 })) as [string];
      postgres.freeze(true);
      let points = 0;
      try {
        while (points < 300) if ((await batch(base, key, 10)) === 200) points += 10;
      } finally {
        postgres.freeze(false);
      }
      await storedBecomes(points);
      await stop();
    });
  },
);

describe('one node', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(root, 'data-'));
  });

  const file = (name: string) => join(dir, name);

  const FLUSH_MS = 100;

  const start = (more = {}): Promise<TestServer> =>
    startServer({ dataDir: dir, usageFlushMs: FLUSH_MS, ...more });

  async function batch(base: string, key: string, count: number): Promise<number> {
    const answer = await fetch(`${base}/v1/hexcodes/encode/batch`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        points: Array.from({ length: count }, (_, i) => [i === 0 ? 91 : 21.03, 105.85]),
      }),
    });
    return answer.status;
  }

  async function rows(): Promise<UsageRow[]> {
    const store = await openUsage({ dataDir: dir, url: undefined });
    try {
      const all: UsageRow[] = [];
      for await (const row of store.rows(0, Number.MAX_SAFE_INTEGER)) all.push(row);
      return all;
    } finally {
      await store.close();
    }
  }

  const stored = async (): Promise<number> => (await rows()).reduce((sum, { points }) => sum + points, 0);

  async function storedBecomes(points: number): Promise<void> {
    for (;;) {
      try {
        if ((await stored()) === points) return;
      } catch {
        // Not there yet, or being written.
      }
      await sleep(20);
    }
  }

  const used = async (server: TestServer) =>
    (await (await fetch(`${server.base}/v1/usage`, { headers: { 'X-API-Key': server.key } })).json()).day;

  const readiness = async (server: TestServer) =>
    (await fetch(`http://127.0.0.1:${server.adminPort}/readyz`)).text();

  const usage = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, 'usage', ...args, '--data-dir', dir], { encoding: 'utf8' });

  test('a stop stores all counts, and a quota continues after a restart', async () => {
    const limits = { defaultPointsPerDay: 10, usageFlushMs: 600_000 };
    const first = await start(limits);
    expect(await batch(first.base, first.key, 7)).toBe(200);
    expect(await batch(first.base, first.key, 4)).toBe(429);
    await first.stop();
    expect(statSync(file('usage.db')).mode & 0o777).toBe(0o600);
    const counts = (await rows()).map(({ operation, outcome, requests, points }) => [
      operation,
      outcome,
      requests,
      points,
    ]);
    expect(counts).toEqual([
      ['encode_batch', 'failed', 0, 1],
      ['encode_batch', 'ok', 1, 6],
      ['encode_batch', 'refused', 1, 4],
    ]);
    expect(JSON.parse(usage('--json').stdout)).toMatchObject([
      {
        ...{ name: 'first', operation: 'encode_batch', requests: 1, points: 7 },
        ...{ failed_points: 1, refused_requests: 1, refused_points: 4 },
      },
    ]);
    const second = await start(limits);
    expect(await used(second)).toMatchObject({ requests: 1, points: 7 });
    expect(await batch(second.base, second.key, 4)).toBe(429);
    expect(await batch(second.base, second.key, 3)).toBe(200);
    expect(await batch(second.base, second.key, 1)).toBe(429);
    await second.stop();
    expect(await stored()).toBe(4 + 4 + 7 + 3 + 1);
  });

  test.each([
    ['removed', () => rmSync(file('usage.db'))],
    ['replaced by a copy', () => copyFileSync(file('usage.db'), file('copy'))],
  ] as const)(
    'a store that is %s under the service: nothing that is counted later is lost',
    async (_, change) => {
      const server = await start();
      await batch(server.base, server.key, 5);
      await storedBecomes(5);
      change();
      if (_ !== 'removed') spawnSync('mv', [file('copy'), file('usage.db')]);
      await batch(server.base, server.key, 6);
      await storedBecomes(_ === 'removed' ? 6 : 11);
      expect(await readiness(server)).toBe('ready\n');
      await server.stop();
    },
  );

  test('a damaged store: said once, kept in memory, and stored when it can be', async () => {
    writeFileSync(file('usage.db'), 'garbage'.repeat(5000));
    const server = await start({ defaultPointsPerDay: 50 });
    await logged(server, 'usage cannot be stored');
    expect(await batch(server.base, server.key, 20)).toBe(200);
    expect(await batch(server.base, server.key, 40)).toBe(429);
    expect(await readiness(server)).toMatch(
      /^ready\nwarning: \S+usage\.db is damaged, or no store of usage\n$/,
    );
    await sleep(5 * FLUSH_MS);
    expect(await batch(server.base, server.key, 3)).toBe(200);
    expect(server.log().split('usage cannot be stored')).toHaveLength(2);
    rmSync(file('usage.db'));
    await logged(server, 'usage can be stored again');
    await storedBecomes(63);
    expect(await readiness(server)).toBe('ready\n');
    expect(await used(server)).toMatchObject({ points: 23 });
    await server.stop();
  });

  test('a stop keeps what could not be stored for the next start, which refuses a file that is not as it was written', async () => {
    writeFileSync(file('usage.db'), 'garbage'.repeat(5000));
    const first = await start();
    await logged(first, 'usage cannot be stored');
    expect(await batch(first.base, first.key, 5)).toBe(200);
    await first.stop();
    rmSync(file('usage.db'));
    const [name, ...more] = readdirSync(dir).filter((each) => each.startsWith('usage-left-'));
    expect(more).toEqual([]);
    const text = readFileSync(file(name!), 'utf8');
    const altered = [text.replace('"cells":[', '"cells":[1'), text.slice(0, -1), '{}', '[{'];
    for (const [i, each] of altered.entries()) writeFileSync(file(`usage-left-a${i}.json`), each);
    // As version 0.3.0 has written it.
    writeFileSync(file('usage-left-b0.json'), JSON.stringify(JSON.parse(text).state));
    const second = await start();
    await storedBecomes(10);
    for (const i of altered.keys()) await logged(second, `usage-left-a${i}.json`);
    await second.stop();
    expect(readdirSync(dir).filter((each) => each.startsWith('usage-left-'))).toEqual(
      [...altered.keys()].map((i) => `usage-left-a${i}.json`),
    );
  });

  /** The service as a process of its own. */
  async function serveProcess(): Promise<{ child: ChildProcess; base: string; key: string }> {
    const settings = ['--port', '0', '--admin-port', '0', '--data-dir', dir];
    const child = spawn(
      process.execPath,
      [MAIN, 'serve', ...settings, '--usage-flush-ms', String(FLUSH_MS)],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let greeting = '';
    for await (const text of child.stderr!.setEncoding('utf8')) {
      greeting += text as string;
      if (/answers on \S+:\d+ /.test(greeting)) break;
    }
    const base = `http://127.0.0.1:${/answers on \S+:(\d+)/.exec(greeting)?.[1]}`;
    return { child, base, key: readFileSync(file('first-key'), 'utf8').trim() };
  }

  test('kill -9 loses what was counted after the last flush, and nothing else; nothing is counted twice', async () => {
    let sent = 0;
    for (let round = 1; round <= 3; round++) {
      const { child, base, key } = await serveProcess();
      for (let n = 0; n < 20; n++) {
        expect(await batch(base, key, 10 * round)).toBe(200);
        sent += 10 * round;
      }
      // Counts sent before a flush that has ended are stored.
      await storedBecomes(sent);
      const lost = await batch(base, key, 1);
      expect(lost).toBe(200);
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      const now = await stored();
      expect([sent, sent + 1]).toContain(now);
      sent = now;
    }
  });

  test('as a table, as CSV and as Parquet, within bounds', async () => {
    const server = await start();
    await batch(server.base, server.key, 5);
    await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': server.key } });
    await server.stop();
    const [first] = await rows();
    const hour = new Date(first!.hourMs).toISOString();
    const table = usage().stdout.split('\n');
    expect(table[0]).toMatch(
      /^KEY +NAME +OPERATION +REQUESTS {2}POINTS {2}FAILED {2}REFUSED REQUESTS {2}REFUSED POINTS$/,
    );
    expect(table[1]).toMatch(new RegExp(`^${first!.keyId}  first +encode_batch +1 +5 +1 +0 +0$`));
    expect(table[2]).toMatch(/ {2}lookup +1 +0 +0 +0 +0$/);
    const csv = usage('export', '--csv').stdout.split('\n');
    expect(csv).toEqual([
      'hour,key_id,operation,outcome,requests,points',
      `${csv[1]!.split(',')[0]},${first!.keyId},encode_batch,failed,0,1`,
      `${csv[1]!.split(',')[0]},${first!.keyId},encode_batch,ok,1,4`,
      `${csv[1]!.split(',')[0]},${first!.keyId},lookup,ok,1,0`,
      '',
    ]);
    expect(new Date(csv[1]!.split(',')[0]!).toISOString()).toBe(hour);
    expect(usage('export', file('usage.csv')).status).toBe(0);
    expect(readFileSync(file('usage.csv'), 'utf8').split('\n')).toEqual(csv);
    expect(usage('export', '-o', file('usage.parquet')).status).toBe(0);
    const connection = await (await DuckDBInstance.create()).connect();
    const read = await connection.runAndReadAll(
      `SELECT operation, outcome, requests, points FROM '${file('usage.parquet')}'`,
    );
    expect(read.getRowsJson()).toEqual([
      ['encode_batch', 'failed', '0', '1'],
      ['encode_batch', 'ok', '1', '4'],
      ['lookup', 'ok', '1', '0'],
    ]);
    expect(usage('--from', '2020-01-01', '--to', '2020-12-31').stdout).toBe('no usage\n');
    expect(usage('--from', '2020-01-01T07').stdout.split('\n')).toHaveLength(4);
    for (const args of [
      ['export'],
      ['export', '--csv', '--parquet'],
      ['export', file('usage.ndjson')],
      ['export', file('a.csv'), '-o', file('b.csv')],
      ['--from', 'yesterday'],
      ['--to', '2026-13-01'],
      ['--from', '2026-02-30'],
      ['--to', '2027-02-29T08'],
      ['--from', '2026-11-02', '--to', '2026-11-01'],
    ])
      expect(usage(...args).status, args.join(' ')).toBe(2);
  });

  test('without a store the command says so', () => {
    expect(usage()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`no usage is stored in ${dir}`),
    });
  });

  const canMount = spawnSync('sh', ['-c', 'unshare -m true']).status === 0;

  describe.skipIf(!canMount)('a full disk (needs root)', () => {
    test('requests go on, readiness and log say it once, and with room again all is stored', () => {
      const script = `
      import { spawnSync } from 'node:child_process';
      import { rmSync, writeFileSync } from 'node:fs';
      const [disk, main] = process.argv.slice(-2);
      const { spawn } = await import('node:child_process');
      const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--admin-port', '0', '--data-dir', disk, '--usage-flush-ms', '100'],
        { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, HEXCODES_API_KEYS: 'one:one_key_0123456789abcdef' } });
      let log = '';
      child.stdout.setEncoding('utf8').on('data', (text) => (log += text));
      const until = async (what) => { while (!what()) await new Promise((done) => setTimeout(done, 20)); };
      await until(() => log.includes('listening'));
      const { port, admin_port } = JSON.parse(log.split('\\n').find((line) => line.includes('listening')));
      const encode = async () => (await fetch('http://127.0.0.1:' + port + '/v1/hexcodes/encode?lat=21.03&lng=105.85', { headers: { 'X-API-Key': 'one_key_0123456789abcdef' } })).status;
      const statuses = new Set();
      for (let n = 0; n < 10; n++) statuses.add(await encode());
      await new Promise((done) => setTimeout(done, 500));
      spawnSync('sh', ['-c', 'cat /dev/zero > "$0/ballast"', disk]);
      // Enough keys' worth of new rows to need a page: another operation, the hour is the same.
      for (let n = 0; n < 10; n++) statuses.add(await encode());
      await until(() => log.includes('usage cannot be stored'));
      const readiness = async () => (await fetch('http://127.0.0.1:' + admin_port + '/readyz')).text();
      let ready = await readiness();
      for (let tries = 0; ready === 'ready\\n' && tries < 200; tries++) {
        await new Promise((done) => setTimeout(done, 50));
        ready = await readiness();
      }
      for (let n = 0; n < 10; n++) statuses.add(await encode());
      rmSync(disk + '/ballast');
      await until(() => log.includes('usage can be stored again'));
      child.kill('SIGTERM');
      await new Promise((done) => child.on('exit', done));
      const times = log.split('usage cannot be stored').length - 1;
      const exported = spawnSync(process.execPath, [main, 'usage', 'export', '--csv', '--data-dir', disk], { encoding: 'utf8' }).stdout;
      console.log(JSON.stringify({ statuses: [...statuses], ready, times, exported }));`;
      writeFileSync(file('script.mjs'), script);
      const disk = mkdtempSync(join(root, 'disk-'));
      const command = `mount -t tmpfs -o size=256k,mode=700 none ${disk} && exec ${process.execPath} ${file('script.mjs')} ${disk} ${join(process.cwd(), MAIN)}`;
      const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', command], { encoding: 'utf8' });
      expect(stderr).toBe('');
      const { statuses, ready, times, exported } = JSON.parse(stdout);
      expect(statuses).toEqual([200]);
      expect(ready).toMatch(/^ready\nwarning: \S+usage\.db cannot be written: the disk is full/);
      expect(times).toBe(1);
      expect(exported).toMatch(/,env:one,encode,ok,30,30\n$/);
    });
  });
});
