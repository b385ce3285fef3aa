// Keys in memory, and their store: who is admitted, what a follower sees, and rows that nobody writes.

import { timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { KeyRing } from '#dist/server/keys/key-ring.js';
import { CliFolder } from '../../support/cli.js';
import {
  allOf,
  digestOf,
  Follower,
  type KeyStore,
  openOrMakeStore,
  openStore,
  PEPPER,
  type StoredKey,
  storedKey,
  storePath,
} from '../../support/keys.js';

// The keys in memory: what is remembered, what every other text costs, and when a key or a text of one ends.
describe('who is admitted', () => {
  /** A ring that counts hashes and comparisons. */
  function countingRing() {
    const counts = { hashes: 0, comparisons: 0 };
    const ring = new KeyRing(PEPPER, {
      digestOf: (text, pepper) => {
        counts.hashes++;
        return digestOf(text, pepper);
      },
      isEqual: (a, b) => {
        counts.comparisons++;
        return timingSafeEqual(a, b);
      },
    });
    const costOf = (text: string): string => {
      counts.hashes = 0;
      counts.comparisons = 0;
      const { kind } = ring.check(text);
      return `${kind} ${counts.hashes}+${counts.comparisons}`;
    };
    return { ring, costOf };
  }

  const digestHex = (text: string) => digestOf(text, PEPPER).toString('hex');
  const allowed = (ring: KeyRing, text: string) => {
    const verdict = ring.check(text);
    if (verdict.kind !== 'allowed') throw new Error(verdict.kind);
    return verdict.key;
  };

  test('missing, unknown, wrong, expired, revoked and disabled texts take one hash and one comparison, each time', () => {
    const { ring, costOf } = countingRing();
    ring.change([
      storedKey('good'),
      storedKey('ended', { id: 'b', expiresMs: Date.now() - 1 }),
      storedKey('revoked', { id: 'c', state: 'revoked' }),
      storedKey('disabled', { id: 'd', state: 'disabled' }),
      storedKey('both', { id: 'e', state: 'disabled', expiresMs: 1 }),
      storedKey('new', { id: 'f', formerDigestHex: digestHex('old'), formerUntilMs: Date.now() - 1 }),
    ]);
    for (let round = 0; round < 2; round++) {
      for (const text of [
        '',
        'unknown',
        'Good',
        'good ',
        digestHex('good'),
        'ended',
        'revoked',
        'both',
        'old',
      ])
        expect(costOf(text), text).toBe('denied 1+1');
      expect(costOf('disabled')).toBe('disabled 1+1');
    }
    expect(costOf('good')).toBe('allowed 1+1');
    expect(costOf('good')).toBe('allowed 0+0');
  });

  test('a change clears the cache; removed keys are unknown', () => {
    const { ring, costOf } = countingRing();
    ring.change([storedKey('text'), storedKey('other', { id: 'b' })]);
    expect([costOf('text'), costOf('text')]).toEqual(['allowed 1+1', 'allowed 0+0']);
    ring.change([storedKey('text', { state: 'disabled' })]);
    expect(costOf('text')).toBe('disabled 1+1');
    ring.change([storedKey('text', { state: 'revoked' })]);
    expect(costOf('text')).toBe('denied 1+1');
    expect(costOf('other')).toBe('allowed 1+1');
    ring.change([], ['b']);
    expect(costOf('other')).toBe('denied 1+1');
    expect(ring.size).toBe(1);
  });

  test('a revoked secret is unknown at once; both secrets of a rotation belong to one key', () => {
    const { ring, costOf } = countingRing();
    ring.change([storedKey('one')]);
    const before = allowed(ring, 'one');
    const rotated = { digestHex: digestHex('two'), generation: 2 };
    const untilMs = Date.now() + 60_000;
    ring.change([storedKey('', { ...rotated, formerDigestHex: digestHex('one'), formerUntilMs: untilMs })]);
    expect([allowed(ring, 'one').id, allowed(ring, 'two').id]).toEqual(['a', 'a']);
    expect(ring.current(before)?.generation).toBe(1);
    expect(ring.current(before, undefined, untilMs)).toBeUndefined();
    const after = allowed(ring, 'two');
    ring.tick(untilMs);
    expect(ring.current(after, undefined, untilMs)?.generation).toBe(2);
    ring.change([storedKey('', rotated)]);
    expect(costOf('one')).toBe('denied 1+1');
    expect(ring.current(before)).toBeUndefined();
  });

  test('what expires is forgotten at the next tick, whichever way the clock is set', () => {
    const { ring, costOf } = countingRing();
    const nowMs = Date.now();
    // A change is a tick, too: one a millisecond later would be ahead of those of the test.
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
    onTestFinished(() => void vi.useRealTimers());
    const calls: string[] = [];
    ring.change([storedKey('text', { expiresMs: nowMs + 60_000 }), storedKey('other', { id: 'b' })]);
    ring.onChange(() => calls.push('changed'));
    ring.tick(nowMs);
    const key = allowed(ring, 'text');
    expect(ring.current(key)).toBe(key);
    ring.tick(nowMs + 1000);
    expect([costOf('text'), calls.length]).toEqual(['allowed 0+0', 0]);
    ring.tick(nowMs + 60_000);
    expect(calls).toEqual(['changed']);
    expect(ring.current(key, undefined, nowMs + 60_000)).toBeUndefined();
    // Set back: the key is judged again, and its end is waited for again.
    ring.tick(nowMs + 10);
    expect(costOf('text')).toBe('allowed 1+1');
    ring.tick(nowMs + 60_000);
    expect(calls).toEqual(['changed', 'changed', 'changed']);
    expect(costOf('other')).toBe('allowed 1+1');
  });

  test('a text whose key has expired is denied from that moment, before the next tick', () => {
    const { ring, costOf } = countingRing();
    const nowMs = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
    onTestFinished(() => void vi.useRealTimers());

    ring.change([storedKey('text', { expiresMs: nowMs + 60_000 }), storedKey('other', { id: 'b' })]);
    expect([costOf('text'), costOf('text')]).toEqual(['allowed 1+1', 'allowed 0+0']);
    vi.setSystemTime(nowMs + 59_999);
    expect(costOf('text')).toBe('allowed 0+0');
    vi.setSystemTime(nowMs + 60_000);
    expect(costOf('text')).toBe('denied 1+1');
    expect(costOf('other')).toBe('allowed 1+1');
    ring.tick();
    expect([costOf('other'), costOf('other')]).toEqual(['allowed 1+1', 'allowed 0+0']);
  });

  test('a text that ends between two ticks is denied, and told, though another key is changed meanwhile', () => {
    const { ring, costOf } = countingRing();
    const nowMs = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
    onTestFinished(() => void vi.useRealTimers());
    const told: unknown[] = [];
    ring.change([storedKey('text', { expiresMs: nowMs + 60_000 })]);
    ring.onChange((changed) => told.push(changed));
    expect([costOf('text'), costOf('text')]).toEqual(['allowed 1+1', 'allowed 0+0']);
    vi.setSystemTime(nowMs + 60_000);
    ring.change([storedKey('other', { id: 'b', expiresMs: nowMs + 90_000 })]);
    expect([costOf('text'), told]).toEqual(['denied 1+1', [undefined, new Set(['b'])]]);
  });

  test('a key continues admitted work only while it has the scope', () => {
    const ring = new KeyRing(PEPPER);
    ring.change([storedKey('text')]);
    const key = allowed(ring, 'text');
    expect(ring.current(key, 'bulk')).toBe(key);
    ring.change([storedKey('text', { scopes: ['encode'], limits: { pointsPerDay: 5 } })]);
    expect(ring.current(key, 'bulk')).toBeUndefined();
    expect(ring.current(key, 'encode')?.limits).toEqual({ pointsPerDay: 5 });
    expect(key.limits).toEqual({});
  });

  test('uses are reported once for each key', () => {
    const ring = new KeyRing(PEPPER);
    ring.change([
      storedKey('text'),
      storedKey('other', { id: 'b' }),
      storedKey('no', { id: 'c', state: 'disabled' }),
    ]);
    for (const text of ['text', 'other', 'text', 'no', 'unknown']) ring.check(text);
    expect(ring.takeUses()).toEqual(['a', 'b']);
    expect(ring.takeUses()).toEqual([]);
    ring.check('text');
    ring.change([storedKey('text')]);
    ring.check('text');
    expect(ring.takeUses()).toEqual(['a']);
  });
});

// The changes that a follower reports, over a store of the test: every change once, a removal whenever the store is
// another one, and nothing where nothing has changed.
describe('the follower', () => {
  /** Keys with the number of their change, as a store counts them. */
  class World {
    keys = new Map<string, { key: StoredKey; change: number }>();
    change = 0;
    epoch = 'a';
    opened = 0;
    closed = 0;
    isGone = false;
    reads = 0;

    put(id: string, name: string): void {
      this.keys.set(id, { key: storedKey(id, { id, name }), change: ++this.change });
    }

    remove(id: string): void {
      if (this.keys.delete(id)) this.change++;
      this.epoch += 'x';
    }

    open() {
      this.opened++;
      this.isGone = false;
      return {
        news: async () => (this.isGone ? 'gone' : 'perhaps'),
        head: async () => ({ epoch: this.epoch, change: this.change, pepperCheck: undefined }),
        changedKeys: async function* (this: { world: World }, after: number) {
          const { world } = this;
          world.reads++;
          const keys = [...world.keys.values()].filter(({ change }) => change > after).map(({ key }) => key);
          for (let at = 0; at === 0 || at < keys.length; at += 2) yield keys.slice(at, at + 2);
        },
        world: this,
        close: async () => void this.closed++,
      };
    }
  }

  const step = fc.oneof(
    fc.tuple(fc.constant('put' as const), fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 2 })),
    fc.tuple(
      fc.constantFrom('remove' as const, 'gone' as const, 'read' as const),
      fc.integer({ min: 0, max: 4 }),
      fc.constant(0),
    ),
  );

  test('whatever happens between reads, the cache equals the store', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const world = new World();
        const follower = new Follower(
          async () => world.open() as never,
          () => {},
        );
        const known = new Map<string, StoredKey>();
        const read = async (): Promise<void> => {
          for (const { keys, removedIds } of await allOf(follower.read())) {
            for (const key of keys) {
              // Nothing is said twice.
              expect(known.get(key.id)).not.toEqual(key);
              known.set(key.id, key);
            }
            for (const id of removedIds) expect(known.delete(id)).toBe(true);
            expect(keys.length + removedIds.length).toBeGreaterThan(0);
          }
          expect([...known.keys()].sort()).toEqual([...world.keys.keys()].sort());
          for (const [id, { key }] of world.keys) expect(known.get(id)).toEqual(key);
        };
        for (const [what, id, name] of steps) {
          if (what === 'put') world.put(`k${id}`, `n${name}`);
          else if (what === 'remove') world.remove(`k${id}`);
          else if (what === 'gone') world.isGone = true;
          else await read();
        }
        await read();
        const { opened, reads } = world;
        await read();
        // A store that is there stays open, and is not read again where its head is the same.
        expect([world.opened, world.reads]).toEqual([opened, reads]);
        expect(world.closed).toBe(opened - 1);
      }),
    );
  });
});

