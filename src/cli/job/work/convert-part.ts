// Converts one part of a job, by the conversion of `encode` and `decode`, under a name of this worker's own; the whole
// file then takes its name. Two workers that convert the same part write the same bytes and disturb each other in
// nothing.
import { join } from 'node:path';
import type { JobPart, JobPlan, PartOutput } from '../../../bus/jobs/job.js';
import { manifestName } from '../../../bus/jobs/manifest.js';
import { refuseUnwritable } from '../../../files/content/kinds.js';
import type { FilePart } from '../../../files/disk/file-part.js';
import { statOf } from '../../../files/disk/input.js';
import { CliFailure } from '../../../files/exit-codes.js';
import { badInput, badOutput } from '../../../files/file-faults.js';
import { type FileFormat, isGzipName } from '../../../files/format.js';
import { convertFiles } from '../../../files/run.js';
import type { Hexcodes } from '../../../hexcodes/library/hexcodes.js';
import type { JobConversion } from '../job-conversion.js';
import type { SharedFolder } from '../shared-folder.js';
import { type Pinned, pinInput } from './pinned.js';
import { digestOf, putOutput, requireReplaceable } from './place-output.js';
import { OwnScratch, refuseDeadly } from './scratch.js';

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
