// Counts that a process left in a file: added once to the store by the next one, which removes the file then and only
// then.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import type { UsageBatch } from '#dist/server/usage/batch.js';
import { forgetLeftover, keepLeftover, leftoversIn } from '#dist/server/usage/leftover.js';
import { CELLS } from '#dist/server/usage/operations.js';
import type { UsageReply } from '#dist/server/usage/worker.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-left-'));
afterAll(() => rmSync(root, { recursive: true }));

const batch = (points: number): UsageBatch => ({
  number: 1,
  hourMs: Date.parse('2026-11-23T01:00:00Z'),
  day: '2026-11-23',
  month: '2026-11',
  keyIds: ['k1'],
  cells: Float64Array.from({ length: 2 * CELLS }, (_, i) => (i < 2 ? points : 0)),
  covered: [0],
  quotas: [],
  returns: [],
  rates: [{ keyId: 'k1', kind: 'points', perSecond: 1, capacity: 1, spent: 1 }],
  watchedIds: ['k2'],
});

test('kept and read again, without rates, and gone when it is forgotten', () => {
  const folder = join(root, 'kept');
  keepLeftover(folder, 'abc1', [batch(7)]);
  const [left, ...more] = leftoversIn(folder);
  expect([more.length, left?.node]).toEqual([0, 'abc1']);
  expect(left?.batches).toEqual([{ ...batch(7), rates: [], watchedIds: [] }]);
  const text = readFileSync(left!.path, 'utf8');
  for (const altered of [text.replace('"cells":[7', '"cells":[8'), text.slice(0, -1), '{}', '[{']) {
    expect(altered).not.toBe(text);
    writeFileSync(join(folder, 'usage-left-12.json'), altered);
    const refused: string[] = [];
    expect(leftoversIn(folder, (path) => refused.push(path))).toHaveLength(1);
    expect(refused).toEqual([join(folder, 'usage-left-12.json')]);
  }
  // As version 0.3.0 has written it.
  writeFileSync(
    join(folder, 'usage-left-12.json'),
    JSON.stringify([{ ...batch(7), cells: [...batch(7).cells] }]),
  );
  expect(leftoversIn(folder)).toHaveLength(2);
  writeFileSync(join(folder, 'usage-left-12.json'), '[{');
  writeFileSync(join(folder, 'usage-left-XY.json'), '[]');
  expect(leftoversIn(folder)).toHaveLength(1);
  forgetLeftover(left!);
  expect(readdirSync(folder).sort()).toEqual(['usage-left-12.json', 'usage-left-XY.json']);
});

test('the next process adds it once and removes the file', async () => {
  const folder = join(root, 'next');
  keepLeftover(folder, 'abc2', [batch(5)]);
  const path = leftoversIn(folder)[0]!.path;
  const load = async (): Promise<UsageReply> => {
    const worker = new Worker(resolve('dist/server/usage/worker.js'), {
      workerData: {
        address: { dataDir: folder, url: undefined },
        node: 'def',
        keepDays: 400,
        heart: new SharedArrayBuffer(4),
      },
    });
    const reply = await new Promise<UsageReply>((done, failed) => {
      worker.once('message', done);
      worker.once('error', failed);
      worker.postMessage({ kind: 'load', day: '2026-11-23', month: '2026-11' });
    });
    worker.postMessage({ kind: 'close' });
    await new Promise((done) => worker.once('exit', done));
    return reply;
  };
  const first = await load();
  expect(first).toMatchObject({ kind: 'loaded' });
  expect(existsSync(path)).toBe(false);
  const second = await load();
  for (const reply of [first, second])
    expect(reply.kind === 'loaded' && reply.stored.used.get('k1')?.dayPoints).toBe(5);
});
