// One position without options is answered by a short way of its own, and as the whole program answers it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-one-'));
afterAll(() => rmSync(folder, { recursive: true }));
const COMMAND = resolve('dist/cli/main.js');

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const ran = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return [ran.status, ran.stdout, ran.stderr];
}

test.each([
  '21.0288,105.8525',
  '21.0288 105.8525',
  '21°01\'43.7"N 105°51\'09"E',
  '105.8525,21.0288',
  '0,0',
  '91,105',
  '21',
  '21.0288,105.8525,3',
  '8.6,111.9',
])('%s', (text) => {
  expect(run(['encode', text])).toEqual(run(['encode', text, '-q']));
});

test('the code of a position, and of one south of the equator a sentence', () => {
  expect(run(['encode', '21.0288,105.8525'])).toEqual([0, 'HN-6GHP4-83RFR\n', '']);
  expect(run(['encode', '-21.0288,105.8525'])[0]).toBe(1);
});

test('a file of this name is a file', () => {
  writeFileSync(join(folder, '21.0288,105.8525'), 'lat,lng\n21.0288,105.8525\n');
  const [status, stdout] = run(['encode', '21.0288,105.8525']);
  rmSync(join(folder, '21.0288,105.8525'));
  expect([status, stdout]).toEqual([0, expect.stringContaining('admin_code')]);
});

test('boundaries of the user that cannot be read are named', () => {
  const env = { HEXCODES_INDEX: join(folder, 'none.bin') };
  expect(run(['encode', '21.0288,105.8525'], env)).toEqual(run(['encode', '21.0288,105.8525', '-q'], env));
  expect(run(['encode', '21.0288,105.8525'], env)[0]).toBe(3);
});
