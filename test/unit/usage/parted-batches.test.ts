// Counts of many keys: batches go to the store in parts, are stored as one, and the answers come in parts.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import type { KeyInfo } from '#dist/server/keys/key-record.js';
import { Ledger } from '#dist/server/ledger/ledger.js';
import type { UsageBatch } from '#dist/server/usage/batch.js';
import { UsageFlusher } from '#dist/server/usage/flusher.js';
import { SqliteUsage } from '#dist/server/usage/store/sqlite-usage.js';
import type { UsageReply } from '#dist/server/usage/worker.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-parts-'));
afterAll(() => rmSync(root, { recursive: true }));

const KEYS = 2500;
const keyOf = (n: number) => ({ id: `k${n}`, name: `k${n}`, limits: {} }) as unknown as KeyInfo;

function ledgerOf(): Ledger {
  const store = { isAway: false, isSlow: false, hurry: () => {} };
  return new Ledger({ defaults: {}, pointsPerSecond: 0, zone: 'Asia/Ho_Chi_Minh', store, isOpen: true });
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

test('the thread stores the parts of a batch as one, and answers with all of its keys', async () => {
  const folder = join(root, 'thread');
  const worker = new Worker(resolve('dist/server/usage/worker.js'), {
    workerData: {
      address: { dataDir: folder, url: undefined },
      node: 'abc',
      keepDays: 400,
      heart: new SharedArrayBuffer(4),
    },
  });
  const ledger = ledgerOf();
  for (const n of all) count(ledger, n);
  const parts: UsageBatch[] = [];
  do parts.push(ledger.take(1)!);
  while (ledger.isFlushing);
  const send = async (): Promise<Map<string, number>> => {
    for (const [at, batch] of parts.entries())
      worker.postMessage({ kind: 'add', batch, isLast: at === parts.length - 1 });
    const points = new Map<string, number>();
    for (;;) {
      const [reply] = (await once(worker, 'message')) as [UsageReply];
      if (reply.kind !== 'added') throw new Error(reply.kind);
      for (const [keyId, used] of reply.stored.used) points.set(keyId, used.dayPoints);
      if (reply.isLast) return points;
    }
  };
  const wanted = new Map(all.map((n) => [`k${n}`, n + 1]));
  expect(await send()).toEqual(wanted);
  // Sent again, as after a failure whose outcome nobody knows: it is counted once.
  expect(await send()).toEqual(wanted);
  worker.postMessage({ kind: 'close' });
  await once(worker, 'exit');
});

test('what is counted until a stop is stored once, while flushes of many keys are under way', async () => {
  const folder = join(root, 'flusher');
  const never = (): void => {
    throw new Error('counts are lost');
  };
  const note = (): void => {};
  const flusher = new UsageFlusher({
    ...{ address: { dataDir: folder, url: undefined }, flushMs: 20, keepDays: 400 },
    // On a slow disk the last batch is left to the next process.
    ...{ failed: note, recovered: note, kept: note, lost: never, refused: never },
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
  const next = new Worker(resolve('dist/server/usage/worker.js'), {
    workerData: {
      address: { dataDir: folder, url: undefined },
      node: 'next',
      keepDays: 400,
      heart: new SharedArrayBuffer(4),
    },
  });
  next.postMessage({ kind: 'load', day: '2026-11-24', month: '2026-11' });
  expect((await once(next, 'message'))[0].kind).toBe('loaded');
  next.postMessage({ kind: 'close' });
  await once(next, 'exit');
  const store = SqliteUsage.open(folder);
  let stored = 0;
  for await (const row of store.rows(0, Number.MAX_SAFE_INTEGER)) stored += row.points;
  await store.close();
  expect(stored).toBe(points);
});
