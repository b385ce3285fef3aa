// A key store that somebody has edited by other programs: what is odd is named with file and key, nothing of it reaches
// a terminal as it is, and no statement of others is run.
import { rmSync } from 'node:fs';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteStore, storePath } from '#dist/server/keys/store/sqlite-store.js';
import { CliFolder } from '../../support/cli.js';
import { storedKey } from '../../support/keys.js';

let folder: CliFolder;
beforeEach(async () => {
  folder = new CliFolder();
  const store = SqliteStore.openOrMake(folder.path);
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
  '',
  '{',
  '[',
  'nul',
  'null',
  '1',
  '"a"',
  '{}',
  '[]',
  '[1]',
  '[null]',
  '{"pointsPerDay":"many"}',
  '{"a":-1}',
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
    const store = SqliteStore.open(folder.path);
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
      expect.stringContaining(`key "k2": ${column} is no time`),
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
])('%s is refused by name', (_, sql) => {
  edited(sql);
  expect(() => SqliteStore.open(folder.path)).toThrow(
    new RegExp(`^${storePath(folder.path)} has a (view|trigger) "\\w+", which is not of hexcodes`),
  );
});

test("views of an operator beside the tables are nobody's business", async () => {
  edited('CREATE VIEW active AS SELECT id FROM api_key');
  const store = SqliteStore.open(folder.path);
  expect(await store.count()).toBe(2);
  await store.close();
  rmSync(storePath(folder.path));
});
