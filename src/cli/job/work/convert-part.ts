// Converts one part of a job, by the conversion of `encode` and `decode`, under a name of this worker's own; the whole file then
// takes its name. Two workers that convert the same part write the same bytes and disturb each other in nothing.
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { JobPart, JobPlan, PartOutput } from '../../../engine/jobs/job.js';
import type { Hexcodes } from '../../../library/hexcodes.js';
import { CliFailure, EXIT } from '../../exit-codes.js';
import { badInput, badOutput } from '../../file-faults.js';
import { destinationOf } from '../../files/disk/destination.js';
import { replaceBy } from '../../files/disk/file-output.js';
import type { FilePart } from '../../files/disk/file-part.js';
import { statOf } from '../../files/disk/input.js';
import { identityOf } from '../../files/disk/same-file.js';
import type { FileFormat } from '../../files/format.js';
import { convertFiles } from '../../files/run.js';
import type { JobConversion } from '../job-conversion.js';
import type { SharedFolder } from '../shared-folder.js';

export interface PartWork {
  readonly plan: JobPlan;
  readonly part: JobPart;
  /** Breaks the work off. */
  readonly signal: AbortSignal;
  /** Asked when all is written: whether the output may take its name. */
  readonly mayFinish: () => Promise<boolean>;
}

/** Of all workers, below the output folder. */
export const scratchName = (job: string): string => `.hexcodes-${job}`;

/** Another try would end as this one. */
export class LastingFailure extends CliFailure {}

/** A worker is hardly killed so often while it has the same part. */
const MOST_DEATHS = 50;

/**
 * The working directory must be the shared folder.
 * @param workerId one word of a file name
 * @returns null where the output may not take its name
 * @throws CliFailure
 */
export async function convertPart(
  hexcodes: Hexcodes,
  shared: SharedFolder,
  workerId: string,
  { plan, part, signal, mayFinish }: PartWork,
): Promise<PartOutput | null> {
  const conversion = plan.conversion as JobConversion;
  const { range, from, to } = part as { range: FilePart | null; from: FileFormat; to: FileFormat };
  const input = shared.inputPath(part.input);
  requireUnchanged(input, part);
  const final = shared.outputPath(plan.output, part.output);
  requireReplaceable(final, input, part.output);
  const own = `${part.part}-${workerId}`;
  const scratch = dirname(shared.outputPath(plan.output, join(scratchName(plan.id), own, 'x')));
  refuseDeadly(dirname(scratch), part.part);
  const written = join(scratch, basename(part.output));
  try {
    const { tally } = await convertFiles(
      hexcodes,
      {
        ...conversion,
        ...{ inputs: [part.input], output: written, from, to },
        input: { ...conversion.input, part: range ?? undefined },
        ...{ sort: null, isResume: false, threads: 1, isQuiet: true, signal },
      },
      () => undefined,
    );
    const sha256 = await digestOf(written);
    const { size: sizeBytes } = statSync(written);
    requireUnchanged(shared.inputPath(part.input), part);
    if (!(await mayFinish())) return null;
    requireReplaceable(final, input, part.output);
    takeName(written, final, part.output);
    const failed = Object.fromEntries(tally.failed);
    return { name: part.output, rows: tally.rows, failed, sizeBytes, sha256 };
  } catch (error) {
    // The scratch file of a worker tells people nothing.
    if (error instanceof CliFailure)
      error.message = error.message.replaceAll(written, join(plan.output, part.output));
    throw error;
  } finally {
    removeScratch(scratch);
  }
}

/** A part that is larger than the memory, say, ends each worker that takes it: their scratch folders are left. */
function refuseDeadly(folder: string, part: number): void {
  const left = readdirSync(folder).filter((name) => name.startsWith(`${part}-`));
  if (left.length <= MOST_DEATHS) return;
  for (const name of left) rmSync(join(folder, name), { recursive: true, force: true });
  throw new LastingFailure(EXIT.FAILED, `${MOST_DEATHS} workers died or were killed while they converted it`);
}

/** Parts are ranges of the file as it was. */
function requireUnchanged(path: string, { input, file }: JobPart): void {
  const { sizeBytes, modifiedMs } = statOf(path);
  if (sizeBytes === file.sizeBytes && Math.floor(modifiedMs ?? 0) === file.modifiedMs) return;
  throw badInput({ file: input }, 'it has changed since the job was submitted');
}

/** A link is not followed, as it may lead anywhere, and the input is kept. */
function requireReplaceable(path: string, input: string, name: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw badOutput(name, new Error('it is there, and no regular file'));
  if (identityOf(path) === identityOf(input)) throw badOutput(name, new Error('it is the input'));
}

/** As `encode -o` replaces a file: at once, and with its permissions and owner. */
function takeName(written: string, final: string, name: string): void {
  try {
    const destination = destinationOf(final);
    if (destination.kind !== 'file') throw new Error('it is there, and no regular file');
    replaceBy(written, destination);
  } catch (error) {
    throw error instanceof CliFailure ? error : badOutput(name, error);
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }))
      hash.update(chunk as Buffer);
  } catch (error) {
    throw badOutput(path, error);
  }
  return hash.digest('hex');
}

/** Makes room for the next part, also where this one failed on a full disk. */
function removeScratch(scratch: string): void {
  try {
    rmSync(scratch, { recursive: true, force: true });
    rmdirSync(dirname(scratch));
  } catch {
    // Other workers are in it, or the job has ended and it is gone.
  }
}
