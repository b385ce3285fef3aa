// Messages of jobs are read by a schema: known members, known values, bounded sizes, the job and part of their subject,
// and a plan whose id is its digest.
import { expect, test } from 'vitest';
import { type JobPlan, JobSubjects } from '#dist/bus/jobs/job.js';
import { idOfPlan } from '#dist/bus/jobs/job-digest.js';
import { isMark, MOST_FAILED, readEnd, readPart, readPlan, readResult } from '#dist/bus/jobs/read-job.js';
import { SchemaFault } from '#dist/bus/schema.js';
import { JOB_CHECKS } from '#dist/cli/job/job-conversion.js';
import { VERSION } from '#dist/hexcodes/version.js';

const conversion = {
  ...{ operation: 'encode', from: 'csv', to: null, resolution: 12, isFormer: false },
  ...{
    columns: { lat: 'y', prefix: '', keep: ['a'] },
    csv: { delimiter: ';', decimal: ',', hasHeader: true },
  },
  ...{ input: { encoding: 'windows-1258', sheet: '2' }, errors: { kind: 'stop' } },
};
const shape: Omit<JobPlan, 'id'> = {
  ...{ version: VERSION, operation: 'encode', output: 'out/deep', files: 1, parts: 2, sizeBytes: 1000 },
  ...{ partsDigest: '0'.repeat(32), conversion },
};
const bytesOf = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
/** A value with another member at a path as `csv.decimal`; undefined takes it away. */
function changed<T extends object>(value: T, path: string, member: unknown): T {
  const copy = structuredClone(value) as Record<string, unknown>;
  const steps = path.split('.');
  let at = copy;
  for (const step of steps.slice(0, -1)) at = at[step] as Record<string, unknown>;
  Object.defineProperty(at, steps.at(-1)!, { value: member, enumerable: true, configurable: true });
  if (member === undefined) delete at[steps.at(-1)!];
  return copy as T;
}
/** A plan whose id is right. */
const planWith = (path: string, member: unknown): JobPlan => {
  const other = changed(shape, path, member);
  return { id: idOfPlan(other), ...other };
};
const read = (plan: JobPlan, job = plan.id): JobPlan => readPlan(job, bytesOf(plan), JOB_CHECKS);

test('a plan as submit writes it, whatever the order of its members', () => {
  const plan = { id: idOfPlan(shape), ...shape };
  expect(read(plan)).toEqual(plan);
  expect(read(Object.fromEntries(Object.entries(plan).reverse()) as unknown as JobPlan)).toEqual(plan);
});

test.each([
  ['conversion.errors', { kind: 'file', path: '/etc/x' }],
  ['conversion.errors', { kind: 'keep', path: 'x' }],
  ['conversion.errors.kind', 'file'],
  ['conversion.threads', 4],
  ['conversion.sort', { memoryBytes: 1e15 }],
  ['conversion.input.part', { kind: 'bytes' }],
  ['conversion.input.encoding', 'no-such'],
  ['conversion.input.encoding', 'LATIN1'],
  ['conversion.resolution', 16],
  ['conversion.resolution', -1],
  ['conversion.resolution', 9.5],
  ['conversion.resolution', '9'],
  ['conversion.from', 'xls'],
  ['conversion.to', 'gpx'],
  ['conversion.from', undefined],
  ['conversion.isFormer', 1],
  ['conversion.hasCertainty', 'yes'],
  ['conversion.columns.prefix', undefined],
  ['conversion.columns.lat', null],
  ['conversion.columns.keep', 'a'],
  ['conversion.columns.keep', Array(70_000).fill('')],
  ['conversion.columns.lat', 'x'.repeat(131_073)],
  ['conversion.csv.delimiter', ' '],
  ['conversion.csv.decimal', ';'],
  ['conversion.operation', 'decode'],
  ['conversion', []],
  ['operation', 'remove'],
  ['output', '/etc'],
  ['output', '../x'],
  ['output', 'a/../../x'],
  ['output', 'a//b'],
  ['output', 'a/'],
  ['output', './a'],
  ['output', ''],
  ['output', 'a\0b'],
  ['output', 'x'.repeat(256)],
  ['output', 'ệ'.repeat(86)],
  ['output', 'xx/'.repeat(1400)],
  ['output', '\ud800'],
  ['files', 0],
  ['parts', 0],
  ['parts', 10_000_001],
  ['parts', 1.5],
  ['sizeBytes', -1],
  ['sizeBytes', 2 ** 53],
  ['partsDigest', 'x'],
  ['partsDigest', '0'.repeat(33)],
  ['__proto__', { isAdmin: true }],
  ['conversion.__proto__', {}],
  ['constructor', 1],
  ['more', 1],
])('a plan whose %s is %j is none', (path, member) => {
  expect(() => read(planWith(path, member))).toThrow(SchemaFault);
});

