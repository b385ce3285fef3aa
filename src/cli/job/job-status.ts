// `hexcodes job status`: how far jobs have come, at which rate, and which parts failed and why.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { JobStore, KnownJob, StoredResult } from '../../bus/jobs/job-store.js';
import { manifestName } from '../../bus/jobs/manifest.js';
import { SchemaFault } from '../../bus/schema.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { grouped, paintFor } from '../../files/terminal/paint.js';
import { duration } from '../../files/terminal/progress.js';
import { say } from '../../files/terminal/say.js';
import { visible } from '../../files/terminal/visible.js';
import { withBus } from '../bus/shared-options.js';
import { addBusOptions, type BusOptions, oneOf, withJobs } from './job-options.js';
import { type JobState, stateOf } from './job-state.js';

interface Options extends BusOptions {
  readonly wait?: boolean;
  readonly json?: boolean;
}

const LOOK_MS = 1000;
const LINE_MS = 10_000;
const BAR_WIDTH = 20;
const MOST_FAILURES = 20;
const CLEARED_LINE = '\r\u001b[2K';

export function declareStatus(job: Command): void {
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
  const known = id === undefined ? await awaitedOf(jobs, all) : oneOf(all, id);
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
      state = await stateOf(jobs, oneOf(await jobs.jobs(), id), known);
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
