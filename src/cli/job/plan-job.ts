// Makes the plan of a job and its parts, of files that are there. The same files and options give the same job, byte
// for byte.
import { join } from 'node:path';
import type { JobPart, JobPlan } from '../../bus/jobs/job.js';
import { idOfPlan, treeOf } from '../../bus/jobs/job-digest.js';
import { manifestName } from '../../bus/jobs/manifest.js';
import { readPart, readPlan } from '../../bus/jobs/read-job.js';
import { SchemaFault } from '../../bus/schema.js';
import { refuseUnwritable } from '../../files/content/kinds.js';
import type { FilePart } from '../../files/disk/file-part.js';
import { statOf } from '../../files/disk/input.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { VERSION } from '../../hexcodes/version.js';
import { JOB_CHECKS } from './job-checks.js';
import type { JobConversion } from './job-conversion.js';
import { JobFiles } from './parts/job-files.js';
import { outputNames } from './parts/output-names.js';
import { splitFile } from './parts/split-file.js';
import type { SharedFolder } from './shared-folder.js';

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