test('names and columns of other scripts are none of our business', () => {
  for (const output of ['đầu ra/Hà Nội', '…', '...', 'a b', '-x', '~', 'a\\b', '\u202ex', '.'])
    expect(read(planWith('output', output)).output).toBe(output);
});

test('a plan has the id of its subject, which is its digest', () => {
  const plan = { id: idOfPlan(shape), ...shape };
  expect(() => read(plan, '0123456789abcdef')).toThrow(`it is the plan of job ${plan.id}`);
  expect(() => read({ ...plan, sizeBytes: 1001 })).toThrow('its id is not its digest');
  for (const id of ['x/..', '', plan.id.toUpperCase(), `${plan.id}0`])
    expect(() => read({ ...plan, id })).toThrow(/id/);
});

test('a plan of another version is known by the members that all have, and by no others', () => {
  const { partsDigest: _, ...old } = { id: 'f'.repeat(16), ...shape, version: '0.1.9', more: 1 };
  expect(readPlan(old.id, bytesOf(old), JOB_CHECKS)).toEqual({
    ...{ ...shape, id: old.id, version: '0.1.9', partsDigest: '', conversion: {} },
  });
  for (const change of [{ output: '../x' }, { operation: '\u001b' }, { version: '\u001b' }, { version: 'x' }])
    expect(() => readPlan(old.id, bytesOf({ ...old, ...change }), JOB_CHECKS)).toThrow(SchemaFault);
});

test.each([
  '',
  'x',
  'null',
  '[]',
  '7',
  '"x"',
  '{}',
  '{',
  `${'['.repeat(100_000)}`,
  `{"id":"${'x'.repeat(1 << 20)}"}`,
])('no plan, no part, no mark, and a failed result: %#', (text) => {
  const [job, bytes] = ['a'.repeat(16), bytesOf(text)];
  expect(() => readPlan(job, bytes, JOB_CHECKS)).toThrow(SchemaFault);
  expect(() => readPart(job, 1, bytes, JOB_CHECKS)).toThrow(SchemaFault);
  expect(readResult(job, 1, bytes)).toMatchObject({ job, part: 1, output: null });
  expect([isMark(bytes), readEnd(bytes) !== null]).toEqual([text === '{}', text === '{}']);
});

test('bytes that are no text are no JSON', () => {
  expect(() => readPlan('a'.repeat(16), Uint8Array.of(0x22, 0xff, 0x22), JOB_CHECKS)).toThrow(
    'it is no JSON',
  );
});

const A = 'a'.repeat(16);
const part = {
  ...{ job: A, part: 2, input: 'in/x.csv', file: { sizeBytes: 100, modifiedMs: -5 } },
  range: { kind: 'bytes', number: 1, headBytes: 10, start: 10, end: 100 },
  ...{ sizeBytes: 90, from: 'csv', to: 'parquet', output: 'x.0001.parquet', proof: 'AAAA' },
};

test('a part as submit writes it', () => {
  const rows = { ...part, range: { kind: 'rows', number: 3, start: 5, end: 2e9 } };
  for (const each of [part, rows, { ...part, range: null }])
    expect(readPart(A, 2, bytesOf(each), JOB_CHECKS)).toEqual(each);
});

