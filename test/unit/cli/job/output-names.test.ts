// The names of a job's outputs: those of the inputs, numbered for parts, and never two alike.
import { expect, test } from 'vitest';
import { outputNames } from '#dist/cli/job/plan-job.js';
import type { FileFormat } from '#dist/files/format.js';

const named = (...inputs: [string, FileFormat, number?][]): string[] =>
  outputNames(inputs.map(([path, format, partCount = 1]) => ({ path, format, partCount }))).flat();

test.each<[string, [string, FileFormat, number?][], string[]]>([
  ['one file', [['in/a/x.csv', 'csv']], ['x.csv']],
  [
    'several folders',
    [
      ['in/a/x.csv', 'csv'],
      ['in/b/x.csv', 'csv'],
    ],
    ['a/x.csv', 'b/x.csv'],
  ],
  [
    'a folder and one in it',
    [
      ['in/x.csv', 'csv'],
      ['in/b/x.csv', 'csv'],
    ],
    ['x.csv', 'b/x.csv'],
  ],
  [
    'folders of like beginnings',
    [
      ['in/ab/x.csv', 'csv'],
      ['in/ac/x.csv', 'csv'],
    ],
    ['ab/x.csv', 'ac/x.csv'],
  ],
  ['parts', [['x.parquet', 'parquet', 2]], ['x.0001.parquet', 'x.0002.parquet']],
  ['gzip stays', [['x.csv.gz', 'csv', 1]], ['x.csv.gz']],
  ['gzip in Parquet does not', [['x.csv.gz', 'parquet', 1]], ['x.parquet']],
  ['zstd, which is not written', [['x.csv.zst', 'csv', 1]], ['x.csv']],
  ['a workbook', [['x.xlsx', 'csv']], ['x.csv']],
  ['an ending that says nothing', [['x.log', 'ndjson']], ['x.log.ndjson']],
  ['the spelling of an ending stays', [['X.TXT', 'csv', 1]], ['X.TXT']],
  [
    'names that would be alike',
    [
      ['x.csv', 'csv'],
      ['x.parquet', 'csv'],
    ],
    ['x.csv.csv', 'x.parquet.csv'],
  ],
])('%s', (_, inputs, names) => {
  expect(named(...inputs)).toEqual(names);
});

test('numbers have as many digits as the last one', () => {
  expect(named(['x.csv', 'csv', 12_345]).at(0)).toBe('x.00001.csv');
});

test('names that stay alike are refused', () => {
  expect(() =>
    named(['x.csv', 'csv'], ['x.parquet', 'csv'], ['x.csv.csv', 'csv'], ['x.csv.csv.csv', 'csv']),
  ).toThrow(/would both become x\.csv\.csv/);
});

test('names that differ in case alone are alike where case is ignored', () => {
  const inputs = (...paths: string[]) =>
    paths.map((path) => ({ path, format: 'csv' as const, partCount: 1 }));
  const two = inputs('in/X.csv', 'in/x.ndjson');
  expect(outputNames(two)).toEqual([['X.csv'], ['x.csv']]);
  expect(outputNames(two, true)).toEqual([['X.csv.csv'], ['x.ndjson.csv']]);
  expect(() => outputNames(inputs('in/A/x.csv', 'in/a/X.csv'), true)).toThrow(/would both become/);
});

test('outputs are packed as their inputs are, where their format has no packing of its own', () => {
  expect(named(['x.csv.gz', 'csv'], ['y.csv.gz', 'ndjson'])).toEqual(['x.csv.gz', 'y.ndjson.gz']);
  expect(named(['x.csv.gz', 'parquet'], ['y.csv.gz', 'arrow'])).toEqual(['x.parquet', 'y.arrow']);
});
