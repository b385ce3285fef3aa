// Limits and usage that several processes share: two nodes on one PostgreSQL, two processes on one data folder; the
// database away and back, with open and with closed limits.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noPostgres, Postgres } from '../../support/postgres.js';
import { ServeCommand } from '../../support/serve-command.js';
import { startServer, type TestServer } from '../../support/server.js';

const MAIN = 'dist/cli/main.js';
const PEPPER = 'a pepper that all nodes have in common';
const root = mkdtempSync(join(tmpdir(), 'hexcodes-shared-'));
afterAll(() => rmSync(root, { recursive: true }));

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
    const stop = async (): Promise<void> => {
      await Promise.all(nodes.splice(0).map((node) => node.stop()));
    };
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
          expect(await batch(base, key, 10)).toBe(200);
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
        const answered = 2 + statuses.filter((status) => status === 200).length;
        // Closed: what the node holds, which is some 64 points where a key has used few.
        expect(new Set(statuses)).toEqual(new Set(limitsWhenAway === 'open' ? [200] : [200, 503]));
        if (limitsWhenAway === 'open') expect(answered).toBe(122);
        else expect(answered).toBeLessThan(20);
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

describe.skipIf(process.platform !== 'linux')('processes of one service on one data folder (Linux)', () => {
  test('have one quota, and the admin port names the keys of both', async () => {
    const dataDir = mkdtempSync(join(root, 'processes-'));
    const service = new ServeCommand(
      ['--processes', '2', '--usage-flush-ms', '100', '--default-points-per-day', '2000'],
      { HEXCODES_DATA_DIR: dataDir, HEXCODES_API_KEYS: '' },
    );
    try {
      const base = await service.base();
      const admin = await service.adminBase();
      const key = readFileSync(join(dataDir, 'first-key'), 'utf8').trim();
      const points = await useUp([base], key, 10);
      expect(points).toBeGreaterThan(1990 - 1);
      expect(points).toBeLessThanOrEqual(2000 + 2 * 250);
      const { keys } = (await (await fetch(`${admin}/activity`)).json()) as {
        keys: { id: string; requests: number; points: number }[];
      };
      expect(keys.map((row) => row.points)).toEqual([points]);
      const ofEach = await Promise.all(
        [1, 2].map(async (number) => (await fetch(`${admin}/processes/${number}/activity`)).json()),
      );
      const counts = ofEach.map((page) => (page as { keys: { points: number }[] }).keys[0]?.points ?? 0);
      expect(counts.every((count) => count > 0)).toBe(true);
      expect(counts[0]! + counts[1]!).toBe(points);
      expect(await service.stop()).toBe(0);
    } finally {
      service.remove();
    }
  });
});
