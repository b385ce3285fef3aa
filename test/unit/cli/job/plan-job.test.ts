// No job is planned, and no part converted, that would write over an input: whatever the paths, links and spellings
// are.
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JobFiles, type PlannedJob, planJob } from '#dist/cli/job/plan-job.js';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { convertPart } from '#dist/cli/job/work/convert-part.js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';

let root: string;
let shared: SharedFolder;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hexcodes-plan-'));
  for (const name of ['a/deep', 'b', 'out/a']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['x.csv', 'a/x.csv', 'a/deep/x.csv', 'b/y.csv'])
    writeFileSync(join(root, name), 'lat,lng\n21,105\n');
  shared = new SharedFolder(root);
});
afterEach(() => rmSync(root, { recursive: true }));

const planned = (files: readonly string[], output: string): Promise<PlannedJob> =>
  planJob(
    {
      ...{ files: files.map((name) => join(root, name)), output: join(root, output), partBytes: 1e6 },
      conversion: {
        ...{
          operation: 'encode',
          from: null,
          to: null,
          resolution: 12,
          isFormer: false,
          hasCertainty: false,
        },
        ...{ columns: { prefix: '' }, csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {} },
        errors: { kind: 'keep' },
      },
      isCode: () => false,
    },
    shared,
  );

test.each([
  ['a folder of all inputs', ['a/x.csv', 'b/y.csv'], '.'],
  ['the folder of one input', ['x.csv', 'a/x.csv'], 'a'],
  ['a folder above', ['a/deep/x.csv'], 'a'],
  ['the only folder', ['x.csv'], '.'],
  ['a way round', ['a/x.csv', 'b/y.csv'], 'a/../b/..'],
])('inputs in the output folder: %s', async (_, files, output) => {
  await expect(planned(files, output)).rejects.toThrow(/lies in the output folder/);
});

test('inputs that links bring into the output folder', async () => {
  symlinkSync('a', join(root, 'link'));
  symlinkSync('../a/x.csv', join(root, 'b/x.csv'));
  await expect(planned(['b/y.csv', 'link/x.csv'], 'a')).rejects.toThrow(/link\/x\.csv lies in the output/);
  await expect(planned(['b/y.csv', 'b/x.csv'], 'a')).rejects.toThrow(/b\/x\.csv lies in the output folder/);
  await expect(planned(['a/x.csv'], 'link')).rejects.toThrow(/lies in the output folder/);
});

test('an output that is an input by another name', async () => {
  linkSync(join(root, 'b/y.csv'), join(root, 'out/a/x.csv'));
  await expect(planned(['a/x.csv', 'b/y.csv'], 'out')).rejects.toThrow(
    /the input .*b\/y\.csv and the output .*out\/a\/x\.csv are one file/,
  );
});

test('an output folder among the inputs is none of them', async () => {
  mkdirSync(join(root, 'a/out'));
  const { plan, parts } = await planned(['a/x.csv', 'a/deep/x.csv'], 'a/out');
  expect([plan.output, parts.map(({ output }) => output)]).toEqual(['a/out', ['x.csv', 'deep/x.csv']]);
});

test('a part whose output would be its input is not converted', async () => {
  const { plan, parts } = await planned(['a/x.csv', 'b/y.csv'], 'out');
  const work = {
    ...{ plan: { ...plan, output: '.' }, part: parts[0]! },
    ...{ signal: new AbortController().signal, mayFinish: async () => true },
  };
  await expect(convertPart({} as Hexcodes, shared, 'w', work)).rejects.toThrow(
    'cannot write a/x.csv: it is the input',
  );
  expect(readFileSync(join(root, 'a/x.csv'), 'utf8')).toBe('lat,lng\n21,105\n');
});

test('whether case is ignored shows by the name of the output folder', () => {
  expect(new JobFiles(join(root, 'out')).isCaseIgnored).toBe(false);
  // As it is where case is ignored: one folder by both names.
  symlinkSync('b', join(root, 'B'));
  expect(new JobFiles(join(root, 'b')).isCaseIgnored).toBe(true);
  mkdirSync(join(root, 'b/2026'));
  expect(new JobFiles(join(root, 'b/2026')).isCaseIgnored).toBe(true);
});
