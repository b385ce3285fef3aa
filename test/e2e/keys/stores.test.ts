// The stores of keys: the contract of both, the file in the data folder, and stores of other versions.

import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { becomes, logged, statusOf } from '../../support/http-calls.js';
import {
  allOf,
  digestOf,
  Follower,
  KeyChanger,
  type KeyStore,
  openFollowedStore,
  openOrMakeStore,
  openStore,
  PEPPER,
  pepperCheckOf,
  type StoredKey,
  type StoreOptions,
  storedKey,
} from '../../support/keys.js';
import { noPostgres, Postgres } from '../../support/postgres.js';
import { startServer, type TestServer } from '../../support/server.js';
import { ownFolder, sharedCommand } from '../../support/shared.js';

const root = ownFolder('stores');

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(root, 'data-'));
});

const file = (name: string) => join(dir, name);

const command = sharedCommand();

/** `hexcodes keys …` on a data folder. */
async function keys(args: string[], dataDir = dir) {
  const { code, stdout, stderr } = await command.run(['keys', ...args, '--data-dir', dataDir]);
  return { code, stdout, stderr };
}

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

describe.each(STORES)('%s', (name, skip, fresh) => {
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

  const changed = async (followed: KeyStore, after: number) =>
    (await allOf(followed.changedKeys(after))).flat();

  // libsql has no sessions that outlast a call.
  if (name !== 'libsql')
    test('the database gives up a change that waited too long, too', async () => {
      const other = await openStore(options);
      await other.inTransaction(async () => {
        await expect(store.put(WHOLE)).rejects.toThrow(/timeout/);
        const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        await expect.poll(() => Number(postgres!.sql(waiting))).toBe(0);
      });
      await other.close();
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
    expect((await changed(store, numbers[1]!)).map(({ id }) => id)).toEqual(['b']);
    await step(() => store.put(storedKey('a', { state: 'disabled' })));
    expect((await changed(store, numbers[2]!)).map(({ id }) => id)).toEqual(['a']);
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
      const pages = await allOf(follower.read());
      return [
        pages.flatMap(({ keys }) => keys.map(({ id }) => id)),
        pages.flatMap(({ removedIds }) => removedIds),
      ];
    };
    await store.put(storedKey('a'));
    await store.put(storedKey('b', { id: 'b' }));
    expect(await ids()).toEqual([['a', 'b'], []]);
    expect(await ids()).toEqual([[], []]);
    await store.put(storedKey('a', { state: 'disabled' }));
    expect(await ids()).toEqual([['a'], []]);
    await store.touch(new Map([['b', 7]]));
    expect(await ids()).toEqual([[], []]);
    await store.removeAll();
    await store.put(storedKey('c', { id: 'c' }));
    expect(await ids()).toEqual([['c'], ['a', 'b']]);
    await follower.close();
    expect(await ids()).toEqual([[], []]);
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
      while (!isDone)
        for (const key of (await allOf(follower.read())).flatMap(({ keys }) => keys)) seen.add(key.id);
    })();
    const write = async (writer: KeyStore) => {
      for (let i = 0; i < 30; i++) await new KeyChanger(writer).create(WHOLE, PEPPER, () => {});
    };
    // Two transactions of libsql in one thread would wait for one another.
    if (options.url === undefined) for (const writer of writers) await write(writer);
    else await Promise.all(writers.map(write));
    isDone = true;
    await following;
    for (const key of (await allOf(follower.read())).flatMap(({ keys }) => keys)) seen.add(key.id);
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

describe('the file in the data folder', () => {
  const readiness = async (server: TestServer) => {
    const answer = await fetch(`http://127.0.0.1:${server.adminPort}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };

  const made = async (name: string) => (await keys(['create', '--name', name, '--show'])).stdout.trim();

  test('a backup moved over the store: its keys hold, and only these', async () => {
    const server = await startServer({ dataDir: dir });
    const old = await made('old');
    await becomes(server, old, 200);
    expect(readdirSync(dir).filter((name) => name.startsWith('keys.db'))).toEqual(['keys.db']);
    copyFileSync(file('keys.db'), file('backup.db'));
    const late = await made('late');
    await becomes(server, late, 200);
    renameSync(file('backup.db'), file('keys.db'));
    await becomes(server, late, 401);
    expect(await statusOf(server, old)).toBe(200);
    expect((await keys(['list'])).stdout).not.toContain('late');
    // A change of the replacement holds as well.
    const id = (await keys(['list'])).stdout.match(/^(\w+)\t.*\told$/m)?.[1] as string;
    expect((await keys(['revoke', id])).code).toBe(0);
    await becomes(server, old, 401);
    await server.stop();
  });

  test.each([
    ['removed', () => rmSync(file('keys.db'))],
    ['cut to nothing', () => writeFileSync(file('keys.db'), '')],
    // In one step: a file that is emptied first may be found empty, which is another fault.
    ['overwritten', () => writeFileSync(file('keys.db'), 'garbage'.repeat(5000), { flag: 'r+' })],
  ] as const)(
    'a store that is %s: said once in log and readiness, and the keys read last hold',
    async (_, harm) => {
      const server = await startServer({ dataDir: dir });
      copyFileSync(file('keys.db'), file('backup.db'));
      expect(await readiness(server)).toBe('200 ready\n');
      harm();
      await logged(server, 'the key store cannot be read');
      expect(await readiness(server)).toMatch(/^200 ready\nwarning: .*keys\.db.*\n$/);
      await sleep(700);
      expect(server.log().split('the key store cannot be read')).toHaveLength(2);
      expect(await statusOf(server, server.key)).toBe(200);
      renameSync(file('backup.db'), file('keys.db'));
      await logged(server, 'the key store can be read again');
      expect(await readiness(server)).toBe('200 ready\n');
      expect(await statusOf(server, server.key)).toBe(200);
      await server.stop();
    },
  );

  test('a damaged store, a lost pepper: the start is refused with a sentence that names the file', async () => {
    const server = await startServer({ dataDir: dir });
    await server.stop();
    const pepper = readFileSync(file('pepper'));
    for (const left of [undefined, '']) {
      rmSync(file('pepper'), { force: true });
      if (left !== undefined) writeFileSync(file('pepper'), left);
      await expect(startServer({ dataDir: dir })).rejects.toThrow(/pepper is (missing|empty), .*backup/);
      expect(await keys(['create', '--name', 'x', '--show'])).toMatchObject({ code: 1, stdout: '' });
      if (left === undefined) expect(readdirSync(dir)).not.toContain('pepper');
      else expect(readFileSync(file('pepper'), 'utf8')).toBe('');
    }
    writeFileSync(file('pepper'), pepper);
    writeFileSync(file('keys.db'), 'garbage'.repeat(1000));
    await expect(startServer({ dataDir: dir })).rejects.toThrow(/^\S+keys\.db is damaged, or no key store/);
    const listed = await keys(['list']);
    expect(listed.stderr).toMatch(/^hexcodes: \S+keys\.db is damaged/);
    expect(listed.code).toBe(1);
  });

  test('an empty pepper beside an empty store, as a full disk left it, is replaced by a new one', async () => {
    writeFileSync(file('pepper'), '');
    const server = await startServer({ dataDir: dir });
    expect(await statusOf(server, server.key)).toBe(200);
    await server.stop();
  });

  test('only `keys init` and the service make a store', async () => {
    const nowhere = file('nowhere');
    for (const args of [
      ['create', '--name', 'x', '--show'],
      ['list'],
      ['enable', 'x'],
      ['disable', 'x'],
      ['revoke', 'x'],
    ]) {
      const { code, stdout, stderr } = await keys(args, nowhere);
      expect(code, args.join(' ')).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain('there is no key store in');
    }
    expect(readdirSync(dir)).toEqual([]);
    expect((await keys(['init'], nowhere)).code).toBe(0);
    expect(readdirSync(nowhere).sort()).toEqual(['keys.db', 'pepper']);
    for (const name of readdirSync(nowhere)) expect(statSync(join(nowhere, name)).mode & 0o777).toBe(0o600);
    const pepper = readFileSync(join(nowhere, 'pepper'), 'utf8');
    expect((await keys(['init'], nowhere)).code).toBe(0);
    expect(readFileSync(join(nowhere, 'pepper'), 'utf8')).toBe(pepper);
    expect(await keys(['list'], nowhere)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('the first key is offered only while it is admitted', async () => {
    const server = await startServer({ dataDir: dir });
    expect(server.key).not.toBe('');
    await server.stop();
    const id = (await keys(['list'])).stdout.split('\t')[0] as string;
    await keys(['revoke', id]);
    const again = await startServer({ dataDir: dir });
    expect(again.key).toBe('');
    await again.stop();
  });

  test('--out that cannot be written leaves neither a file nor a key', async () => {
    await keys(['init']);
    mkdirSync(file('out'));
    for (const out of [file('out'), join(file('none'), 'key')]) {
      expect((await keys(['create', '--name', 'x', '--out', out])).code).toBe(1);
    }
    expect(readdirSync(file('out'))).toEqual([]);
    const there = await keys(['create', '--name', 'x', '--out', file('pepper')]);
    expect([there.code, there.stderr]).toEqual([
      1,
      expect.stringContaining(`cannot write ${file('pepper')}: it is there already`),
    ]);
    expect(readdirSync(dir).sort()).toEqual(['keys.db', 'out', 'pepper']);
    expect((await keys(['list'])).stdout).toBe('');
  });

  test('a data folder that others can write to: a warning in the log and of the command', async () => {
    chmodSync(dir, 0o777);
    const server = await startServer({ dataDir: dir });
    expect(server.log()).toContain('other users can write to the data folder');
    expect((await keys(['list'])).stderr).toContain('mode 0777');
    await server.stop();
  });

  const canMount = spawnSync('sh', ['-c', 'unshare -m true']).status === 0;

  /** Runs a script in a mount namespace of its own, with a tmpfs of 256 KB on `$DISK`. */
  function onOwnDisk(script: string) {
    const whole = `mount -t tmpfs -o size=256k,mode=700 none "$DISK" || exit 99\n${script}`;
    const env = { ...process.env, DISK: dir, NODE: process.execPath, MAIN: 'dist/cli/main.js' };
    return spawnSync('sh', ['-c', 'exec unshare -m sh -c "$0"', whole], { encoding: 'utf8', env });
  }

  describe.skipIf(!canMount)('disks (needs root)', () => {
    test('a read-only folder: keys can be listed; a change is refused with a sentence', () => {
      const { stdout, stderr } = onOwnDisk(`
      "$NODE" "$MAIN" keys init --data-dir "$DISK" 2>/dev/null
      "$NODE" "$MAIN" keys create --name fleet --show --data-dir "$DISK" >/dev/null 2>&1
      mount -o remount,ro "$DISK"
      "$NODE" "$MAIN" keys list --data-dir "$DISK"
      "$NODE" "$MAIN" keys create --name no --show --data-dir "$DISK"
      echo "exit $?"`);
      expect(stdout).toMatch(/^\w+\tactive\t\S+\tfleet\nexit 1\n$/);
      expect(stderr).toMatch(/^hexcodes: \S+keys\.db cannot be written: it is read-only/);
    });

    // Usage has a warning of its own on a full disk (test/e2e/usage/store.test.ts), which is left out here.
    test('a disk that fills up under a running service: answers go on, log and readiness say so, until there is room', () => {
      const { stdout } = onOwnDisk(`
      "$NODE" "$MAIN" serve --port 0 --admin-port 0 --data-dir "$DISK" >/dev/shm/log.$$ 2>/dev/null &
      server=$!
      wait_for() { for i in $(seq 600); do grep -q "$1" /dev/shm/log.$$ && return; sleep 0.1; done; echo "no $1"; }
      wait_for '"listening"'
      port() { sed -n "s/.*\\"$1\\":\\([0-9]*\\).*/\\1/p" /dev/shm/log.$$ | head -1; }
      ask() { "$NODE" -e '
        const key = require("node:fs").readFileSync(process.env.DISK + "/first-key", "utf8").trim();
        const [port, admin] = process.argv.slice(1);
        Promise.all([
          fetch("http://127.0.0.1:" + port + "/v1/meta", { headers: { "X-API-Key": key } }),
          fetch("http://127.0.0.1:" + admin + "/readyz").then((a) => a.text()),
        ]).then(([a, ready]) => console.log(a.status, ready.split("\\n").filter((line) => line === "ready" || line.includes("keys.db")).join(" | ").replace(/\\(.*/, "")));
      ' "$(port port)" "$(port admin_port)"; }
      head -c 262144 /dev/zero > "$DISK/ballast" 2>/dev/null
      ask >/dev/null
      wait_for 'the key store cannot be written'
      ask
      rm "$DISK/ballast"
      wait_for 'the key store can be written again'
      ask
      kill $server; wait $server; rm /dev/shm/log.$$`);
      expect(stdout.replaceAll(dir, 'DIR')).toMatch(
        /^200 ready \| warning: DIR\/keys\.db cannot be (read or )?written.*\n200 ready\n$/,
      );
    });

    test('a full disk: no empty file is left, the sentence says so, and with room again the start succeeds', () => {
      const { stdout, stderr } = onOwnDisk(`
      head -c 262144 /dev/zero > "$DISK/ballast"
      "$NODE" "$MAIN" serve --port 0 --admin-port 0 --data-dir "$DISK" >/dev/null
      echo "exit $?"
      find "$DISK" -name 'pepper*' -o -name 'first-key*'
      rm "$DISK/ballast"
      "$NODE" "$MAIN" keys init --data-dir "$DISK" 2>/dev/null
      echo "exit $?"
      head -c 262144 /dev/zero > "$DISK/ballast" 2>/dev/null
      "$NODE" "$MAIN" keys create --name no --out "$DISK/key" --data-dir "$DISK"
      echo "exit $?"
      find "$DISK" -name 'key*' -not -name keys.db`);
      expect(stdout).toBe('exit 1\nexit 0\nexit 1\n');
      expect(stderr).not.toContain('[object Object]');
      expect(stderr.match(/^hexcodes: .*full/gm)).toHaveLength(2);
    });
  });
});

describe('versions', () => {
  const shown = async (id: string) =>
    JSON.parse((await keys(['show', id, '--json'])).stdout) as Record<string, unknown>;

  async function statusOfKey(text: string): Promise<number> {
    const server = await startServer({ dataDir: dir });
    const status = await statusOf(server, text);
    await server.stop();
    return status;
  }

  /** A store as version 0.2.0 made it. */
  function makeOldStore(keyText: string): void {
    writeFileSync(file('pepper'), `${'0'.repeat(64)}\n`, { mode: 0o600 });
    const db = new Database(file('keys.db'));
    db.exec(`CREATE TABLE api_key (id TEXT PRIMARY KEY, name TEXT NOT NULL, digest BLOB NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')), created_ms INTEGER NOT NULL) STRICT`);
    const insert = db.prepare('INSERT INTO api_key VALUES (?, ?, ?, ?, ?)');
    insert.run('old', 'Old key', digestOf(keyText, '0'.repeat(64)), 'active', 1_700_000_000_000);
    insert.run('gone', 'Gone', Buffer.alloc(32), 'revoked', 1_700_000_000_001);
    db.close();
  }

  test('of 0.2.0: opened, its keys admitted for all but admin, brought up to date once', async () => {
    makeOldStore('a text of the old version');
    expect(await statusOfKey('a text of the old version')).toBe(200);
    expect(await shown('old')).toMatchObject({
      name: 'Old key',
      scopes: ['encode', 'decode', 'bulk', 'lookup'],
      created: '2023-11-14T22:13:20.000Z',
      expires: null,
      limits: {},
      generation: 1,
    });
    expect((await shown('gone')).state).toBe('revoked');
    const bytes = readFileSync(file('keys.db'));
    await keys(['list']);
    expect(readFileSync(file('keys.db')).equals(bytes)).toBe(true);
  });

  test('of 0.2.0, by three commands at once', async () => {
    makeOldStore('text');
    const list = ['dist/cli/main.js', 'keys', 'list', '--data-dir', dir];
    const done = await Promise.all(
      Array.from(
        { length: 3 },
        () =>
          new Promise<number>((resolve) =>
            execFile(process.execPath, list, (error) => resolve(error === null ? 0 : 1)),
          ),
      ),
    );
    expect(done).toEqual(new Array(3).fill(0));
  });

  test('of a later version: refused with a sentence, and left as it is', async () => {
    await keys(['init']);
    const db = new Database(file('keys.db'));
    db.pragma('user_version = 99');
    db.close();
    const bytes = readFileSync(file('keys.db'));
    for (const args of [['list'], ['init'], ['create', 'x', '--show']]) {
      const { code, stderr } = await keys(args);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('was written by a later version of hexcodes'),
      ]);
    }
    await expect(startServer({ dataDir: dir })).rejects.toThrow('was written by a later version');
    expect(readFileSync(file('keys.db')).equals(bytes)).toBe(true);
  });
});
