// Jobs are ended whatever becomes of others, and without long lists each time that somebody looks.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stateOf } from '#dist/cli/job/job-state.js';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { JobFinisher } from '#dist/cli/job/work/finish-jobs.js';
import { MemoryJobs, planOf, resultOf } from '../../../support/engine/memory-jobs.js';

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
    ['a', 'blocked'],
    ['b', 'out'],
  ] as const) {
    await jobs.addPlan(planOf(id, { output }));
    await jobs.addResult(id, resultOf(1));
  }
  writeFileSync(join(root, 'blocked'), 'a file of that name');
  await finisher.finish();
  expect(said).toEqual([
    expect.stringMatching(/^job a cannot be ended yet: cannot write manifest-a\.json: /),
    'job b has ended: 1 parts, out/manifest-b.json',
  ]);
  expect((await jobs.jobs()).map(({ isEnded }) => isEnded)).toEqual([false, true]);
  expect(jobs.reads).toBe(1);
  rmSync(join(root, 'blocked'));
  await finisher.finish();
  expect(said.at(-1)).toBe('job a has ended: 1 parts, blocked/manifest-a.json');
  expect(readdirSync(join(root, 'blocked'))).toEqual(['manifest-a.json']);
});

test('a job that cannot be read holds no other up; servers that are away do', async () => {
  for (const id of ['a', 'b']) {
    await jobs.addPlan(planOf(id));
    await jobs.addResult(id, resultOf(1));
  }
  const planOfJob = jobs.planOf.bind(jobs);
  jobs.planOf = async (id) => (id === 'a' ? (JSON.parse('{') as never) : await planOfJob(id));
  await finisher.finish();
  expect(said).toEqual([
    expect.stringMatching(/^job a cannot be ended yet: /),
    'job b has ended: 1 parts, out/manifest-b.json',
  ]);
  jobs.isPassing = () => true;
  await expect(finisher.finish()).rejects.toThrow(SyntaxError);
});

test('a job under way costs no list, nor one that has ended', async () => {
  await jobs.addPlan(planOf('a', { parts: 3 }));
  const looked = async (): Promise<number> => {
    jobs.lists = 0;
    await finisher.finish();
    return jobs.lists;
  };
  await jobs.addResult('a', resultOf(1));
  expect([await looked(), await looked()]).toEqual([1, 0]);
  await jobs.addResult('a', resultOf(3));
  expect([await looked(), await looked()]).toEqual([1, 0]);
  expect([said, jobs.reads]).toEqual([[], 0]);
  await jobs.addResult('a', resultOf(2, 'it is damaged'));
  await looked();
  expect(said).toEqual(['job a has ended: 3 parts, 1 failed, out/manifest-a.json']);
  expect(await looked()).toBe(0);
});

test('a job that is tried again ends again', async () => {
  await jobs.addPlan(planOf('a', { parts: 2 }));
  await jobs.addResult('a', resultOf(1));
  await jobs.addResult('a', resultOf(2, 'it is damaged'));
  await finisher.finish();
  await jobs.dropResult('a', 2);
  await jobs.unmark('ended', 'a');
  await finisher.finish();
  await jobs.addResult('a', resultOf(2));
  await finisher.finish();
  expect(said).toHaveLength(2);
  expect(JSON.parse(readFileSync(join(root, 'out/manifest-a.json'), 'utf8'))).toMatchObject({ rows: 20 });
});

test('scratch that cannot be removed keeps no job open', async () => {
  class Busy extends SharedFolder {
    override outputPath(folder: string, name: string): string {
      if (name.startsWith('.hexcodes-')) throw new Error('a worker has a file in it');
      return super.outputPath(folder, name);
    }
  }
  mkdirSync(join(root, 'out/.hexcodes-a'), { recursive: true });
  await jobs.addPlan(planOf('a'));
  await jobs.addResult('a', resultOf(1));
  await new JobFinisher(jobs, new Busy(root), (sentence) => said.push(sentence)).finish();
  expect(said).toEqual(['job a has ended: 1 parts, out/manifest-a.json']);
  expect(readdirSync(join(root, 'out'))).toEqual(['.hexcodes-a', 'manifest-a.json']);
});

test('of a job that has ended only the results of failed parts are read', async () => {
  await jobs.addPlan(planOf('a', { parts: 3, sizeBytes: 300 }));
  for (const part of [1, 3]) await jobs.addResult('a', resultOf(part));
  await jobs.addResult('a', resultOf(2, 'it is damaged'));
  const [open] = await jobs.jobs();
  const before = await stateOf(jobs, open!);
  await finisher.finish();
  const [ended] = await jobs.jobs();
  [jobs.reads, jobs.lists] = [0, 0];
  expect(await stateOf(jobs, ended!)).toEqual({ ...before, state: 'ended' });
  expect([jobs.reads, jobs.lists]).toEqual([1, 0]);
});