test.each([
  ['job', 'b'.repeat(16)],
  ['part', 1],
  ['part', '2'],
  ['input', '../x'],
  ['input', '.'],
  ['output', '/x'],
  ['output', '.'],
  ['file.sizeBytes', 1e300],
  ['file.modifiedMs', 8.65e15],
  ['file.inode', 1],
  ['from', 'exe'],
  ['to', null],
  ['range', []],
  ['range.kind', 'lines'],
  ['range.kind', 'rows'],
  ['range.end', 101],
  ['range.end', 9],
  ['range.headBytes', 11],
  ['range.headBytes', undefined],
  ['range.number', 0],
  ['range.start', -1],
  ['range.path', 'x'],
  ['proof', '*'],
  ['proof', 'A'.repeat(1025)],
  ['proof', undefined],
  ['more', 1],
  ['__proto__', {}],
])('a part whose %s is %j is none', (path, member) => {
  expect(() => readPart(A, 2, bytesOf(changed(part, path, member)), JOB_CHECKS)).toThrow(SchemaFault);
});

const result = {
  ...{
    job: A,
    part: 2,
    input: 'in/x.csv',
    range: part.range,
    inputBytes: 90,
    elapsedMs: 5,
    worker: 'host-1-ab',
  },
  output: {
    ...{ name: 'x.parquet', rows: 9, failed: { NOT_FOUND: 1, INVALID_HEXCODES: 2 }, sizeBytes: 5 },
    sha256: 'ab'.repeat(32),
  },
  reason: null,
};

test('a result as workers store it', () => {
  const failed = { ...result, output: null, reason: 'it is damaged\u001b' };
  for (const each of [result, failed, { ...result, range: null }])
    expect(readResult(A, 2, bytesOf(each))).toEqual(each);
});

test.each([
  ['job', 'b'.repeat(16)],
  ['part', 3],
  ['input', '/etc/passwd'],
  ['output.name', '../x'],
  ['output.rows', -1],
  ['output.rows', null],
  ['output.failed', { constructor: 1 }],
  ['output.failed', { __proto__: null, toString: 'x' }],
  ['output.failed.NOT_FOUND', 'x'],
  ['output.sha256', 'AB'.repeat(32)],
  ['output', null],
  ['reason', 'both'],
  ['reason', 'x'.repeat(1001)],
  ['worker', '../x'],
  ['elapsedMs', -1],
  ['range', { kind: 'x' }],
  ['more', 1],
])('a result whose %s is %j counts as failed', (path, member) => {
  const found = readResult(A, 2, bytesOf(changed(result, path, member)));
  expect(found).toMatchObject({ job: A, part: 2, input: '', range: null, output: null });
  expect(found.reason).toMatch(/^the message under the subject of its result is none: /);
});

test('marks', () => {
  const end = { rows: 1, failedRows: 0, rowsPerS: 0.5, bytesPerS: 0, failed: [1, 7] };
  expect(readEnd(bytesOf({ end }))).toEqual({ end });
  expect([readEnd(bytesOf('{}')), isMark(bytesOf('{}'))]).toEqual([{}, true]);
  const others: unknown[] = [
    ...[{ stream: 'F', seq: 1 }, { end: { ...end, failed: ['1.2'] } }, { end: { ...end, failed: [0] } }],
    ...[
      { end: { ...end, rows: -1 } },
      { end: null },
      { end: { ...end, failed: Array(MOST_FAILED + 1).fill(1) } },
    ],
    { end: { ...end, rowsPerS: '1' } },
  ];
  for (const other of others) expect([other, readEnd(bytesOf(other))]).toEqual([other, null]);
  expect(isMark(bytesOf({ end }))).toBe(false);
});

test('the part that a subject names', () => {
  const subjects = new JobSubjects('a.job');
  expect(subjects.partIn(subjects.ofPart('part', A, 17))).toEqual({ job: A, part: 17 });
  for (const subject of [
    'part.',
    'a.job.part.',
    `a.job.part.${A}`,
    `a.job.part.${A}.01`,
    `a.job.part.${A}.1e3`,
  ])
    expect([subject, subjects.partIn(subject)]).toEqual([subject, undefined]);
  for (const subject of [
    `b.a.job.part.${A}.1`,
    `a.job.result.${A}.1`,
    `a.job.part.${A}.1.2`,
    `a.job.part.__proto__.1`,
  ])
    expect([subject, subjects.partIn(subject)]).toEqual([subject, undefined]);
});
