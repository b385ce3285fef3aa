// A usage.db that somebody has edited by other programs: no statement of others is run, and what is odd is named with
// its file, by the service's thread and by the command.
import { rmSync, writeFileSync } from 'node:fs';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteUsage, usagePath } from '#dist/server/usage/store/sqlite-usage.js';
import { CliFolder } from '../../support/cli.js';

let folder: CliFolder;
beforeEach(async () => {
  folder = new CliFolder();
  const store = SqliteUsage.openOrMake(folder.path);
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
  for (const open of [SqliteUsage.open, SqliteUsage.openOrMake])
    expect(() => open(folder.path)).toThrow(
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
])('%s is no store of usage', async (_, kind) => {
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
