// The file of `hexcodes bench --json`: an older one keeps its content until the new one is whole, and a faulty path is
// found out early.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ResultsOutput } from '#dist/cli/capacity/results-output.js';
import { CliFailure, EXIT } from '#dist/files/exit-codes.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-results-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('before the write nothing is changed or left behind, after it the new text is whole', async () => {
  const path = join(folder, 'old.json.gz');
  writeFileSync(path, 'old', { mode: 0o640 });
  const output = new ResultsOutput(path);
  expect(output.isStandardOutput).toBe(false);
  expect(readdirSync(folder)).toEqual(['old.json.gz']);
  expect(readFileSync(path, 'utf8')).toBe('old');
  await output.write('new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['old.json.gz']);
});

test('a write that fails late leaves nothing behind', async () => {
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  const output = new ResultsOutput(join(inner, 'x.json'));
  rmSync(inner, { recursive: true });
  await expect(output.write('new')).rejects.toMatchObject({ exitCode: EXIT.BAD_OUTPUT });
});

test.each(['none/x.json', '', '.'])('%j cannot be written', (path) => {
  expect(() => new ResultsOutput(path === '' ? '' : join(folder, path))).toThrow(CliFailure);
});

test('- is standard output', () => {
  expect(new ResultsOutput('-').isStandardOutput).toBe(true);
});
