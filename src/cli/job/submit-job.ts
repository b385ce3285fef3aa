// `hexcodes job submit`: one message a part of the files. Submitted again, the same job goes on: parts that are there
// are not added, and parts that are done are not done again.
import { mkdirSync } from 'node:fs';
import type { Command } from 'commander';
import type { Stored } from '../../bus/engine.js';
import type { JobPart, JobPlan } from '../../bus/jobs/job.js';
import type { NatsJobs } from '../../bus/nats/nats-jobs.js';
import { SchemaFault } from '../../bus/schema.js';
import type { BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { badOutput } from '../../files/file-faults.js';
import { loadLibrary } from '../../files/library.js';
import { grouped } from '../../files/terminal/paint.js';
import { say } from '../../files/terminal/say.js';
import { shellWord } from '../../files/terminal/shell-word.js';
import { visible } from '../../files/terminal/visible.js';
import { requireSize } from '../bus/quantities.js';
import { withBus } from '../bus/shared-options.js';
import { addJobConversion, type JobConversionOptions, jobConversionOf } from './job-conversion.js';
import { addBusOptions, addRootOption, type BusOptions, withJobs } from './job-options.js';
import { filesOf } from './parts/file-patterns.js';
import { writeReplaced } from './parts/replaced-names.js';
import { type PlannedJob, planJob } from './plan-job.js';
import { SharedFolder } from './shared-folder.js';

interface Options extends BusOptions, JobConversionOptions {
  readonly to: string;
  readonly root: string;
  readonly partSize: string;
}

/** Messages that are stored at once. */
const AT_ONCE = 64;

export function declareSubmit(job: Command): void {
  const submit = job
    .command('submit')
    .description('submit the conversion of files; its id goes to standard output')
    .argument('<files...>', "files, or patterns in quotes: 'in/*.csv', 'in/**/*.parquet'")
    .requiredOption('--to <folder>', 'the output folder');
  addRootOption(submit).option(
    '--part-size <size>',
    'CSV, NDJSON and Parquet files that are larger are cut into parts',
    '64M',
  );
  addBusOptions(addJobConversion(submit)).addHelpText(
    'after',
    `
An output has the name of its input; parts of a file are numbered. The same job submitted again adds nothing.

Examples:
  $ hexcodes job submit 'in/*.parquet' --to out/
  $ hexcodes job submit 'in/**/*.csv' --to out/ --format parquet -r 10 --errors skip
  $ hexcodes job submit --decode codes.csv --to out/ --column place`,
  );
  submit.action((files: string[], options: Options) =>
    withBus(submit, (settings) => submitJob(files, options, settings)),
  );
}

async function submitJob(patterns: string[], options: Options, settings: BusConfig): Promise<void> {
  const partBytes = requireSize('--part-size', options.partSize);
  const conversion = await jobConversionOf(options);
  const shared = new SharedFolder(options.root);
  const files = filesOf(patterns);
  try {
    mkdirSync(options.to, { recursive: true });
  } catch (error) {
    throw badOutput(options.to, error);
  }
  const hexcodes = await loadLibrary();
  const planned = await planJob(
    {
      ...{ files, output: options.to, conversion, partBytes },
      isCode: (text) => hexcodes.isValid(text),
    },
    shared,
  );
  const { id, sizeBytes, parts } = planned.plan;
  const { added, done } = await withJobs(options, settings, (jobs) => store(jobs, planned, options.to));
  const counts = [
    `${grouped(parts)} ${parts === 1 ? 'part' : 'parts'} of ${grouped(files.length)} ${files.length === 1 ? 'file' : 'files'}`,
    `${grouped(sizeBytes / 1e6)} MB`,
    ...(added === parts ? [] : [`${grouped(added)} added, ${grouped(done)} done before`]),
  ];
  say(`job ${id}: ${counts.join(', ')} → ${visible(shellWord(options.to))}\n`);
  process.stdout.write(`${id}\n`);
}

/** Stores the plan first: workers look into it. */
async function store(
  jobs: NatsJobs,
  { plan, parts }: PlannedJob,
  folder: string,
): Promise<{ readonly added: number; readonly done: number }> {
  const { id } = plan;
  await requirePlan(jobs, plan, await jobs.addPlan(plan));
  const isCancelled = await jobs.isCancelled(id);
  // Where cancelling was broken off, parts are there that workers have left out for good.
  if (isCancelled) await jobs.dropParts(id);
  const [done, there] = [await jobs.resultNumbers(id), await jobs.partNumbers(id)];
  // Neither is there of parts that were cancelled, or lost in a retry that was broken off.
  const missing: JobPart[] = parts.filter(({ part }) => !done.has(part) && !there.has(part));
  writeReplaced(
    folder,
    id,
    missing.map(({ output }) => output),
  );
  if (missing.length > 0) await jobs.unmark('ended', id);
  if (isCancelled) await jobs.unmark('cancelled', id);
  let added = 0;
  for (let at = 0; at < missing.length; at += AT_ONCE) {
    const stored = await Promise.all(missing.slice(at, at + AT_ONCE).map((part) => jobs.addPart(part)));
    added += stored.filter((each) => each === 'stored').length;
  }
  return { added, done: done.size };
}

/** @throws CliFailure FAILED where the subject of the plan has another message */
async function requirePlan(jobs: NatsJobs, { id }: JobPlan, stored: Stored): Promise<void> {
  if (stored === 'stored') return;
  try {
    await jobs.planOf(id);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new CliFailure(
      EXIT.FAILED,
      `the message under the subject of the plan of job ${id} is none: ${error.message}`,
      'Remove it with the tools of NATS, and let nobody publish there who should not: docs/engine.md.',
    );
  }
}
