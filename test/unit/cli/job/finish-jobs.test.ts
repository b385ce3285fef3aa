// Jobs are ended whatever becomes of others, and without long lists each time that somebody looks.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manifestStart } from '#dist/bus/jobs/job-progress.js';
import { SchemaFault } from '#dist/bus/schema.js';
import { stateOf } from '#dist/cli/commands/job.js';
import { jobCalled } from '#dist/cli/job/job-conversion.js';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { JobFinisher } from '#dist/cli/job/work/finish-jobs.js';
import { scratchName } from '#dist/cli/job/work/scratch.js';
import { jobId, MemoryJobs, planOf, resultOf } from '../../../support/engine/memory-jobs.js';

const [A, B] = [jobId('a'), jobId('b')];
let root: string;
let said: string[];
let jobs: MemoryJobs;
let finisher: JobFinisher;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hexcodes-finish-'));
  said = [];
  jobs = new MemoryJobs();
  finisher = new JobFinisher(jobs, new SharedFolder(root), (sentence) => said.push(sentence));
});
afterEach(() => rmSync(root, { recursive: true }));

test('a job whose manifest cannot be written holds no other up, and is ended when it can', async () => {
  for (const [id, output] of [
    [A, 'blocked'],
    [B, 'out'],
  ] as const) {
    await jobs.addPlan(planOf(id, { output }));
    await jobs.addResult(id, resultOf(1, null, id));
  }
  writeFileSync(join(root, 'blocked'), 'a file of that name');
  await finisher.finish();
  expect(said).toEqual([
    expect.stringMatching(/^job a{16} cannot be ended yet: cannot write manifest-a{16}\.json: /),
    `job ${B} has ended: 1 parts, out/manifest-${B}.json`,
  ]);
  expect((await jobs.jobs()).map(({ isEnded }) => isEnded)).toEqual([false, true]);
  expect(jobs.reads).toBe(1);
  rmSync(join(root, 'blocked'));
  await finisher.finish();
  expect(said.at(-1)).toBe(`job ${A} has ended: 1 parts, blocked/manifest-${A}.json`);
  expect(readdirSync(join(root, 'blocked'))).toEqual([`manifest-${A}.json`]);
});

test('a job that cannot be read holds no other up; servers that are away do', async () => {
  for (const id of [A, B]) {
    await jobs.addPlan(planOf(id));
    await jobs.addResult(id, resultOf(1, null, id));
  }
  const planOfJob = jobs.planOf.bind(jobs);
  jobs.planOf = async (id) => (id === A ? (JSON.parse('{') as never) : await planOfJob(id));
  await finisher.finish();
  expect(said).toEqual([
    expect.stringMatching(/^job a{16} cannot be ended yet: /),
    `job ${B} has ended: 1 parts, out/manifest-${B}.json`,
  ]);
  jobs.isPassing = () => true;
  await expect(finisher.finish()).rejects.toThrow(SyntaxError);
});

test('a job under way costs no list, nor one that has ended', async () => {
  await jobs.addPlan(planOf(A, { parts: 3 }));
  const looked = async (): Promise<number> => {
    jobs.lists = 0;
    await finisher.finish();
    return jobs.lists;
  };
  await jobs.addResult(A, resultOf(1));
  expect([await looked(), await looked()]).toEqual([1, 0]);
  await jobs.addResult(A, resultOf(3));
  expect([await looked(), await looked()]).toEqual([1, 0]);
  expect([said, jobs.reads]).toEqual([[], 0]);
  await jobs.addResult(A, resultOf(2, 'it is damaged'));
  await looked();
  expect(said).toEqual([`job ${A} has ended: 3 parts, 1 failed, out/manifest-${A}.json`]);
  expect(await looked()).toBe(0);
});

test('a job that is tried again ends again', async () => {
  await jobs.addPlan(planOf(A, { parts: 2 }));
  await jobs.addResult(A, resultOf(1));
  await jobs.addResult(A, resultOf(2, 'it is damaged'));
  await finisher.finish();
  await jobs.dropResult(A, 2);
  await jobs.unmark('ended', A);
  await finisher.finish();
  await jobs.addResult(A, resultOf(2));
  await finisher.finish();
  expect(said).toHaveLength(2);
  expect(JSON.parse(readFileSync(join(root, `out/manifest-${A}.json`), 'utf8'))).toMatchObject({ rows: 20 });
});

