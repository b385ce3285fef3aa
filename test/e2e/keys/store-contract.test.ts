// The contract of every key store, on both: the file in the data folder and PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoredKey } from '#dist/server/keys/key-record.js';
import { KeyChanger } from '#dist/server/keys/manage/key-changes.js';
import { digestOf, pepperCheckOf } from '#dist/server/keys/secret.js';
import { Follower } from '#dist/server/keys/store/follower.js';
import type { KeyStore } from '#dist/server/keys/store/key-store.js';
import {
  openFollowedStore,
  openOrMakeStore,
  openStore,
  type StoreOptions,
} from '#dist/server/keys/store/open-store.js';
import { PEPPER, storedKey } from '../../support/keys.js';
import { noPostgres, Postgres } from '../../support/postgres.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-contract-'));
afterAll(() => rmSync(root, { recursive: true }));
let postgres: Postgres | undefined;
beforeAll(async () => {
  if (noPostgres === undefined) postgres = await Postgres.start();
});
afterAll(() => postgres?.remove());

const STORES: [name: string, skip: boolean, options: () => StoreOptions][] = [
  ['libsql', false, () => ({ dataDir: mkdtempSync(join(root, 'data-')), url: undefined })],
  [
    `PostgreSQL${noPostgres === undefined ? '' : ` (${noPostgres})`}`,
    noPostgres !== undefined,
    () => ({ dataDir: root, url: postgres!.newDatabase() }),
  ],
];

const WHOLE: StoredKey = storedKey('text', {
  id: 'whole',
  name: 'Xe tải "số 1" \u0000'.replace('\u0000', '\u202e'),
  state: 'disabled',
  scopes: ['encode', 'admin'],
  expiresMs: 4_102_444_800_000,
  origins: ['https://a.vn', 'https://*.b.vn'],
  cidrs: ['10.0.0.0/8', '2001:db8::/32'],
  limits: { pointsPerSecond: 5, pointsPerMonth: 1_000_000_000_000 },
  lastUsedMs: 1_700_000_000_001,
  generation: 3,
  formerDigestHex: digestOf('old', PEPPER).toString('hex'),
  formerUntilMs: 1_800_000_000_000,
});

