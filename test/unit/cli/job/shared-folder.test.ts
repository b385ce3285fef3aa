// A job reads and writes below its shared folder only, whatever its messages name and wherever links lead; patterns
// find files.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { filesOf } from '#dist/cli/job/submit-job.js';

let outer: string;
let root: string;
let shared: SharedFolder;
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), 'hexcodes-shared-'));
  root = join(outer, 'root');
  for (const name of ['root/in/b', 'root/out', 'elsewhere'])
    mkdirSync(join(outer, name), { recursive: true });
  for (const name of [
    'root/in/x.csv',
    'root/in/y.csv',
    'root/in/b/x.csv',
    'root/in/.z.csv',
    'elsewhere/x.csv',
  ])
    writeFileSync(join(outer, name), 'lat,lng\n');
  symlinkSync(join(outer, 'elsewhere'), join(root, 'link'));
  symlinkSync(join(outer, 'elsewhere'), join(root, 'out/link'));
  symlinkSync(join(root, 'in'), join(root, 'out/inner'));
  shared = new SharedFolder(root);
});
afterEach(() => rmSync(outer, { recursive: true }));

test('names are relative, without links', () => {
  expect(shared.nameOf(join(root, 'in/x.csv'))).toBe('in/x.csv');
  expect(shared.nameOf(join(root, 'out/inner/x.csv'))).toBe('in/x.csv');
  expect(shared.nameOf(root)).toBe('.');
  expect(() => shared.nameOf(join(outer, 'elsewhere/x.csv'))).toThrow(/is not below the shared folder/);
  expect(() => shared.nameOf(join(root, 'link/x.csv'))).toThrow(/is not below the shared folder/);
  expect(() => shared.nameOf(join(root, 'none'))).toThrow(/no such file/);
});

test.each(['../elsewhere/x.csv', '/etc/passwd', 'link/x.csv', 'in/../../elsewhere/x.csv'])(
  'the input %s is refused',
  (name) => {
    expect(() => shared.inputPath(name)).toThrow(/not below the shared folder/);
  },
);

test.each([
  ['out', '../x.csv'],
  ['out', '../out2/x.csv'],
  ['out', '/etc/x.csv'],
  ['out', 'link/x.csv'],
  ['out', 'link/new/x.csv'],
  ['out', 'inner/x.csv'],
  ['../elsewhere', 'x.csv'],
  ['link', 'x.csv'],
])('the output %s, %s is refused', (folder, name) => {
  expect(() => shared.outputPath(folder, name)).toThrow(/below|leads out/);
  expect(readdirSync(join(outer, 'elsewhere'))).toEqual(['x.csv']);
});

test('folders of outputs are made', () => {
  expect(shared.outputPath('out', 'a/b/x.csv')).toBe(join(shared.path, 'out/a/b/x.csv'));
  expect(readdirSync(join(root, 'out/a'))).toEqual(['b']);
});

test('patterns', () => {
  const found = (...patterns: string[]): string[] =>
    filesOf(patterns.map((pattern) => join(root, pattern))).map((path) => path.slice(root.length + 1));
  expect(found('in/*.csv')).toEqual(['in/x.csv', 'in/y.csv']);
  expect(found('in/**/*.csv')).toEqual(['in/b/x.csv', 'in/x.csv', 'in/y.csv']);
  expect(found('*/x.csv', 'in/?.csv', 'in/x.csv')).toEqual(['in/x.csv', 'in/y.csv', 'link/x.csv']);
  expect(found('in/.*.csv')).toEqual(['in/.z.csv']);
  expect(() => found('in/*.parquet')).toThrow(/there is no such file/);
  expect(() => found('in')).toThrow(/it is a folder/);
});
