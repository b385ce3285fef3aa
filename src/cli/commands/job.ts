// `hexcodes job`: converts many files on many machines, which share a folder and a NATS JetStream server.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { JobPart } from '../../bus/jobs/job.js';
import { type JobProgress, manifestName, progressAtEnd, progressOf } from '../../bus/jobs/job-progress.js';
import type { JobStore, KnownJob, StoredPlan, StoredResult } from '../../bus/jobs/job-store.js';
import { openBus } from '../../bus/open-bus.js';
import { SchemaFault } from '../../bus/schema.js';
import type { BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { duration } from '../../files/terminal/progress.js';
import { grouped, paintFor, say, visible, visibleLines } from '../../files/terminal/say.js';
import {
  addLimitOptions,
  type LimitOptions,
  limitsOf,
  requireSubject,
  sayer,
  withBus,
} from '../bus-options.js';
import { addBusOptions, type BusOptions, jobCalled, withJobs } from '../job/job-conversion.js';
import { declareSubmit } from '../job/submit-job.js';
import { declareJobWorker } from '../job/work/work-on-jobs.js';

// `hexcodes job status`: how far jobs have come, at which rate, and which parts failed and why.

// State of a job: its progress, and whether anybody works on it.
interface JobState extends JobProgress, StoredPlan {
  readonly state: 'ended' | 'cancelled' | 'under way' | 'no worker has a part';
  /** Parts that are not in the stream. */
  readonly missingParts: number;
}

/**
 * @param known results that need not be read again; those that were read are added
 * @throws CliFailure FAILED where the job is gone; errors of the bus
 */
export async function stateOf(
  jobs: JobStore,
  { id, isCancelled, isEnded }: KnownJob,
  known = new Map<number, StoredResult>(),
): Promise<JobState> {
  const stored = await jobs.planOf(id);
  if (stored === undefined) throw new CliFailure(EXIT.FAILED, `job ${id} is gone`);
  const end = isEnded ? await jobs.endOf(id) : undefined;
  if (end !== undefined) {
    const failures = (await jobs.resultsOf(id, end.failed)).map(({ result }) => result);
    return { ...stored, ...progressAtEnd(stored.plan, end, failures), missingParts: 0, state: 'ended' };
  }
  const isOfPlan = (part: number): boolean => part <= stored.plan.parts;
  const [results, parts, done, { taken }] = await Promise.all([
    jobs.results(id, known).then((all) => all.filter(({ result }) => isOfPlan(result.part))),
    jobs.partNumbers(id).then((all) => [...all].filter(isOfPlan)),
    jobs.resultNumbers(id).then((all) => new Set([...all].filter(isOfPlan))),
    jobs.underWay(),
  ]);
  for (const each of results) known.set(each.result.part, each);
  const there = new Set([...parts, ...done]).size;
  return {
    ...stored,
    ...progressOf(stored.plan, results, Date.now()),
    missingParts: isCancelled ? 0 : stored.plan.parts - there,
    state: isEnded
      ? 'ended'
      : isCancelled
        ? 'cancelled'
        : taken > 0 || done.size === stored.plan.parts
          ? 'under way'
          : 'no worker has a part',
  };
}

interface Options extends BusOptions {
  readonly wait?: boolean;
  readonly json?: boolean;
}

const LOOK_MS = 1000;
const LINE_MS = 10_000;
const BAR_WIDTH = 20;
const MOST_FAILURES = 20;
const CLEARED_LINE = '\r\u001b[2K';

function declareStatus(job: Command): void {
  const status = job
    .command('status')
    .description('show how far jobs have come, and why parts failed')
    .argument('[job]', 'its id, or how it begins; all without');
  addBusOptions(status)
    .option('--wait', 'until the job has ended')
    .option('--json', 'as one line of JSON')
    .addHelpText(
      'after',
      `
Exits with 1 if the job has failed parts or is cancelled.

Examples:
  $ hexcodes job status
  $ hexcodes job status 3f2a
  $ hexcodes job status --wait $(hexcodes job submit 'in/*.csv' --to out/)`,
    );
  status.action((id: string | undefined, options: Options) =>
    withBus(status, (settings) => withJobs(options, settings, (jobs) => show(jobs, id, options))),
  );
}

async function show(jobs: JobStore, id: string | undefined, options: Options): Promise<void> {
  const all = await jobs.jobs();
  if (id === undefined && options.wait !== true) {
    const states: JobState[] = [];
    for (const job of all) {
      try {
        states.push(await stateOf(jobs, job));
      } catch (error) {
        if (!(error instanceof SchemaFault)) throw error;
        say(`job ${job.id}: its plan is none: ${visible(error.message)}\n`);
      }
    }
    states.sort((a, b) => a.atMs - b.atMs);
    if (options.json === true) process.stdout.write(jsonLine(states.map(asJson)));
    else process.stdout.write(states.length === 0 ? 'no jobs\n' : states.map(lineOf).join(''));
    return;
  }
  const known = id === undefined ? await awaitedOf(jobs, all) : jobCalled(all, id);
  const state = options.wait === true ? await waited(jobs, known.id) : await stateOf(jobs, known);
  process.stdout.write(options.json === true ? jsonLine(asJson(state)) : wordsOf(state));
  if (state.failures.length > 0 || state.state === 'cancelled') process.exitCode = EXIT.FAILED;
}

/** The job that is under way; where all have ended, the one that was submitted last. @throws CliFailure USAGE */
async function awaitedOf(jobs: JobStore, all: readonly KnownJob[]): Promise<KnownJob> {
  const open: KnownJob[] = [];
  for (const job of all) if (!job.isEnded && !job.isCancelled && (await hasPlan(jobs, job))) open.push(job);
  if (open.length > 1)
    throw new CliFailure(EXIT.USAGE, `--wait: ${open.length} jobs are under way`, 'Name one.');
  let found = open[0];
  if (found !== undefined) return found;
  let foundMs = Number.NEGATIVE_INFINITY;
  for (const job of all) {
    const atMs = (await hasPlan(jobs, job))
      ? ((await jobs.planOf(job.id))?.atMs ?? Number.NEGATIVE_INFINITY)
      : Number.NEGATIVE_INFINITY;
    if (atMs >= foundMs) [found, foundMs] = [job, atMs];
  }
  if (found === undefined) throw new CliFailure(EXIT.USAGE, '--wait: there are no jobs');
  return found;
}

/** Whether the message under the subject of a plan is one. */
async function hasPlan(jobs: JobStore, { id }: KnownJob): Promise<boolean> {
  try {
    return (await jobs.planOf(id)) !== undefined;
  } catch (error) {
    if (error instanceof SchemaFault) return false;
    throw error;
  }
}

/** Shows the way there on standard error. */
async function waited(jobs: JobStore, id: string): Promise<JobState> {
  const isTerminal = process.stderr.isTTY === true;
  let lastMs = performance.now();
  let isAway = false;
  const known = new Map<number, StoredResult>();
  for (; ; await sleep(LOOK_MS)) {
    let state: JobState;
    try {
      state = await stateOf(jobs, jobCalled(await jobs.jobs(), id), known);
      isAway = false;
    } catch (error) {
      if (!jobs.isPassing(error)) throw error;
      if (!isAway)
        say(
          `${isTerminal ? CLEARED_LINE : ''}waiting for the servers: ${visible((error as Error).message)}\n`,
        );
      isAway = true;
      continue;
    }
    const isOver = state.state === 'ended' || state.state === 'cancelled';
    const isDue = performance.now() - lastMs >= LINE_MS;
    if (isTerminal) process.stderr.write(`${CLEARED_LINE}${isOver ? '' : progressLine(state)}`);
    else if (isDue) say(`${progressLine(state)}\n`);
    if (isDue) lastMs = performance.now();
    if (isOver) return state;
  }
}

function progressLine(state: JobState): string {
  const { share, parts, doneParts, rows, rowsPerS, bytesPerS, leftMs } = state;
  const full = Math.floor(share * BAR_WIDTH);
  return [
    `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${Math.floor(share * 100)}%`,
    `${grouped(doneParts)} of ${grouped(parts)} parts`,
    `${grouped(rows)} rows`,
    `${grouped(rowsPerS)} rows/s`,
    `${(bytesPerS / 1e6).toFixed(1)} MB/s`,
    ...(leftMs === null ? [] : [`ETA ${duration(leftMs)}`]),
  ].join('  ');
}

const submittedAt = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');

function lineOf({ plan, state, share, doneParts, parts, failures }: JobState): string {
  const failed = failures.length === 0 ? '' : `, ${grouped(failures.length)} failed`;
  const counts = `${grouped(doneParts)} of ${grouped(parts)} parts${failed}`;
  return `${plan.id}  ${`${Math.floor(share * 100)}%`.padStart(4)}  ${state}, ${counts}  ${plan.operation} → ${visible(plan.output)}\n`;
}

function wordsOf(state: JobState): string {
  const { plan, atMs, failures, failedRows, missingParts } = state;
  const paint = paintFor(process.stdout);
  const lines = [
    `job ${plan.id}: ${paint('bold', state.state)}, ${plan.operation} → ${visible(plan.output)}, submitted ${submittedAt(atMs)}`,
    progressLine(state),
  ];
  if (failedRows > 0) lines.push(paint('yellow', `${grouped(failedRows)} rows failed`));
  if (missingParts > 0)
    lines.push(paint('yellow', `${grouped(missingParts)} parts are missing: submit the job again`));
  if (failures.length > 0) lines.push(paint('red', `${grouped(failures.length)} parts failed:`));
  for (const { part, input, reason } of failures.slice(0, MOST_FAILURES))
    lines.push(`  part ${part}, ${visible(input)}: ${visible(reason ?? '')}`);
  if (failures.length > MOST_FAILURES)
    lines.push(`  and ${grouped(failures.length - MOST_FAILURES)} more, which the manifest lists`);
  if (state.state === 'ended') lines.push(`manifest: ${visible(plan.output)}/${manifestName(plan.id)}`);
  return `${lines.join('\n')}\n`;
}

/** Characters that move the cursor are written as escapes, which mean the same in JSON. */
const jsonLine = (value: unknown): string => `${visible(JSON.stringify(value))}\n`;

function asJson({ plan, atMs, failures, ...state }: JobState): Record<string, unknown> {
  const { id, operation, output } = plan;
  return {
    ...{ id, operation, output, submitted: submittedAt(atMs), ...state },
    failures: failures.map(({ part, input, reason }) => ({ part, input, reason })),
  };
}

function declareRetry(job: Command): void {
  const retry = job
    .command('retry')
    .description('hand the failed parts of a job out again')
    .argument('<job>', 'its id, or how it begins');
  addBusOptions(retry).addHelpText(
    'after',
    `
Example:
  $ hexcodes job retry 3f2a`,
  );
  retry.action((id: string, options: BusOptions) =>
    withBus(retry, (settings) => retryParts(id, options, settings)),
  );
}

function retryParts(id: string, options: BusOptions, settings: BusConfig): Promise<void> {
  return withJobs(options, settings, async (jobs) => {
    const job = jobCalled(await jobs.jobs(), id);
    if (job.isCancelled)
      throw new CliFailure(
        EXIT.FAILED,
        `job ${job.id} is cancelled`,
        'hexcodes job submit with the same files and options lets it go on.',
      );
    const failed = (await jobs.results(job.id)).filter(({ result }) => result.output === null);
    const parts: JobPart[] = [];
    for (const [i, { result }] of failed.entries()) {
      const part: JobPart | undefined = await jobs.partOf(job.id, result.part).catch((error: Error) => {
        if (error instanceof SchemaFault) return undefined;
        throw error;
      });
      // In this order a retry that is broken off leaves a part that is missing, which a second submit adds.
      await jobs.dropParts(job.id, result.part);
      await jobs.dropResult(job.id, result.part);
      // Not before: a worker would end the job again while all results are there.
      if (i === 0) await jobs.unmark('ended', job.id);
      if (part !== undefined) parts.push(part);
    }
    for (const part of parts) await jobs.addPart(part);
    say(`job ${job.id}: ${counted(parts.length)} handed out again\n`);
    const lost = failed.length - parts.length;
    if (lost > 0) say(`${counted(lost)} no longer in the stream: submit the job again\n`);
  });
}

const counted = (parts: number): string => `${grouped(parts)} ${parts === 1 ? 'part' : 'parts'}`;

function declareJobSetup(job: Command): void {
  const setup = job
    .command('setup')
    .description('make the stream and the consumer of jobs, or change them to what is given');
  addLimitOptions(addBusOptions(setup), {
    maxBytes: ['of the stream: some 1,000 bytes a part', '256M'],
    maxAge: ['how long jobs are kept', '30d'],
    ackWait: ['a part of a dead worker is handed out again after so long', '30s'],
  }).addHelpText(
    'after',
    `
The permissions that workers and operators need go to standard output, for the configuration of nats-server:
deploy/nats/hexcodes.conf shows how it uses them.

Examples:
  $ hexcodes job setup
  $ hexcodes job setup --replicas 3 --ack-wait 10s`,
  );
  setup.action((options: BusOptions & LimitOptions) =>
    withBus(setup, (settings) => setUp(options, settings)),
  );
}

async function setUp(options: BusOptions & LimitOptions, settings: BusConfig): Promise<void> {
  const plan = {
    stream: options.stream,
    prefix: requireSubject('--subject', options.subject),
    ...limitsOf(options),
  };
  const bus = await openBus(settings, { isPatient: false, say: sayer(false) });
  try {
    const { lines, permissions } = await bus.setUpJobs(plan);
    for (const line of lines) say(`${visible(line)}\n`);
    process.stdout.write(visibleLines(permissions));
  } finally {
    await bus.close();
  }
}

function declareCancel(job: Command): void {
  const cancel = job
    .command('cancel')
    .description('convert no further part of a job; outputs that are there stay')
    .argument('<job>', 'its id, or how it begins');
  addBusOptions(cancel).addHelpText(
    'after',
    `
Parts under way are broken off. The same job submitted again goes on with the parts that are not done.

Example:
  $ hexcodes job cancel 3f2a`,
  );
  cancel.action((id: string, options: BusOptions) =>
    withBus(cancel, (settings) => cancelJob(id, options, settings)),
  );
}

function cancelJob(id: string, options: BusOptions, settings: BusConfig): Promise<void> {
  return withJobs(options, settings, async (jobs) => {
    const job = jobCalled(await jobs.jobs(), id);
    if (job.isEnded) throw new CliFailure(EXIT.FAILED, `job ${job.id} has ended`);
    // The mark first: a worker that has a part sees it, and parts that are gone cannot be taken.
    await jobs.markCancelled(job.id);
    await jobs.dropParts(job.id);
    say(`job ${job.id} is cancelled\n`);
  });
}

export default function declare(program: Command): void {
  const job = program
    .command('job')
    .summary('convert many files on many machines')
    .description(
      'Convert many files on many machines: parts of files are work that workers take from a NATS JetStream stream.',
    )
    .addHelpText(
      'after',
      `
The files lie in a folder that all machines share. docs/engine.md says what is guaranteed, and how.

Examples:
  $ hexcodes job setup
  $ hexcodes job worker &
  $ hexcodes job submit 'in/*.parquet' --to out/
  $ hexcodes job status --wait`,
    );
  declareJobSetup(job);
  declareSubmit(job);
  declareJobWorker(job);
  declareStatus(job);
  declareRetry(job);
  declareCancel(job);
}
