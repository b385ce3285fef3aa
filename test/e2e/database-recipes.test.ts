// The recipes for PostgreSQL and pandas, run as they stand in docs/recipes.md: against a server of its own, which this test
// starts where PostgreSQL is installed, and with the Python there is, where it has pandas.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/library/hexcodes.js';
import { CliFolder } from '../support/cli.js';
import { blocksOf } from '../support/page-blocks.js';
import { CODE_ROWS } from '../support/vectors.js';

const STOPS =
  'id,lat,lng\n1,21.0288,105.8525\n2,21.0289,105.8525\n3,10.7799,106.7\n4,48.9,2.3\n5,18.67,105.69\n';

const [tables = '', ...moreSql] = blocksOf('docs/recipes.md', 'sql').map(({ text }) => text);
const shells = blocksOf('docs/recipes.md', 'sh').map(({ text }) => text);
const loading = shells.find((text) => text.includes('psql')) ?? '';
const [python = ''] = blocksOf('docs/recipes.md', 'python').map(({ text }) => text);

test('the recipes are there', () => {
  expect([moreSql, tables.includes('CREATE TABLE stops'), loading !== '', python !== '']).toEqual([
    [],
    true,
    true,
    true,
  ]);
});

test('the CHECK of the table lets every code in', () => {
  const [, pattern = ''] = /~ '([^']+)'/.exec(tables) ?? [];
  const codes = CODE_ROWS.map(({ code }) => code);
  expect(codes.length).toBeGreaterThan(100);
  expect(codes.filter((code) => !new RegExp(pattern).test(code))).toEqual([]);
});

const PROGRAMS = '/usr/lib/postgresql';
const versions = existsSync(PROGRAMS) ? readdirSync(PROGRAMS) : [];
const programs = versions
  .map((version) => join(PROGRAMS, version, 'bin'))
  .find((path) => existsSync(join(path, 'initdb')));
const hasClient = spawnSync('psql', ['--version']).status === 0;

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const servant = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

test.skipIf(programs === undefined || !hasClient)('PostgreSQL (needs its server and psql)', async () => {
  const folder = new CliFolder();
  const home = mkdtempSync(join(tmpdir(), 'hexcodes-pg-'));
  if (servant.uid !== undefined) chownSync(home, servant.uid, servant.gid);
  const data = join(home, 'data');
  execFileSync(join(programs as string, 'initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '--no-sync'], {
    ...servant,
    cwd: home,
    stdio: 'ignore',
  });
  // By its socket only, and nothing of it outlives the test.
  const settings = ['-D', data, '-k', home, '-c', 'listen_addresses=', '-c', 'fsync=off'];
  const server = spawn(join(programs as string, 'postgres'), settings, {
    ...servant,
    cwd: home,
    stdio: 'pipe',
  });
  try {
    let log = '';
    const isReady = new Promise<void>((ready, failed) => {
      server.stderr.on('data', (bytes: Buffer) => {
        log += bytes.toString();
        if (log.includes('ready to accept connections')) ready();
      });
      server.on('exit', () => failed(new Error(log)));
    });
    await isReady;
    const env = environmentIn(folder, { PGHOST: home, PGUSER: 'tester', PGDATABASE: 'postgres' });
    const run = async (program: string, args: string[]): Promise<string> =>
      (await promisify(execFile)(program, args, { cwd: folder.path, env })).stdout;
    const ask = (sql: string): Promise<string> =>
      run('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', sql]);
    const [made = '', index = '', ...queries] = tables
      .replace(/^--.*$/gm, '')
      .split(';')
      .map((sql) => sql.trim())
      .filter((sql) => sql !== '');
    await ask(made);
    await ask(index);
    folder.write('stops.csv', STOPS);
    await run('bash', ['-o', 'pipefail', '-c', loading]);
    expect((await ask('SELECT id FROM stops ORDER BY id')).trim().split('\n')).toEqual(['1', '2', '3', '5']);
    expect(queries.length).toBe(4);
    for (const sql of queries) expect([sql, await ask(sql)]).toEqual([sql, expect.stringMatching(/\d/)]);
    const plan = await ask(`SET enable_seqscan = off; EXPLAIN ${queries[0]}`);
    expect(plan).toMatch(/Index Cond: .*hexcode >= 'HN-6GHP4'/);
    await expect(ask(`INSERT INTO stops VALUES (9, '21.0288')`)).rejects.toThrow('violates check constraint');
  } finally {
    server.kill('SIGINT');
    if (server.exitCode === null) await once(server, 'exit');
    rmSync(home, { recursive: true, force: true });
    folder.remove();
  }
});

const hasPandas = spawnSync('python3', ['-c', 'import pandas']).status === 0;

test.skipIf(!hasPandas)('pandas (needs Python with it)', async () => {
  const folder = new CliFolder();
  try {
    folder.write('stops.csv', STOPS);
    folder.write(
      'recipe.py',
      `${python}\nimport json\nprint(json.dumps([per_cell.to_dict(), list(stops.admin_code)]))\n`,
    );
    const [command = ''] = shells.filter((text) => text.includes('stops.hex.csv'));
    const env = environmentIn(folder, {});
    await promisify(execFile)('bash', ['-c', command], { cwd: folder.path, env });
    const { stdout } = await promisify(execFile)('python3', ['recipe.py'], { cwd: folder.path, env });
    const library = await Hexcodes.load();
    const cell = (lat: number, lng: number): string => library.encode(lat, lng).hexcodes.slice(0, 8);
    const perCell = { [cell(21.0288, 105.8525)]: 2, [cell(10.7799, 106.7)]: 1, [cell(18.67, 105.69)]: 1 };
    expect(JSON.parse(stdout)).toEqual([perCell, ['HN', 'HN', 'HCM', '', 'NA']]);
  } finally {
    folder.remove();
  }
});

/** Where the recipes find the command. */
function environmentIn(folder: CliFolder, more: Record<string, string>): NodeJS.ProcessEnv {
  const bin = folder.file('bin');
  mkdirSync(bin);
  const main = resolve('dist/cli/main.js');
  writeFileSync(join(bin, 'hexcodes'), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
  chmodSync(join(bin, 'hexcodes'), 0o755);
  return { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...more };
}
