// Makes the plan of a job and its parts, of files that are there. The same files and options give the same job, byte
// for byte.

import { realpathSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import type { JobPart, JobPlan } from '../../bus/jobs/job.js';
import { idOfPlan, treeOf } from '../../bus/jobs/job-digest.js';
import { manifestName } from '../../bus/jobs/job-progress.js';
import { readPart, readPlan } from '../../bus/jobs/read-job.js';
import { SchemaFault } from '../../bus/schema.js';
import { refuseUnwritable } from '../../files/content/kinds.js';
import { identityOf } from '../../files/disk/destination.js';
import { type FilePart, statOf } from '../../files/disk/input.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { type FileFormat, FORMATS, formatOfName } from '../../files/format.js';
import { VERSION } from '../../hexcodes/version.js';
import { JOB_CHECKS, type JobConversion } from './job-conversion.js';
import { splitFile } from './parts/split-file.js';
import type { SharedFolder } from './shared-folder.js';

// The names of a job's outputs below its output folder: those of the inputs below the folder that all of them have in
// common, with a number for each part and the ending of another format.
interface NamedInput {
  /** Relative to the shared folder, with slashes. */
  readonly path: string;
  /** Format of the output. */
  readonly format: FileFormat;
  readonly partCount: number;
}

const PACKED = /\.(?:gz|zst)$/i;
const LEAST_DIGITS = 4;

/**
 * @param isCaseIgnored whether names that differ in case alone are one
 * @returns the names of all parts of each input
 * @throws CliFailure USAGE for two outputs of one name
 */
export function outputNames(inputs: readonly NamedInput[], isCaseIgnored = false): string[][] {
  const spelled = (name: string): string => (isCaseIgnored ? name.normalize().toLowerCase() : name);
  const folder = commonFolder(inputs.map(({ path }) => path));
  const below = inputs.map(({ path }) => posix.relative(folder, path));
  const plain = inputs.map((input, i) => partNames(below[i]!, input, false));
  const counts = new Map<string, number>();
  for (const name of plain.flat().map(spelled)) counts.set(name, (counts.get(name) ?? 0) + 1);
  // x.csv and x.parquet become x.csv.csv and x.parquet.csv as CSV.
  const names = plain.map((each, i) =>
    each.some((name) => counts.get(spelled(name))! > 1) ? partNames(below[i]!, inputs[i]!, true) : each,
  );
  const owners = new Map<string, string>();
  for (const [i, each] of names.entries())
    for (const name of each) {
      const other = owners.get(spelled(name));
      if (other !== undefined)
        throw new CliFailure(EXIT.USAGE, `${other} and ${inputs[i]!.path} would both become ${name}`);
      owners.set(spelled(name), inputs[i]!.path);
    }
  return names;
}

function partNames(path: string, { format, partCount }: NamedInput, isWhole: boolean): string[] {
  const { dir, base } = posix.parse(path);
  const isGzip = /\.gz$/i.test(base) && FORMATS[format].isText;
  const bare = base.replace(PACKED, '');
  const named = formatOfName(bare).format;
  const ownEnding = named === null ? '' : posix.extname(bare);
  const stem = isWhole ? bare : bare.slice(0, bare.length - ownEnding.length);
  const ending = !isWhole && named === format ? ownEnding : `.${FORMATS[format].extensions[0]}`;
  const digits = Math.max(LEAST_DIGITS, `${partCount}`.length);
  return Array.from({ length: partCount }, (_, i) => {
    const number = partCount === 1 ? '' : `.${`${i + 1}`.padStart(digits, '0')}`;
    return posix.join(dir, `${stem}${number}${ending}${isGzip ? '.gz' : ''}`);
  });
}

/** The deepest folder that holds all files. */
function commonFolder(paths: readonly string[]): string {
  let common = posix.dirname(paths[0] ?? '.').split('/');
  for (const path of paths) {
    const folder = posix.dirname(path).split('/');
    const differs = common.findIndex((word, i) => folder[i] !== word);
    if (differs >= 0) common = common.slice(0, differs);
  }
  return common.join('/') || '.';
}

export class JobFiles {
  /** Without links. */
  readonly #output: string;
  readonly #outputIdentity: string | null;
  /** Paths as given, by their identity. */
  readonly #inputs = new Map<string | null, string>();
  /** Whether folders are the output folder, or lie in it. */
  readonly #isOutput = new Map<string, boolean>();

  /** @param output the output folder, which is there */
  constructor(readonly output: string) {
    this.#output = realpathSync(output);
    this.#outputIdentity = identityOf(this.#output);
  }

  /** Whether names that differ in case alone are one in the output folder, as its own name shows. */
  get isCaseIgnored(): boolean {
    for (let path = this.#output; path !== dirname(path); path = dirname(path)) {
      const name = basename(path);
      const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
      if (other !== name) return identityOf(join(dirname(path), other)) === identityOf(path);
    }
    return false;
  }

  /**
   * A later job of the same pattern would take the outputs for inputs, and an output could be written over an input.
   * @throws CliFailure USAGE for a file in the output folder
   */
  addInput(path: string): void {
    if (this.#isBelow(realpathSync(path)))
      throw new CliFailure(EXIT.USAGE, `${path} lies in the output folder ${this.output}`);
    this.#inputs.set(identityOf(path), path);
  }

  /** @throws CliFailure USAGE where a file of this name, below the output folder, is an input */
  requireNoInput(name: string): void {
    const identity = identityOf(join(this.#output, name));
    const input = identity === null ? undefined : this.#inputs.get(identity);
    if (input === undefined) return;
    const words = `the input ${input} and the output ${join(this.output, name)} are one file`;
    throw new CliFailure(EXIT.USAGE, words, 'Name another folder with --to.');
  }

  #isBelow(path: string): boolean {
    const folder = dirname(path);
    if (folder === path) return false;
    const known = this.#isOutput.get(folder);
    if (known !== undefined) return known;
    const isOutput = identityOf(folder) === this.#outputIdentity || this.#isBelow(folder);
    this.#isOutput.set(folder, isOutput);
    return isOutput;
  }
}

export interface JobRequest {
  /** Paths. */
  readonly files: readonly string[];
  /** The output folder, which is there. */
  readonly output: string;
  readonly conversion: JobConversion;
  readonly partBytes: number;
  readonly isCode: (text: string) => boolean;
}

export interface PlannedJob {
  readonly plan: JobPlan;
  readonly parts: readonly JobPart[];
}

/** @throws CliFailure USAGE for files and folders that no job can have */
export async function planJob(request: JobRequest, shared: SharedFolder): Promise<PlannedJob> {
  const { conversion } = request;
  const output = shared.nameOf(request.output);
  const files = new JobFiles(request.output);
  const inputs = [];
  for (const path of request.files) {
    const name = shared.nameOf(path);
    files.addInput(path);
    const { sizeBytes, modifiedMs } = statOf(path);
    if (sizeBytes === null || modifiedMs === null)
      throw new CliFailure(EXIT.USAGE, `${path} is no regular file: the parts of a job must be`);
    const { format, parts } = await splitFile(path, { ...request, conversion, to: conversion.to });
    inputs.push({ name, sizeBytes, modifiedMs: Math.floor(modifiedMs), format, parts });
  }
  const named = inputs.map(({ name, format, parts }) => ({
    ...{ path: name, format: conversion.to ?? format, partCount: parts.length },
  }));
  const names = outputNames(named, files.isCaseIgnored);
  for (const name of names.flat()) {
    refuseUnwritable(name);
    files.requireNoInput(name);
  }
  const split = inputs.flatMap(({ name, sizeBytes, modifiedMs, format, parts }, i) =>
    parts.map((range, k) => ({
      ...{ input: name, file: { sizeBytes, modifiedMs }, range: range ?? null },
      sizeBytes: Math.round(shareOf(range, parts) * sizeBytes),
      ...{ from: format, to: conversion.to ?? format, output: names[i]![k]! },
    })),
  );
  const numbered = split.map((each, i) => ({ part: i + 1, ...each }));
  const { digest: partsDigest, proofs } = treeOf(numbered);
  const shape = {
    ...{ version: VERSION, operation: conversion.operation, output, conversion },
    ...{ files: inputs.length, parts: split.length, partsDigest },
    sizeBytes: inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
  const id = idOfPlan(shape);
  const manifest = manifestName(id);
  if (names.flat().includes(manifest))
    throw new CliFailure(EXIT.USAGE, `${join(output, manifest)} would be an output and the manifest`);
  const planned = {
    plan: { id, ...shape },
    parts: numbered.map((part, i) => ({ job: id, ...part, proof: proofs[i]! })),
  };
  requireReadable(planned);
  return planned;
}

/** Workers take nothing else. @throws CliFailure USAGE for names, columns and other values that no message may bring */
function requireReadable({ plan, parts }: PlannedJob): void {
  const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  try {
    readPlan(plan.id, bytesOf(plan), JOB_CHECKS);
    for (const part of parts) readPart(plan.id, part.part, bytesOf(part), JOB_CHECKS);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw new CliFailure(EXIT.USAGE, `no worker would take the job: ${error.message}`);
  }
}

/** Share of a file's bytes, by the bytes or rows of its parts. */
function shareOf(range: FilePart | undefined, parts: readonly (FilePart | undefined)[]): number {
  const last = parts.at(-1);
  return range === undefined || last === undefined ? 1 : (range.end - range.start) / last.end;
}
