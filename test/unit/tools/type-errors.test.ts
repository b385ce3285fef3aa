// `npm run check` compiles every workspace: a type error that is planted in each of them is reported for
// each.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

const WORKSPACES = readdirSync('src');
const PLANTED = 'export const planted: number = "a text";\n';

test('npm run check fails on a type error in each workspace', () => {
  for (const name of ['src', 'tsconfig.json', 'package.json']) {
    cpSync(name, join(folder, name), { recursive: true, filter: (path) => !/^src\/\w+\/dist$/.test(path) });
  }
  execFileSync(process.execPath, ['tools/link-packages.mjs', '.', folder]);
  for (const name of WORKSPACES) writeFileSync(join(folder, 'src', name, 'planted.ts'), PLANTED);
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { check: string } };
  const configs = [...scripts.check.matchAll(/\btsc(?: -p (\S+))?/g)].map(([, config]) => config ?? '.');
  const reports = configs.map((config) => {
    const args = [resolve('node_modules/typescript/bin/tsc'), '-p', config];
    return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout;
  });
  const faulty = [...reports.join('').matchAll(/^src\/(\w+)\/planted\.ts\(1,14\): error TS2322/gm)];
  expect(faulty.map(([, name]) => name).sort()).toEqual([...WORKSPACES].sort());
  expect(reports.join('').match(/: error TS/g)).toHaveLength(WORKSPACES.length);
});
