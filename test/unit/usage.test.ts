// Usage: days of a zone, grants, what a store has not taken, and rows that nobody writes.

import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Calendar } from '#dist/server/usage/calendar.js';
import { UsageFlusher } from '#dist/server/usage/flusher.js';
import { CliFolder } from '../support/cli.js';
import { ownFolder } from '../support/shared.js';
import {
  grantOf,
  type Ledger,
  ledgerOf,
  openOrMakeUsage,
  openUsage,
  type UsageBatch,
  usagePath,
} from '../support/usage-model.js';

// Days, months and hours of a time zone, and a clock that is set forward and back.
describe('the calendar', () => {
  const HOUR_MS = 3_600_000;
  const at = (text: string): number => Date.parse(text);

  test.each([
    ['UTC', '2024-02-29T12:00:00Z', 24],
    ['Asia/Kolkata', '2026-11-22T12:00:00Z', 24],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', 25],
    ['Pacific/Kiritimati', '2026-11-22T12:00:00Z', 24],
    ['Pacific/Pago_Pago', '2026-11-22T12:00:00Z', 24],
    // Midnight of this day did not exist there.
    ['America/Sao_Paulo', '2018-11-04T12:00:00Z', 23],
  ])('a day of %s at %s', (zone, text, hours) => {
    const calendar = new Calendar(zone, at(text));
    const { day } = calendar.periods;
    expect((day.endMs - day.startMs) / HOUR_MS).toBe(hours);
    expect(calendar.periodsAt(day.startMs).day).toEqual(day);
    expect(calendar.periodsAt(day.endMs - 1).day).toEqual(day);
    expect(calendar.periodsAt(day.endMs).day.startMs).toBe(day.endMs);
    expect(calendar.periodsAt(day.startMs - 1).day.endMs).toBe(day.startMs);
  });

  test('a time is in its day, its month and its hour', () => {
    const zones = ['Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe'];
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 4e12 }), (zone, nowMs) => {
        const calendar = new Calendar(zone, nowMs);
        const { day, month } = calendar.periods;
        for (const { startMs, endMs } of [day, month]) {
          expect(startMs).toBeLessThanOrEqual(nowMs);
          expect(endMs).toBeGreaterThan(nowMs);
        }
        expect(day.name.startsWith(month.name)).toBe(true);
        const hourMs = calendar.hourAt(nowMs);
        expect(hourMs <= nowMs && nowMs < hourMs + HOUR_MS).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('a clock set back over midnight does not bring the day back, and midnight does not begin it again', () => {
    const changes: string[] = [];
    const calendar = new Calendar('Asia/Ho_Chi_Minh', at('2026-11-30T16:30:00Z'), (day, month) =>
      changes.push(`${calendar.periods.day.name} ${day} ${month}`),
    );
    const dayAt = (text: string): string => calendar.follow(at(text)).day.name;
    // An hour forward, as the clock says.
    expect(dayAt('2026-11-30T17:30:00Z')).toBe('2026-12-01');
    // And back again.
    expect(dayAt('2026-11-30T16:31:00Z')).toBe('2026-12-01');
    expect(dayAt('2026-11-30T17:00:00Z')).toBe('2026-12-01');
    expect(changes).toEqual(['2026-11-30 true true']);
    expect(dayAt('2026-12-01T17:00:00Z')).toBe('2026-12-02');
    expect(changes).toEqual(['2026-11-30 true true', '2026-12-01 true false']);
  });

  test('a clock that was years ahead is followed back, without another quota', () => {
    const changes: boolean[] = [];
    const calendar = new Calendar('UTC', at('2099-01-01T12:00:00Z'), (day, month) =>
      changes.push(day, month),
    );
    expect(calendar.follow(at('2026-11-22T12:00:00Z')).day.name).toBe('2026-11-22');
    expect(changes).toEqual([false, false]);
    expect(calendar.follow(at('2026-11-23T12:00:00Z')).day.name).toBe('2026-11-23');
    expect(changes).toEqual([false, false, true, false]);
  });

  test('an unknown zone is refused', () => {
    expect(() => new Calendar('Asia/Nowhere', 0)).toThrow(RangeError);
  });
});

// How many points of a quota the store gives to a process that asks.
describe('grants', () => {
  test.each([
    ['all that is needed, or nothing', { need: 5, want: 10 }, 96, 0],
    ['the last points, where they are needed', { need: 5, want: 10 }, 95, 5],
    ['no more than an eighth of what is left, unless it is needed', { need: 1, want: 50 }, 20, 10],
    ['what is wanted, where that is less', { need: 1, want: 3 }, 20, 3],
    ['nothing that is merely wanted, where less than eight are left', { need: 0, want: 64 }, 93, 0],
    ['nothing where more was taken than there is', { need: 0, want: 64 }, 180, 0],
  ] as const)('%s', (_, order, taken, given) => {
    expect(grantOf({ ...order, perDay: 100, perMonth: undefined }, { day: taken, month: 0 })).toBe(given);
  });

  test('of a day and a month the one that has less left decides', () => {
    const order = { need: 1, want: 100, perDay: 1000, perMonth: 1000 };
    expect(grantOf(order, { day: 0, month: 920 })).toBe(10);
    expect(grantOf(order, { day: 960, month: 0 })).toBe(5);
  });

  test('without a quota all that is wanted is given', () => {
    const order = { need: 0, want: 64, perDay: undefined, perMonth: undefined };
    expect(grantOf(order, { day: 1e12, month: 1e12 })).toBe(64);
  });
});

// Counts of many keys: batches go to the store in parts, are stored as one, and the answers come in parts.
describe('batches in parts', () => {
  const root = ownFolder('parts');

  const KEYS = 2500;
  const keyOf = (n: number) => ({ id: `k${n}`, name: `k${n}`, limits: {} }) as never;

  /** The thread that stores the usage of a node. */
  function usageThread(dataDir: string, node: string) {
    const address = { dataDir, url: undefined };
    const workerData = { address, node, keepDays: 400, heartbeat: new SharedArrayBuffer(4) };
    const worker = new Worker(resolve('dist/server/usage/worker.js'), { workerData });
    return {
      asked: async (order: object): Promise<{ kind: string }> => {
        worker.postMessage(order);
        return (await once(worker, 'message'))[0];
      },
      closed: async (): Promise<void> => {
        worker.postMessage({ kind: 'close' });
        await once(worker, 'exit');
      },
    };
  }

  const count = (ledger: Ledger, n: number): void => ledger.open(keyOf(n), 0).done(n + 1, 0);
  const all = Array.from({ length: KEYS }, (_, n) => n);

  test('a flush has the keys of its beginning, in parts; a cut has all', () => {
    const ledger = ledgerOf();
    for (const n of all) count(ledger, n);
    const parts = [ledger.take(1)!];
    expect([parts[0]!.keyIds.length, ledger.isFlushing]).toEqual([1000, true]);
    // One that is taken already counts again, and one more: both are left to the next flush.
    for (const id of [parts[0]!.keyIds[0]!.slice(1), '5000']) count(ledger, Number(id));
    while (ledger.isFlushing) parts.push(ledger.take(1)!);
    expect(parts.map(({ keyIds }) => keyIds.length)).toEqual([1000, 1000, 500]);
    expect(new Set(parts.flatMap(({ keyIds }) => keyIds)).size).toBe(KEYS);
    expect(ledger.hasCounts).toBe(true);
    for (const n of all) count(ledger, n);
    const cut: UsageBatch[] = [];
    do cut.push(ledger.take(2, true)!);
    while (ledger.hasCounts);
    expect(cut.map(({ keyIds }) => keyIds.length)).toEqual([1000, 1000, 501]);
    expect(ledger.take(3)).toBeUndefined();
  });

  test('a clock that is years ahead for a day removes no stored usage', async () => {
    const folder = join(root, 'ahead');
    const store = await openOrMakeUsage({ dataDir: folder, url: undefined });
    const ledger = ledgerOf();
    count(ledger, 1);
    const batch = ledger.take(1)!;
    const on = (number: number, day: string): UsageBatch => ({
      ...batch,
      ...{ number, day, month: day.slice(0, 7), hourMs: Date.parse(day) },
    });
    const rowsOf = async (): Promise<string[]> => {
      const days: string[] = [];
      for await (const { hourMs } of store.rows(0, Number.MAX_SAFE_INTEGER))
        days.push(new Date(hourMs).toISOString().slice(0, 10));
      return days;
    };
    for (const [number, day] of ['2024-01-01', '2026-11-24'].entries())
      await store.add('before', on(number + 1, day), Date.now());
    const { asked, closed } = usageThread(folder, 'abc');
    await asked({ kind: 'load', day: '2026-11-24', month: '2026-11' });
    await asked({ kind: 'add', batch: on(1, '2036-11-25'), isLast: true });
    expect(await rowsOf()).toEqual(['2024-01-01', '2026-11-24', '2036-11-25']);
    await asked({ kind: 'add', batch: on(2, '2026-11-25'), isLast: true });
    expect(await rowsOf()).toEqual(['2026-11-24', '2026-11-25', '2036-11-25']);
    await closed();
    await store.close();
  });

  test('counts until a stop are stored once, while flushes of many keys are under way', async () => {
    const folder = join(root, 'flusher');
    const said: string[] = [];
    const note = (_: unknown, message?: string): void => void said.push(message ?? '');
    const flusher = new UsageFlusher({
      ...{ address: { dataDir: folder, url: undefined }, flushMs: 20, keepDays: 400 },
      logger: { info: note, warn: note, error: note },
    });
    const ledger = ledgerOf();
    ledger.onCut(() => flusher.cut());
    flusher.start(ledger);
    let points = 0;
    for (let round = 0; round < 8; round++) {
      for (const n of all) {
        count(ledger, n);
        points += n + 1;
      }
      await sleep(30);
      if (round === 4) flusher.cut();
    }
    await flusher.stop();
    const { asked, closed } = usageThread(folder, 'next');
    expect((await asked({ kind: 'load', day: '2026-11-24', month: '2026-11' })).kind).toBe('loaded');
    await closed();
    const store = await openUsage({ dataDir: folder, url: undefined });
    let stored = 0;
    for await (const row of store.rows(0, Number.MAX_SAFE_INTEGER)) stored += row.points;
    await store.close();
    expect(stored).toBe(points);
    // On a slow disk the last batch is left to the next process.
    expect(said.filter((message) => /is lost|not counted/.test(message))).toEqual([]);
  });
});

// A usage.db that somebody has edited by other programs: no statement of others is run, and what is odd is named with
// its file, by the service's thread and by the command.
describe('odd rows', () => {
  let folder: CliFolder;
  beforeEach(async () => {
    folder = new CliFolder();
    const store = await openOrMakeUsage({ dataDir: folder.path, url: undefined });
    await store.close();
    edited(
      `INSERT INTO usage VALUES (3600000, 'k1', 'encode', 'ok', 2, 3), (7200000, 'k2', 'encode', 'ok', 4, 5)`,
    );
  });
  afterEach(() => folder.remove());

  function edited(sql: string): void {
    const db = new Database(usagePath(folder.path));
    db.exec(sql);
    db.close();
  }

  const LOOP = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n';
  const TABLES = ['usage', 'used', 'flushed', 'rate', 'holder'];
  test.each([
    ...TABLES.map((table) => [
      `a view in the place of ${table}`,
      `ALTER TABLE ${table} RENAME TO t; CREATE VIEW ${table} AS SELECT t.* FROM t, (${LOOP})`,
    ]),
    ...TABLES.map((table) => [
      `a trigger of ${table} that never ends`,
      `CREATE TRIGGER other AFTER INSERT ON ${table} BEGIN SELECT count(*) FROM (${LOOP}); END`,
    ]),
  ])('%s is refused by name', async (_, sql) => {
    edited(sql);
    for (const open of [openUsage, openOrMakeUsage])
      await expect(open({ dataDir: folder.path, url: undefined })).rejects.toThrow(
        new RegExp(`^${usagePath(folder.path)} has a (view|trigger) "\\w+", which is not of hexcodes`),
      );
    const ran = await folder.run(['usage', '--data-dir', folder.path]);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('which is not of hexcodes')]);
  });

  test.each([
    ["UPDATE usage SET hour_ms = 9000000000000000 WHERE key_id = 'k2'"],
    ["UPDATE usage SET points = -1 WHERE key_id = 'k2'"],
    ["UPDATE usage SET requests = -1 WHERE key_id = 'k2'"],
  ])('%s: the row is named', async (sql) => {
    edited(sql);
    for (const args of [['usage'], ['usage', 'export', '--csv']]) {
      const ran = await folder.run([...args, '--data-dir', folder.path]);
      expect([ran.code, ran.stderr]).toEqual([
        1,
        expect.stringContaining(`${usagePath(folder.path)}: usage of key "k2"`),
      ]);
    }
  });

  test.each([
    ['a file of another program', 'SQLite'],
    ['text', 'text'],
    ['an empty file', 'empty'],
  ])('%s is not a store of usage', async (_, kind) => {
    rmSync(usagePath(folder.path));
    if (kind === 'SQLite') edited('CREATE TABLE usage (a TEXT)');
    else writeFileSync(usagePath(folder.path), kind === 'text' ? 'no store '.repeat(1000) : '');
    const ran = await folder.run(['usage', '--data-dir', folder.path]);
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining(`${usagePath(folder.path)} is damaged, or no store of usage`),
    ]);
  });

  test('control characters of ids do not reach the table', async () => {
    edited("UPDATE usage SET key_id = char(27) || '[2Jid' WHERE key_id = 'k2'");
    const ran = await folder.run(['usage', '--data-dir', folder.path]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).not.toContain('\u001b');
  });
});
