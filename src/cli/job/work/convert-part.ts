// Converts one part of a job, by the conversion of `encode` and `decode`, under a name of this worker's own; the whole
// file then takes its name. Two workers that convert the same part write the same bytes and disturb each other in
// nothing.

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { JobPart, JobPlan, PartOutput } from '../../../bus/jobs/job.js';
import { manifestName } from '../../../bus/jobs/job-progress.js';
import { refuseUnwritable } from '../../../files/content/kinds.js';
import { destinationOf, identityOf } from '../../../files/disk/destination.js';
import { replaceBy, syncDirectory } from '../../../files/disk/file-output.js';
import { type FilePart, statOf } from '../../../files/disk/input.js';
import { badInput, badOutput, CliFailure } from '../../../files/exit-codes.js';
import { type FileFormat, isGzipName } from '../../../files/format.js';
import { convertFiles } from '../../../files/run.js';
import type { Hexcodes } from '../../../hexcodes/library/hexcodes.js';
import type { JobConversion } from '../job-conversion.js';
import { mayReplace } from '../parts/replaced-names.js';
import type { SharedFolder } from '../shared-folder.js';
import { LastingFailure, OwnScratch, type Pinned, pinFolder, pinInput, refuseDeadly } from './scratch.js';

// Gives the output of a part its name. No file is replaced that was not there when the job was submitted, whatever the
// messages of the job name; a file with the same bytes is what another worker made of the part.
interface Digested {
  readonly sizeBytes: number;
  readonly sha256: string;
}

interface Placing {
  readonly written: string;
  readonly digest: Digested;
  /** The output folder, relative to the shared one. */
  readonly output: string;
  readonly job: string;
  /** Name of the output, relative to its folder. */
  readonly name: string;
  /** Path of the input, which is not replaced. */
  readonly input: string;
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** @throws CliFailure BAD_OUTPUT where there is a link, a folder, the input, or a file that the job may not replace */
async function putOutput(shared: SharedFolder, placing: Placing): Promise<void> {
  const { written, output, job, name, digest } = placing;
  const final = shared.outputPath(output, name);
  const folder = pinFolder(shared, realpathSync(dirname(final)), name);
  const path = join(folder.path, basename(final));
  try {
    if (wasLinked(written, path)) return syncDirectory(path);
    requireReplaceable(path, placing.input, name);
    const there = await digestOf(path);
    if (there.sizeBytes === digest.sizeBytes && there.sha256 === digest.sha256) return;
    if (!mayReplace(join(shared.path, output), job, name))
      throw new LastingFailure(
        badOutput(name, null).exitCode,
        badOutput(name, new Error('it is there, and was not when the job was submitted')).message,
      );
    // As `encode -o` replaces a file: at once, and with its permissions and owner.
    const destination = destinationOf(final);
    if (destination.kind !== 'file') throw new Error('it is there, and no regular file');
    replaceBy(written, { ...destination, path });
  } catch (error) {
    throw error instanceof LastingFailure ? error : badOutput(name, error);
  } finally {
    folder.close();
  }
}

/** A link is not followed, as it may lead anywhere, and the input is kept. @throws CliFailure BAD_OUTPUT */
function requireReplaceable(path: string, input: string, name: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw badOutput(name, new Error('it is there, and no regular file'));
  if (identityOf(path) === identityOf(input)) throw badOutput(name, new Error('it is the input'));
}

/** Digest of a regular file. @throws errors of the system, and for a link or another kind of file */
async function digestOf(path: string): Promise<Digested> {
  const file = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error('it is no regular file');
    const hash = createHash('sha256');
    const stream = createReadStream('', { fd: file, autoClose: false, start: 0, highWaterMark: 1 << 20 });
    for await (const chunk of stream) hash.update(chunk as Buffer);
    return { sizeBytes: stat.size, sha256: hash.digest('hex') };
  } finally {
    closeSync(file);
  }
}

/** Unlike a rename it replaces nothing. */
function wasLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export interface PartWork {
  readonly plan: JobPlan;
  readonly part: JobPart;
  /** Breaks the work off. */
  readonly signal: AbortSignal;
  /** Asked when all is written: whether the output may take its name. */
  readonly mayFinish: () => Promise<boolean>;
}

/** A name that jobs give to files of their own. */
const OWN_STEP = /^\.hexcodes-[0-9a-f]{16}(?:\.replaces)?$/;

/**
 * @param workerId one word of a file name
 * @returns null where the output may not take its name
 * @throws CliFailure
 */
export async function convertPart(
  hexcodes: Hexcodes,
  shared: SharedFolder,
  workerId: string,
  work: PartWork,
): Promise<PartOutput | null> {
  const input = pinInput(shared, work.part.input);
  try {
    return await converted(hexcodes, shared, workerId, work, input);
  } catch (error) {
    if (error instanceof CliFailure) error.message = error.message.replaceAll(input.path, work.part.input);
    throw error;
  } finally {
    input.close();
  }
}

async function converted(
  hexcodes: Hexcodes,
  shared: SharedFolder,
  workerId: string,
  { plan, part, signal, mayFinish }: PartWork,
  input: Pinned,
): Promise<PartOutput | null> {
  const conversion = plan.conversion as JobConversion;
  const { range, from, to } = part as { range: FilePart | null; from: FileFormat; to: FileFormat };
  requireUnchanged(input.path, part);
  requireOwnNone(plan.id, part.output);
  refuseUnwritable(part.output);
  requireReplaceable(shared.outputPath(plan.output, part.output), input.path, part.output);
  refuseDeadly(shared, plan.output, plan.id, part.part);
  // The scratch file of a worker tells people nothing.
  const shown = join(plan.output, part.output);
  const scratch = new OwnScratch(shared, plan.output, plan.id, part.part, workerId, isGzipName(part.output));
  const { written } = scratch;
  try {
    const { tally } = await convertFiles(
      hexcodes,
      {
        ...conversion,
        ...{ inputs: [input.path], output: written, from, to },
        input: { ...conversion.input, part: range ?? undefined },
        ...{ sort: null, isResume: false, threads: 1, isQuiet: true, signal },
      },
      () => undefined,
    );
    const digest = await digestOf(written).catch((error: unknown) => {
      throw badOutput(shown, error);
    });
    requireUnchanged(shared.inputPath(part.input), part);
    if (!(await mayFinish())) return null;
    await putOutput(shared, {
      ...{ written, digest, output: plan.output, job: plan.id, name: part.output, input: input.path },
    });
    const failed = Object.fromEntries(tally.failed);
    return { name: part.output, rows: tally.rows, failed, ...digest };
  } catch (error) {
    if (error instanceof CliFailure) error.message = error.message.replaceAll(written, shown);
    throw error;
  } finally {
    scratch.remove();
  }
}

/** Parts are ranges of the file as it was. */
function requireUnchanged(path: string, { input, file }: JobPart): void {
  const { sizeBytes, modifiedMs } = statOf(path);
  if (sizeBytes === file.sizeBytes && Math.floor(modifiedMs ?? 0) === file.modifiedMs) return;
  throw badInput({ file: input }, 'it has changed since the job was submitted');
}

/** No output is written among the scratch files of jobs, or in place of the manifest. */
function requireOwnNone(job: string, name: string): void {
  const isOwn = name === manifestName(job) || name.split('/').some((step) => OWN_STEP.test(step));
  if (isOwn) throw badOutput(name, new Error('jobs have files of their own by this name'));
}
