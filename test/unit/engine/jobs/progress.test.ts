// The progress of a job, and its manifest: every part once, the same bytes whatever the order of the results.
import { expect, test } from 'vitest';
import type { JobPlan, PartResult } from '#dist/bus/jobs/job.js';
import { endOf, manifestOf, progressAtEnd, progressOf } from '#dist/bus/jobs/job-progress.js';
import type { JobEnd } from '#dist/bus/jobs/job-store.js';

const plan: JobPlan = {
  ...{ id: 'abc', version: '1', operation: 'encode', output: 'out', files: 2, parts: 3, sizeBytes: 3000 },
  ...{ partsDigest: '', conversion: { resolution: 12 } },
};
const done = (part: number, rows: number, failed: Record<string, number> = {}): PartResult => ({
  ...{
    job: 'abc',
    part,
    input: 'in/x.csv',
    range: null,
    inputBytes: 1000,
    elapsedMs: 500,
    worker: `w${part}`,
    reason: null,
  },
  output: { name: `x.${part}.csv`, rows, failed, sizeBytes: 10, sha256: `${part}` },
});
const failed = (part: number): PartResult => ({ ...done(part, 0), output: null, reason: 'it is damaged' });

test('rates are those of the last two minutes, up to the last result of a job that is done', () => {
  const stored = [
    { result: done(1, 100, { NOT_FOUND: 2 }), atMs: 1_000_000 },
    { result: failed(3), atMs: 1_900_000 },
  ];
  const progress = progressOf(plan, stored, 2_000_000);
  expect(progress).toMatchObject({ doneParts: 2, rows: 100, failedRows: 2, share: 2 / 3, rowsPerS: 0 });
  expect(progress.bytesPerS).toBeCloseTo(1000 / 120);
  expect(progress.leftMs).toBeCloseTo(120_000);
  expect(progress.failures).toEqual([failed(3)]);
  const last = [...stored, { result: done(2, 300), atMs: 1_900_500 }];
  expect(progressOf(plan, last, 9_000_000)).toMatchObject({ share: 1, leftMs: null, rowsPerS: 400 / 901 });
});

test('a clock behind that of the servers makes no rate immense', () => {
  const stored = [
    { result: { ...done(1, 100), elapsedMs: 10_000 }, atMs: 1_000_000 },
    { result: { ...done(2, 100), elapsedMs: 10_000 }, atMs: 1_010_000 },
  ];
  expect(progressOf(plan, stored, 900_000)).toMatchObject({ rowsPerS: 10, bytesPerS: 100, leftMs: 10_000 });
});

test('of a job that has ended the progress is kept, with the numbers of its failed parts', () => {
  const stored = [done(1, 100, { NOT_FOUND: 2 }), failed(2), done(3, 50)].map((result, i) => ({
    ...{ result, atMs: 1_000_000 + 1000 * i },
  }));
  const progress = progressOf(plan, stored, 5_000_000);
  const end = endOf(progress)!;
  expect(end.failed).toEqual([2]);
  expect(progressAtEnd(plan, JSON.parse(JSON.stringify(end)) as JobEnd, [failed(2)])).toEqual(progress);
  const failures = Array.from({ length: 10_001 }, (_, i) => failed(i + 1));
  expect(endOf({ ...progress, failures })).toBeUndefined();
});

test('nothing done yet', () => {
  expect(progressOf(plan, [], 5)).toMatchObject({ doneParts: 0, share: 0, rowsPerS: 0, leftMs: null });
});

test('the manifest', () => {
  const results = [
    done(1, 100, { NOT_FOUND: 2 }),
    failed(2),
    done(3, 50, { NOT_FOUND: 1, INVALID_REQUEST: 4 }),
  ];
  const text = manifestOf(plan, results);
  expect(manifestOf(plan, [...results].reverse())).toBe(text);
  expect(JSON.parse(text)).toEqual({
    ...{ job: 'abc', version: '1', operation: 'encode', conversion: { resolution: 12 }, files: 2, rows: 150 },
    ...{ failed: { NOT_FOUND: 3, INVALID_REQUEST: 4 }, failedParts: 1 },
    parts: [
      {
        ...{ part: 1, input: 'in/x.csv', range: null, output: 'x.1.csv', rows: 100 },
        ...{ failed: { NOT_FOUND: 2 }, sizeBytes: 10, sha256: '1' },
      },
      { part: 2, input: 'in/x.csv', range: null, output: null, reason: 'it is damaged' },
      {
        ...{ part: 3, input: 'in/x.csv', range: null, output: 'x.3.csv', rows: 50 },
        ...{ failed: { NOT_FOUND: 1, INVALID_REQUEST: 4 }, sizeBytes: 10, sha256: '3' },
      },
    ],
  });
  // A line a part.
  expect(text.split('\n').filter((line) => line.includes('"part":'))).toHaveLength(3);
});
