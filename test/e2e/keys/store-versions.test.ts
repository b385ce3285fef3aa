// Embedded stores of other versions: that of 0.2.0 is brought up to date, a later one is refused.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#dist/server/keys/secret.js';
import { startServer } from '../../support/server.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-versions-'));
afterAll(() => rmSync(root, { recursive: true }));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(root, 'data-'));
});
const file = (name: string) => join(dir, name);

function keys(args: string[]) {
  const all = ['dist/cli/main.js', 'keys', ...args, '--data-dir', dir];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

const shown = (id: string) => JSON.parse(keys(['show', id, '--json']).stdout) as Record<string, unknown>;

async function statusOf(text: string): Promise<number> {
  const server = await startServer({ dataDir: dir });
  const { status } = await fetch(`${server.base}/v1/meta`, { headers: { 'X-API-Key': text } });
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

test('of 0.2.0: opened, its keys let in for all but admin, brought up to date once', async () => {
  makeOldStore('a text of the old version');
  expect(await statusOf('a text of the old version')).toBe(200);
  expect(shown('old')).toMatchObject({
    name: 'Old key',
    scopes: ['encode', 'decode', 'bulk', 'lookup'],
    created: '2023-11-14T22:13:20.000Z',
    expires: null,
    limits: {},
    generation: 1,
  });
  expect(shown('gone').state).toBe('revoked');
  const bytes = readFileSync(file('keys.db'));
  keys(['list']);
  expect(readFileSync(file('keys.db')).equals(bytes)).toBe(true);
});

test('of 0.2.0, by eight commands at once', async () => {
  makeOldStore('text');
  const list = ['dist/cli/main.js', 'keys', 'list', '--data-dir', dir];
  const done = await Promise.all(
    Array.from(
      { length: 8 },
      () =>
        new Promise<number>((resolve) =>
          execFile(process.execPath, list, (error) => resolve(error === null ? 0 : 1)),
        ),
    ),
  );
  expect(done).toEqual(new Array(8).fill(0));
});

test('of a later version: refused with a sentence, and left as it is', async () => {
  keys(['init']);
  const db = new Database(file('keys.db'));
  db.pragma('user_version = 99');
  db.close();
  const bytes = readFileSync(file('keys.db'));
  for (const args of [['list'], ['init'], ['create', 'x', '--show']]) {
    const { code, stderr } = keys(args);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('was written by a later version of hexcodes'),
    ]);
  }
  await expect(startServer({ dataDir: dir })).rejects.toThrow('was written by a later version');
  expect(readFileSync(file('keys.db')).equals(bytes)).toBe(true);
});