describe.each(STORES)('%s', (_, skip, fresh) => {
  if (skip) {
    // The name of the group says which program is missing.
    test.skip('needs PostgreSQL', () => {});
    return;
  }
  let options: StoreOptions;
  let store: KeyStore;
  beforeEach(async () => {
    options = fresh();
    store = await openOrMakeStore(options);
    return () => store.close();
  });
  const changer = () => new KeyChanger(store);
  const newText = () => `text ${Math.random()}`;

  test('a key comes back as it was put, and is put in its own place', async () => {
    await store.put(WHOLE);
    expect(await store.keys()).toEqual([WHOLE]);
    expect(await store.find('whole')).toEqual(WHOLE);
    expect(await store.find('nobody')).toBeUndefined();
    const plain = storedKey('other', { id: 'whole' });
    await store.put(plain);
    expect(await store.keys()).toEqual([
      { ...plain, createdMs: WHOLE.createdMs, lastUsedMs: WHOLE.lastUsedMs },
    ]);
    expect(await store.count()).toBe(1);
  });

  test('one digest belongs to one key', async () => {
    await store.put(storedKey('text'));
    await expect(store.put(storedKey('text', { id: 'b' }))).rejects.toThrow();
    expect(await store.count()).toBe(1);
  });

  test('keys come in the order they were made', async () => {
    for (const [id, createdMs] of [
      ['b', 2],
      ['c', 1],
      ['a', 2],
    ] as const)
      await store.put(storedKey(newText(), { id, createdMs }));
    expect((await store.keys()).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
  });

  test('what a transaction did is undone if it throws', async () => {
    await store.put(storedKey('text'));
    await expect(
      store.inTransaction(async () => {
        await store.put(storedKey('b', { id: 'b' }));
        await store.put(storedKey('text', { state: 'revoked' }));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect((await store.keys()).map(({ id, state }) => [id, state])).toEqual([['a', 'active']]);
  });

  test('every change has a number, uses have none, and removing begins a new epoch', async () => {
    const heads = [await store.head()];
    const step = async (work: () => Promise<unknown>) => {
      await work();
      heads.push(await store.head());
    };
    await step(() => store.put(storedKey('a')));
    await step(() => store.put(storedKey('b', { id: 'b' })));
    const numbers = heads.map(({ change }) => change);
    expect([...numbers].sort((a, b) => a - b)).toEqual(numbers);
    expect(new Set(numbers).size).toBe(3);
    expect((await store.keys(numbers[1])).map(({ id }) => id)).toEqual(['b']);
    await step(() => store.put(storedKey('a', { state: 'disabled' })));
    expect((await store.keys(numbers[2])).map(({ id }) => id)).toEqual(['a']);
    await step(() => store.touch(new Map([['a', Date.now()]])));
    expect(heads[4]).toEqual(heads[3]);
    await step(() => store.removeAll());
    expect(heads[5]?.epoch).not.toBe(heads[4]?.epoch);
    expect(heads[4]?.epoch).toBe(heads[0]?.epoch);
  });

  test('uses are kept if they are later; unknown ids are left out', async () => {
    await store.put(storedKey('a'));
    await store.put(storedKey('b', { id: 'b', lastUsedMs: 50 }));
    await store.touch(
      new Map([
        ['a', 40],
        ['b', 40],
        ['nobody', 40],
      ]),
    );
    expect((await store.keys()).map(({ lastUsedMs }) => lastUsedMs)).toEqual([40, 50]);
  });

  test('a store is opened again as it was left, by several at once', async () => {
    await store.put(WHOLE);
    await store.setPepperCheck('check');
    const others = await Promise.all([
      openOrMakeStore(options),
      openOrMakeStore(options),
      openStore(options),
    ]);
    for (const other of others) {
      expect(await other.keys()).toEqual([WHOLE]);
      expect((await other.head()).pepperCheck).toBe('check');
      await other.close();
    }
  });

  test('a follower returns what has changed, and nothing twice', async () => {
    const follower = new Follower(
      () => openFollowedStore(options, () => {}),
      () => {},
    );
    const ids = async () => {
      const changes = await follower.read();
      return changes === undefined ? undefined : [changes.keys.map(({ id }) => id), changes.removedIds];
    };
    await store.put(storedKey('a'));
    await store.put(storedKey('b', { id: 'b' }));
    expect(await ids()).toEqual([['a', 'b'], []]);
    expect(await ids()).toBeUndefined();
    await store.put(storedKey('a', { state: 'disabled' }));
    expect(await ids()).toEqual([['a'], []]);
    await store.touch(new Map([['b', 7]]));
    expect(await ids()).toBeUndefined();
    await store.removeAll();
    await store.put(storedKey('c', { id: 'c' }));
    expect(await ids()).toEqual([['c'], ['a', 'b']]);
    await follower.close();
    expect(await ids()).toBeUndefined();
    await follower.close();
  });

  test('a use that is written does not hide what another has changed', async () => {
    await store.put(storedKey('a'));
    const followed = await openFollowedStore(options, () => {});
    const before = await followed.head();
    await store.put(storedKey('a', { state: 'revoked' }));
    await followed.touch(new Map([['a', 7]]));
    expect(await followed.news()).not.toBe('none');
    await followed.close();
    expect((await store.head()).change).toBeGreaterThan(before.change);
  });

  test('changes by several at once are all seen by one who follows', async () => {
    const follower = new Follower(
      () => openFollowedStore(options, () => {}),
      () => {},
    );
    const seen = new Set<string>();
    const writers = [store, await openStore(options), await openStore(options)];
    let isDone = false;
    const following = (async () => {
      while (!isDone) for (const key of (await follower.read())?.keys ?? []) seen.add(key.id);
    })();
    const write = async (writer: KeyStore) => {
      for (let i = 0; i < 30; i++) await new KeyChanger(writer).create(WHOLE, PEPPER, () => {});
    };
    // Two transactions of libsql in one thread would wait for one another.
    if (options.url === undefined) for (const writer of writers) await write(writer);
    else await Promise.all(writers.map(write));
    isDone = true;
    await following;
    for (const key of (await follower.read())?.keys ?? []) seen.add(key.id);
    expect(seen.size).toBe(90);
    await follower.close();
    for (const writer of writers.slice(1)) await writer.close();
  });

  test('make, rotate, disable, revoke', async () => {
    let keyText = '';
    let id = '';
    const keep = (made: { key: StoredKey; keyText: string }) => {
      keyText = made.keyText;
      id = made.key.id;
    };
    await changer().create({ ...WHOLE, name: 'n' }, PEPPER, keep);
    const first = digestOf(keyText, PEPPER).toString('hex');
    expect(await store.find(id)).toMatchObject({ digestHex: first, generation: 1, state: 'active' });
    await changer().rotate(id, 60_000, PEPPER, keep);
    const second = digestOf(keyText, PEPPER).toString('hex');
    expect(await store.find(id)).toMatchObject({ digestHex: second, formerDigestHex: first, generation: 2 });
    await changer().rotate(id, 0, PEPPER, keep);
    expect(await store.find(id)).toMatchObject({ generation: 3, formerDigestHex: undefined });
    await changer().setState(id, 'disabled');
    await changer().setState(id, 'active');
    await changer().setState(id, 'revoked');
    for (const change of [
      () => changer().setState(id, 'active'),
      () => changer().rotate(id, 0, PEPPER, keep),
      () => changer().update(id, () => WHOLE),
    ])
      await expect(change()).rejects.toMatchObject({ kind: 'revoked' });
    await expect(changer().setState('nobody', 'active')).rejects.toMatchObject({ kind: 'unknown' });
  });

  test('a key is stored only if its text was kept; one store has one pepper', async () => {
    const fails = () => {
      throw new Error('the disk is full');
    };
    await expect(changer().create(WHOLE, PEPPER, fails)).rejects.toThrow('the disk is full');
    expect(await store.count()).toBe(0);
    expect((await store.head()).pepperCheck).toBeUndefined();
    await changer().create(WHOLE, PEPPER, () => {});
    expect((await store.head()).pepperCheck).toBe(pepperCheckOf(PEPPER));
    await expect(changer().create(WHOLE, 'another pepper', () => {})).rejects.toThrow('another pepper');
    expect(await store.count()).toBe(1);
  });

  test('keys of another store: refused if they are here, unless they may replace; the revoked stay so', async () => {
    await store.put(storedKey('a', { state: 'revoked' }));
    const given = [storedKey('a', { name: 'new' }), WHOLE];
    await expect(changer().import(given, PEPPER, false)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await store.count()).toBe(1);
    expect(await changer().import(given, PEPPER, true)).toBe(2);
    expect((await store.find('a'))?.state).toBe('revoked');
    expect((await store.find('a'))?.name).toBe('new');
    await expect(changer().import([storedKey('a', { id: 'z' })], PEPPER, true)).rejects.toMatchObject({
      kind: 'conflict',
    });
  });
});
