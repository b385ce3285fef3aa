// A worker of jobs against jobs in memory: a part that ended many workers fails for good, and parts of another version
// are left to its workers, unless they are done with.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Received, StoreFault } from '#dist/bus/engine.js';
import { type JobPart, type JobPlan, JobSubjects } from '#dist/bus/jobs/job.js';
import { SchemaFault } from '#dist/bus/schema.js';
import { SharedFolder } from '#dist/cli/job/shared-folder.js';
import { PartWorker } from '#dist/cli/job/work/part-worker.js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { jobId, MemoryJobs, planOf, withProof } from '../../../support/engine/memory-jobs.js';

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
    subjects: new JobSubjects('jobs'),
    signal: new AbortController().signal,
  });
});
afterEach(() => rmSync(root, { recursive: true }));

const A = jobId('a');

/** A plan of the folder `out`, and its part. */
function jobOf(changes: Partial<JobPlan> = {}): { readonly plan: JobPlan; readonly part: JobPart } {
  const { size: sizeBytes, mtimeMs } = statSync(join(root, 'x.csv'));
  return withProof(planOf(A, changes), {
    ...{ part: 1, input: 'x.csv', file: { sizeBytes, modifiedMs: Math.floor(mtimeMs) }, range: null },
    ...{ sizeBytes, from: 'csv', to: 'csv', output: 'x.csv' },
  });
}

/** Gives a message to the worker. @returns what became of the delivery */
async function given(body: JobPart | string, subject = `jobs.part.${A}.1`): Promise<string[]> {
  const verdicts: string[] = [];
  const received: Received = {
    ...{ id: 'm', subject, headers: new Map(), origin: 'message 1', deliveries: 1 },
    bytes: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
    accept: () => void verdicts.push('accepted'),
    giveBack: () => void verdicts.push('given back'),
    keep: () => undefined,
  };
  await worker.take(received);
  return verdicts;
}

test('a part that ended fifty workers fails for good', async () => {
  const { plan, part } = jobOf();
  await jobs.addPlan(plan);
  const scratch = join(root, `out/.hexcodes-${A}`);
  for (let i = 0; i < 50; i++) mkdirSync(join(scratch, `1-dead${i}`), { recursive: true });
  mkdirSync(join(scratch, '11-alive'));
  expect(await given(part)).toEqual(['accepted']);
  const [stored] = await jobs.results(A);
  expect(stored?.result).toMatchObject({
    output: null,
    reason: '50 workers died or were killed while they converted it',
  });
  expect([readdirSync(scratch), worker.figures.failedParts]).toEqual([['11-alive'], 1]);
});

test('a part of another version is left to its workers', async () => {
  const { plan, part } = jobOf({ version: '0.0.1' });
  await jobs.addPlan(plan);
  expect([await given(part), await jobs.results(A)]).toEqual([['given back'], []]);
  expect(said).toEqual([
    `job ${A} is for version 0.0.1 of hexcodes: part 1 is left to its workers; hexcodes job cancel ${A} where there are none`,
  ]);
});

test('a part of another version whose job is cancelled is done with', async () => {
  const { plan, part } = jobOf({ version: '0.0.1' });
  await jobs.addPlan(plan);
  await jobs.markCancelled(A);
  expect([await given(part), said]).toEqual([['accepted'], []]);
});

test.each([
  ['no JSON', 'x', `jobs.part.${A}.1`, /no JSON/],
  ['no object', '[]', `jobs.part.${A}.1`, /must be an object/],
  ['another subject', '{}', 'jobs.part.p.1', /subject is that of no part/],
  ['a deeper subject', '{}', `jobs.part.${A}.1.2`, /subject is that of no part/],
  ['part 0', '{}', `jobs.part.${A}.0`, /subject is that of no part/],
  ['a number in other digits', '{}', `jobs.part.${A}.１`, /subject is that of no part/],
])('what is no part is a dead letter at once: %s', async (_, body, subject, reason) => {
  await jobs.addPlan(jobOf().plan);
  expect(await given(body, subject)).toEqual(['accepted']);
  expect(jobs.dead).toEqual([[subject, expect.stringMatching(reason)]]);
  expect([worker.figures.dead, await jobs.results(A)]).toEqual([1, []]);
});

test('a part of no plan is left out; what is no part of no plan is a dead letter', async () => {
  expect([await given(jobOf().part), jobs.dead]).toEqual([['accepted'], []]);
  expect(said).toEqual([`job ${A} has no plan: its part 1 is left out`]);
  expect([await given('x'), jobs.dead.length]).toEqual([['accepted'], 1]);
});

test.each([
  ['input', { input: 'y.csv' }],
  ['output', { output: 'y.csv' }],
  ['format', { to: 'ndjson' }],
  ['size', { sizeBytes: 3 }],
  ['proof', { proof: 'AAAA' }],
])('a part with another %s than the plan knows is a dead letter', async (_, change) => {
  const { plan, part } = jobOf();
  await jobs.addPlan(plan);
  expect(await given({ ...part, ...change })).toEqual(['accepted']);
  expect(jobs.dead).toEqual([[`jobs.part.${A}.1`, expect.stringContaining('has no such part')]]);
});

test('a part under the subject of another is a dead letter', async () => {
  const { plan, part } = jobOf({ parts: 2 });
  await jobs.addPlan(plan);
  expect(await given(part, `jobs.part.${A}.2`)).toEqual(['accepted']);
  expect(jobs.dead[0]?.[1]).toBe(`it is part 1 of job ${A}, and not 2 of ${A}`);
});

test('parts of a plan that is none are dead letters', async () => {
  jobs.isCancelled = async () => false;
  jobs.planOf = async () => {
    throw new SchemaFault('its id is not its digest');
  };
  expect(await given(jobOf().part)).toEqual(['accepted']);
  expect(jobs.dead[0]?.[1]).toBe('the plan of its job is none: its id is not its digest');
});

test('while the bus is away a message that is no part is given back; where the stream is full it is done with', async () => {
  jobs.bury = async () => {
    throw new StoreFault('away', 'away');
  };
  expect([await given('x', 'jobs.part.p'), worker.figures.dead]).toEqual([['given back'], 0]);
  jobs.bury = async () => {
    throw new StoreFault('full', 'full');
  };
  expect([await given('x', 'jobs.part.p'), worker.figures.dead]).toEqual([['accepted'], 1]);
  expect(said.at(-1)).toMatch(/^dead letter, which cannot be stored: message 1/);
});