test('scratch that cannot be removed keeps no job open', async () => {
  class Busy extends SharedFolder {
    override folderIn(): string {
      throw new Error('a worker has a file in it');
    }
  }
  mkdirSync(join(root, `out/.hexcodes-${A}`), { recursive: true });
  await jobs.addPlan(planOf(A));
  await jobs.addResult(A, resultOf(1));
  await new JobFinisher(jobs, new Busy(root), (sentence) => said.push(sentence)).finish();
  expect(said).toEqual([`job ${A} has ended: 1 parts, out/manifest-${A}.json`]);
  expect(readdirSync(join(root, 'out'))).toEqual([`.hexcodes-${A}`, `manifest-${A}.json`]);
});

test('of a job that has ended only the results of failed parts are read', async () => {
  await jobs.addPlan(planOf(A, { parts: 3, sizeBytes: 300 }));
  for (const part of [1, 3]) await jobs.addResult(A, resultOf(part));
  await jobs.addResult(A, resultOf(2, 'it is damaged'));
  const [open] = await jobs.jobs();
  const before = await stateOf(jobs, open!);
  await finisher.finish();
  const [ended] = await jobs.jobs();
  [jobs.reads, jobs.lists] = [0, 0];
  expect(await stateOf(jobs, ended!)).toEqual({ ...before, state: 'ended' });
  expect([jobs.reads, jobs.lists]).toEqual([1, 0]);
});

/** Ends a job of one part. */
async function ended(id = A, output = 'out'): Promise<void> {
  await jobs.addPlan(planOf(id, { output }));
  await jobs.addResult(id, resultOf(1, null, id));
  await finisher.finish();
}

/** The scratch folder of a worker with a mark. */
function left(path: string, job = A): string {
  const folder = join(root, path);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'made-by'), `hexcodes job ${job}\n`);
  return folder;
}

test('what dead workers left is removed', async () => {
  for (const name of ['1-host-1-abc', '2-host-2-abc']) {
    const folder = left(`out/.hexcodes-${A}/${name}`);
    for (const file of ['part', 'part.gz', 'part.partial', 'part.partial.lock', 'part.partial.lock.17'])
      writeFileSync(join(folder, file), 'x');
  }
  mkdirSync(join(root, `out/.hexcodes-${A}/3-died-at-once`));
  await ended();
  expect(readdirSync(join(root, 'out'))).toEqual([`manifest-${A}.json`]);
});

test('nothing in a scratch folder is removed but what the job made', async () => {
  const scratch = join(root, `out/.hexcodes-${A}`);
  const others = left(`out/.hexcodes-${A}/1-w`, B);
  const mixed = left(`out/.hexcodes-${A}/2-w`);
  // A mark alone is not enough.
  for (const name of ['w-4', '0-w', 'mine']) left(`out/.hexcodes-${A}/${name}`);
  const kept = [
    ...['mine.txt', '1-w/mine.txt', '1-w/part', '2-w/mine.txt', '2-w/part/deep.txt', 'w-3/part'],
    ...['w-4/part', '0-w/part', 'mine/part'],
  ];
  for (const name of kept) {
    mkdirSync(dirname(join(scratch, name)), { recursive: true });
    writeFileSync(join(scratch, name), 'mine');
  }
  writeFileSync(join(mixed, 'part.partial'), 'x');
  symlinkSync(others, join(scratch, '4-w'));
  await ended();
  expect(said.at(-1)).toContain('has ended');
  for (const name of kept) expect([name, readFileSync(join(scratch, name), 'utf8')]).toEqual([name, 'mine']);
  expect(readdirSync(mixed).sort()).toEqual(['made-by', 'mine.txt', 'part']);
  expect(readdirSync(others).sort()).toEqual(['made-by', 'mine.txt', 'part']);
});