// A key store that somebody has edited by other programs: what is odd is named with file and key, nothing of it
// reaches a terminal as it is, and no statement of others is run.
describe('odd rows', () => {
  let folder: CliFolder;
  beforeEach(async () => {
    folder = new CliFolder();
    const store = await openOrMakeStore({ dataDir: folder.path, url: undefined });
    await store.put(storedKey('a_0123456789abcdefghij', { id: 'k1' }));
    await store.put(storedKey('b_0123456789abcdefghij', { id: 'k2' }));
    await store.close();
  });
  afterEach(() => folder.remove());

  function edited(sql: string, ...values: unknown[]): void {
    const db = new Database(storePath(folder.path));
    if (values.length > 0) db.prepare(sql).run(...values);
    else db.exec(sql);
    db.close();
  }

  const JSONS = [
    ...['', '{', '[', 'nul', 'null', '1', '"a"', '{}', '[]', '[1]', '[null]'],
    ...['{"pointsPerDay":"many"}', '{"a":-1}'],
  ];
  const GOOD: Record<string, string[]> = {
    scopes: ['[]'],
    origins: ['[]'],
    cidrs: ['[]'],
    limits: ['{}'],
  };

  test.each(Object.keys(GOOD))('odd JSON in %s names file, key and column', async (column) => {
    for (const json of JSONS) {
      edited(`UPDATE api_key SET ${column} = ? WHERE id = 'k2'`, json);
      const store = await openStore({ dataDir: folder.path, url: undefined });
      const read = store.keys();
      if (GOOD[column]!.includes(json)) expect(await read).toHaveLength(2);
      else
        await expect(read, json).rejects.toThrow(
          `${storePath(folder.path)}: key "k2": ${column} must be a JSON`,
        );
      if (!GOOD[column]!.includes(json)) await expect(store.find('k2')).rejects.toThrow('key "k2"');
      expect((await store.find('k1'))?.id).toBe('k1');
      await store.close();
    }
  });

  test('a time beyond all dates is named, too', async () => {
    for (const column of ['created_ms', 'expires_ms', 'last_used_ms', 'former_until_ms']) {
      edited(`UPDATE api_key SET ${column} = ? WHERE id = 'k2'`, 9e15);
      const ran = await folder.run(['keys', 'list', '--data-dir', folder.path]);
      expect([ran.code, ran.stderr], column).toEqual([
        1,
        expect.stringContaining(`key "k2": ${column} is not a time`),
      ]);
      edited(`UPDATE api_key SET ${column} = 1 WHERE id = 'k2'`);
    }
  });

  test('control characters of ids and names do not reach the output', async () => {
    edited(
      'UPDATE api_key SET id = ?, name = ?, origins = ? WHERE id = ?',
      '\u001b[2Jid',
      '\u001b[31mname',
      JSON.stringify(['\u001b[1mo']),
      'k2',
    );
    for (const args of [['list'], ['show', '\u001b[2Jid']]) {
      const ran = await folder.run(['keys', ...args, '--data-dir', folder.path]);
      expect(ran.code, ran.stderr).toBe(0);
      expect(ran.stdout).not.toContain('\u001b');
      expect(ran.stdout).toContain('id');
    }
  });

  const LOOP = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n';
  test.each([
    [
      'a view in the place of the keys',
      `ALTER TABLE api_key RENAME TO k; CREATE VIEW api_key AS SELECT k.* FROM k, (${LOOP})`,
    ],
    [
      'a view in the place of the head',
      `ALTER TABLE key_head RENAME TO h; CREATE VIEW key_head AS SELECT h.* FROM h, (${LOOP})`,
    ],
    [
      'a trigger that never ends',
      `CREATE TRIGGER other AFTER UPDATE ON api_key BEGIN SELECT count(*) FROM (${LOOP}); END`,
    ],
    [
      'a trigger of the same name',
      `DROP TRIGGER api_key_made; CREATE TRIGGER api_key_made AFTER INSERT ON api_key BEGIN SELECT 1; END`,
    ],
  ])('%s is refused by name', async (_, sql) => {
    edited(sql);
    await expect(openStore({ dataDir: folder.path, url: undefined })).rejects.toThrow(
      new RegExp(`^${storePath(folder.path)} has a (view|trigger) "\\w+", which is not of hexcodes`),
    );
  });

  test("an operator's views beside the tables are ignored", async () => {
    edited('CREATE VIEW active AS SELECT id FROM api_key');
    const store = await openStore({ dataDir: folder.path, url: undefined });
    expect(await store.count()).toBe(2);
    await store.close();
    rmSync(storePath(folder.path));
  });
});

