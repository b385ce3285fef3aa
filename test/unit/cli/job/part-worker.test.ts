// A worker of jobs against jobs in memory: a part that ended many workers fails for good, and parts of another version are left to
// its workers, unless they are done with.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { PartWorker } from '#dist/cli/job/work/part-worker.js';
import type { Received } from '#dist/engine/engine.js';
import type { JobPart } from '#dist/engine/jobs/job.js';
import type { Hexcodes } from '#dist/library/hexcodes.js';
import { VERSION } from '#dist/version.js';
import { MemoryJobs, planOf } from '../../../support/engine/memory-jobs.js';

let root: string;
let jobs: MemoryJobs;
let said: string[];
let worker: PartWorker;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hexcodes-part-'));
  mkdirSync(join(root, 'out'));
  writeFileSync(join(root, 'x.csv'), 'lat,lng\n21,105\n');
  jobs = new MemoryJobs();
  said = [];
  worker = new PartWorker({} as Hexcodes, new SharedFolder(root), jobs, {
    ...{ id: 'w', tries: 3, keepEveryMs: 60_000, say: (sentence: string) => said.push(sentence) },
    signal: new AbortController().signal,
  });
});
afterEach(() => rmSync(root, { recursive: true }));

const partOf = (job: string): JobPart => {
  const { size: sizeBytes, mtimeMs } = statSync(join(root, 'x.csv'));
  return {
    ...{ job, part: 1, input: 'x.csv', file: { sizeBytes, modifiedMs: Math.floor(mtimeMs) }, range: null },
    ...{ sizeBytes, from: 'csv', to: 'csv', output: 'x.csv' },
  };
};

/** Gives a part to the worker. @returns what became of the delivery */
async function given(part: JobPart): Promise<string[]> {
  const verdicts: string[] = [];
  const received: Received = {
    ...{ id: 'm', subject: 's', headers: new Map(), place: 'message 1', deliveries: 1 },
    bytes: new TextEncoder().encode(JSON.stringify(part)),
    accept: () => void verdicts.push('accepted'),
    giveBack: () => void verdicts.push('given back'),
    keep: () => undefined,
  };
  await worker.take(received);
  return verdicts;
}

test('a part that ended fifty workers fails for good', async () => {
  await jobs.addPlan(planOf('a', { version: VERSION }));
  const scratch = join(root, 'out/.hexcodes-a');
  for (let i = 0; i < 50; i++) mkdirSync(join(scratch, `1-dead${i}`), { recursive: true });
  mkdirSync(join(scratch, '11-alive'));
  expect(await given(partOf('a'))).toEqual(['accepted']);
  const [stored] = await jobs.results('a');
  expect(stored?.result).toMatchObject({
    output: null,
    reason: '50 workers died or were killed while they converted it',
  });
  expect([readdirSync(scratch), worker.figures.failedParts]).toEqual([['11-alive'], 1]);
});

test('a part of another version is left to its workers', async () => {
  await jobs.addPlan(planOf('a', { version: '0.0.1' }));
  expect([await given(partOf('a')), await jobs.results('a')]).toEqual([['given back'], []]);
  expect(said).toEqual([
    'job a is for version 0.0.1 of hexcodes: part 1 is left to its workers; hexcodes job cancel a where there are none',
  ]);
});

test('a part of another version whose job is cancelled is done with', async () => {
  await jobs.addPlan(planOf('a', { version: '0.0.1' }));
  await jobs.markCancelled('a');
  expect([await given(partOf('a')), said]).toEqual([['accepted'], []]);
});
