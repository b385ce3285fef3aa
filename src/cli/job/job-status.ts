// `hexcodes job status`: how far jobs have come, at which rate, and which parts failed and why.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type JobProgress, progressOf } from '../../engine/jobs/job-progress.js';
import type { JobStore, KnownJob, StoredPlan, StoredResult } from '../../engine/jobs/job-store.js';
import { manifestName } from '../../engine/jobs/manifest.js';
import { withBus } from '../engine/shared-options.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { grouped, paintFor } from '../terminal/paint.js';
import { duration } from '../terminal/progress.js';
import { say } from '../terminal/say.js';
import { visible } from '../terminal/visible.js';
import { addBusOptions, type BusOptions, oneOf, withJobs } from './job-options.js';

interface Options extends BusOptions {
  readonly wait?: boolean;
  readonly json?: boolean;
}

type State = 'ended' | 'cancelled' | 'under way' | 'no worker has a part';

interface JobState extends JobProgress, StoredPlan {
  readonly state: State;
  /** Parts that are not in the stream. */
  readonly missingParts: number;
}

const LOOK_MS = 1000;
const LINE_MS = 10_000;
const BAR_WIDTH = 20;
const MOST_FAILURES = 20;

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
  const open = all.filter(({ isEnded, isCancelled }) => !isEnded && !isCancelled);
  if (id === undefined && options.wait === true && open.length !== 1)
    throw new CliFailure(EXIT.USAGE, `--wait: ${open.length} jobs are under way`, 'Name one.');
  if (id === undefined && options.wait !== true) {
    const states = (await Promise.all(all.map((job) => stateOf(jobs, job)))).sort((a, b) => a.atMs - b.atMs);
    if (options.json === true) process.stdout.write(`${JSON.stringify(states.map(asJson))}\n`);
    else process.stdout.write(states.length === 0 ? 'no jobs\n' : states.map(lineOf).join(''));
    return;
  }
  const known = id === undefined ? open[0]! : oneOf(all, id);
  const state = options.wait === true ? await waited(jobs, known.id) : await stateOf(jobs, known);
  process.stdout.write(options.json === true ? `${JSON.stringify(asJson(state))}\n` : wordsOf(state));
  if (state.failures.length > 0 || state.state === 'cancelled') process.exitCode = EXIT.FAILED;
}

/** @param known results that need not be read again; those that were read are added */
async function stateOf(
  jobs: JobStore,
  { id, isCancelled, isEnded }: KnownJob,
  known = new Map<number, StoredResult>(),
): Promise<JobState> {
  const [stored, results, parts, done, { taken }] = await Promise.all([
    jobs.planOf(id),
    jobs.results(id, known),
    jobs.partNumbers(id),
    jobs.resultNumbers(id),
    jobs.underWay(),
  ]);
  if (stored === undefined) throw new CliFailure(EXIT.FAILED, `job ${id} is gone`);
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

/** Shows the way there on standard error. */
async function waited(jobs: JobStore, id: string): Promise<JobState> {
  const isTerminal = process.stderr.isTTY === true;
  let lastMs = performance.now();
  const known = new Map<number, StoredResult>();
  for (;;) {
    const state = await stateOf(jobs, oneOf(await jobs.jobs(), id), known);
    const isOver = state.state === 'ended' || state.state === 'cancelled';
    const isDue = performance.now() - lastMs >= LINE_MS;
    if (isTerminal) process.stderr.write(`\r\u001b[2K${isOver ? '' : progressLine(state)}`);
    else if (isDue) say(`${progressLine(state)}\n`);
    if (isDue) lastMs = performance.now();
    if (isOver) return state;
    await sleep(LOOK_MS);
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

function asJson({ plan, atMs, failures, ...state }: JobState): Record<string, unknown> {
  const { id, operation, output } = plan;
  return {
    ...{ id, operation, output, submitted: submittedAt(atMs), ...state },
    failures: failures.map(({ part, input, reason }) => ({ part, input, reason })),
  };
}