test.each(['x/..', '..', '.', '', 'A'.repeat(16), '0123456789abcdeg', 'a'.repeat(17), '/'])(
  'a job by the name %j removes and writes nothing',
  async (id) => {
    mkdirSync(join(root, 'out/x'), { recursive: true });
    writeFileSync(join(root, 'out/x/mine'), 'mine');
    await ended(id, '.').catch(() => undefined);
    expect(readFileSync(join(root, 'out/x/mine'), 'utf8')).toBe('mine');
    expect(() => scratchName(id)).toThrow(/is no id of a job/);
  },
);

test('a scratch folder that is a link is left, with what it leads to', async () => {
  const folder = left('out/mine/1-w');
  symlinkSync('mine', join(root, `out/.hexcodes-${A}`));
  await ended();
  expect([
    said.length,
    readdirSync(folder),
    lstatSync(join(root, `out/.hexcodes-${A}`)).isSymbolicLink(),
  ]).toEqual([1, ['made-by'], true]);
});

test('a file by the name of the manifest is replaced only if it is one of the job', async () => {
  mkdirSync(join(root, 'out'));
  const path = join(root, `out/manifest-${A}.json`);
  writeFileSync(path, 'mine');
  await ended();
  for (const text of ['mine', manifestStart(B), `${manifestStart(A).replace('job', 'Job')} and more`]) {
    writeFileSync(path, text);
    await finisher.finish();
    expect([said.at(-1), readFileSync(path, 'utf8')]).toEqual([
      expect.stringContaining('it is there, and no manifest of this job'),
      text,
    ]);
  }
  writeFileSync(path, manifestStart(A));
  await finisher.finish();
  expect([said.at(-1), readdirSync(join(root, 'out'))]).toEqual([
    expect.stringContaining('has ended'),
    [`manifest-${A}.json`],
  ]);
});

test('jobs of another version are left alone; a plan that is none is said once', async () => {
  await jobs.addPlan(planOf(A, { version: '99.0.0' }));
  await jobs.addResult(A, resultOf(1));
  await jobs.addPlan(planOf(B));
  const reads: string[] = [];
  const planOfJob = jobs.planOf.bind(jobs);
  jobs.planOf = async (id) => {
    reads.push(id);
    if (id === B) throw new SchemaFault('it is no JSON');
    return planOfJob(id);
  };
  await finisher.finish();
  await finisher.finish();
  expect([said, reads]).toEqual([
    [`the plan of job ${B} is none, and it is left out: it is no JSON`],
    [A, B],
  ]);
  expect(readdirSync(root)).toEqual([]);
});

test('results of parts that the plan has not are in no manifest', async () => {
  await jobs.addPlan(planOf(A, { parts: 2 }));
  for (const part of [1, 3]) await jobs.addResult(A, resultOf(part));
  await finisher.finish();
  expect(said).toEqual([]);
  const [open] = await jobs.jobs();
  expect(await stateOf(jobs, open!)).toMatchObject({ doneParts: 1, missingParts: 1 });
  await jobs.addResult(A, resultOf(2));
  await finisher.finish();
  const { parts } = JSON.parse(readFileSync(join(root, `out/manifest-${A}.json`), 'utf8'));
  expect((parts as { part: number }[]).map(({ part }) => part)).toEqual([1, 2]);
});

test('no parts are missing of a job that is cancelled', async () => {
  await jobs.addPlan(planOf(A, { parts: 3 }));
  const [open] = await jobs.jobs();
  expect(await stateOf(jobs, open!)).toMatchObject({ missingParts: 3 });
  await jobs.markCancelled(A);
  const [cancelled] = await jobs.jobs();
  expect(await stateOf(jobs, cancelled!)).toMatchObject({ state: 'cancelled', missingParts: 0 });
});

test('a job is named by the first digits of its id, and by one at least', () => {
  const known = [A, B, `a${B.slice(1)}`].map((id) => ({ id, isCancelled: false, isEnded: false }));
  expect([jobCalled(known, 'AA').id, jobCalled(known, 'b').id]).toEqual([A, B]);
  for (const [some, id] of [
    [known, 'a'],
    [known, 'c'],
    [known.slice(0, 1), ''],
  ] as const)
    expect(() => jobCalled(some, id)).toThrow(/jobs begin so|no such job/);
});