describe('many keys', () => {
  const MANY = 5000;
  let folder: CliFolder;
  let store: KeyStore;
  beforeEach(async () => {
    folder = new CliFolder();
    store = await openOrMakeStore({ dataDir: folder.path, url: undefined });
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });
  const put = (from: number, to: number): Promise<void> =>
    store.inTransaction(async () => {
      for (let n = from; n < to; n++)
        await store.put(storedKey(`a_${n}`, { id: `k${n}`, name: `customer ${n}`, createdMs: n }));
    });
  const changed = async (followed: KeyStore, after: number) =>
    (await allOf(followed.changedKeys(after))).flat();
  const idsOf = (keys: readonly StoredKey[]): string[] => keys.map(({ id }) => id);
  const ids = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, n) => `k${from + n}`);

  test('each change is read once, in the order in which it was made, whatever its number', async () => {
    await put(0, MANY);
    const { change } = await store.head();
    // Keys from before changes were counted have one number.
    const db = new Database(storePath(folder.path));
    db.exec(`UPDATE api_key SET change = 0 WHERE created_ms < ${MANY / 2}`);
    db.close();
    expect(idsOf(await store.keys())).toEqual(ids(0, MANY));
    expect(idsOf(await changed(store, 0))).toEqual(ids(MANY / 2, MANY));
    expect(await changed(store, change)).toEqual([]);
    await put(MANY - 1, MANY + 1500);
    expect(idsOf(await changed(store, change))).toEqual([`k${MANY - 1}`, ...ids(MANY, MANY + 1500)]);
    await store.inTransaction(async () => expect(await store.keys()).toHaveLength(MANY + 1500));
  });

  test('a transaction of many takes memory for its keys, not for a statement each', async () => {
    await put(0, 100);
    const before = process.memoryUsage.rss();
    await put(100, MANY);
    expect(process.memoryUsage.rss() - before).toBeLessThan(40e6);
  });
});
