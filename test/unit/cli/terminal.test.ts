// The file of `hexcodes bench --json`: an older one keeps its content until the new one is whole, and a faulty path
// is found out early.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ResultsOutput } from '#dist/cli/capacity/results-output.js';
import { planJson } from '#dist/cli/commands/plan.js';
import { ownFolder } from '../../support/own-folder.js';

test('in plans as JSON a figure without bound is a text, and null stays what was not measured', () => {
  const plan = { p99Us: { low: 1.5, high: Number.POSITIVE_INFINITY }, memory: null };
  expect(planJson(plan)).toBe('{"p99Us":{"low":1.5,"high":"Infinity"},"memory":null}\n');
});

describe('the file of results', () => {
  const folder = ownFolder('results');

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
    await expect(output.write('new')).rejects.toMatchObject({ name: 'CliFailure', exitCode: 4 });
  });

  test.each(['none/x.json', '', '.'])('%j cannot be written', (path) => {
    expect(() => new ResultsOutput(path === '' ? '' : join(folder, path))).toThrow(
      expect.objectContaining({ name: 'CliFailure', exitCode: 4 }),
    );
  });

  test('- is standard output', () => {
    expect(new ResultsOutput('-').isStandardOutput).toBe(true);
  });
});
