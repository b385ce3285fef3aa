// `hexcodes job submit`: one message a part of the files. Submitted again, the same job goes on: parts that are there
// are not added, and parts that are done are not done again.
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Stored } from '../../bus/engine.js';
import type { JobPart, JobPlan } from '../../bus/jobs/job.js';
import type { JobStore } from '../../bus/jobs/job-store.js';
import { SchemaFault } from '../../bus/schema.js';
import type { BusConfig } from '../../config/config.js';
import { badInput, badOutput, CliFailure, EXIT } from '../../files/exit-codes.js';
import { loadLibrary } from '../../files/library.js';
import { grouped, say, shellWord, visible } from '../../files/terminal/say.js';
import { requireSize, withBus } from '../bus-options.js';
import {
  addBusOptions,
  addJobConversion,
  addRootOption,
  type BusOptions,
  type JobConversionOptions,
  jobConversionOf,
  withJobs,
} from './job-conversion.js';
import { writeReplaced } from './parts/replaced-names.js';
import { type PlannedJob, planJob } from './plan-job.js';
import { SharedFolder } from './shared-folder.js';

// Files by pattern, where no shell has put them in: `*` and `?` within a name, `**` for any number of folders.

/**
 * The files that paths and patterns name, each once, sorted by name.
 * @throws CliFailure BAD_INPUT for a path or a pattern without a file
 */
export function filesOf(patterns: readonly string[]): string[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const paths = existsSync(pattern) ? [pattern] : fitting(pattern);
    if (paths.length === 0) throw badInput({ file: pattern }, 'there is no such file');
    for (const path of paths) {
      if (statSync(path).isDirectory())
        throw badInput({ file: path }, 'it is a folder', `Name its files: '${join(path, '*.csv')}'.`);
      found.add(path);
    }
  }
  return [...found].sort();
}

function fitting(pattern: string): string[] {
  const words = pattern.split('/').filter((word, i) => word !== '' || i === 0);
  if (!words.some((word) => /[*?]/.test(word))) return [];
  const isAbsolute = words[0] === '';
  return below(isAbsolute ? '/' : '', isAbsolute ? words.slice(1) : words);
}

/** Files below a folder that fit the words of a pattern; those with a dot in front only where the word has it. */
function below(folder: string, [word, ...rest]: readonly string[]): string[] {
  if (word === undefined) return [];
  const entryPath = (name: string): string => (folder === '' ? name : join(folder, name));
  if (word !== '**' && !/[*?]/.test(word)) {
    const path = entryPath(word);
    if (!existsSync(path)) return [];
    return rest.length === 0 ? filesAmong([path]) : below(path, rest);
  }
  const entries = foldersAndFiles(folder);
  if (word === '**') {
    const inner = entries.filter(({ name, isFolder }) => isFolder && !name.startsWith('.'));
    const here = below(folder, rest.length === 0 ? ['*'] : rest);
    return [...here, ...inner.flatMap(({ name }) => below(entryPath(name), [word, ...rest]))];
  }
  const fits = new RegExp(
    `^${word
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'su',
  );
  const paths = entries
    .filter(({ name }) => fits.test(name) && (word.startsWith('.') || !name.startsWith('.')))
    .map(({ name }) => entryPath(name));
  return rest.length === 0 ? filesAmong(paths) : paths.flatMap((path) => below(path, rest));
}

const filesAmong = (paths: readonly string[]): string[] =>
  paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);

function foldersAndFiles(folder: string): { name: string; isFolder: boolean }[] {
  try {
    const entries = readdirSync(folder === '' ? '.' : folder, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch {
    return [];
  }
}

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
  jobs: JobStore,
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
async function requirePlan(jobs: JobStore, { id }: JobPlan, stored: Stored): Promise<void> {
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
