// Which files a job may replace: those that were there when it was submitted, which `submit` writes down beside the
// outputs. A message cannot say so, as messages may be anybody's; whoever writes this list may write to the folder.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isJobId } from '../../../bus/jobs/read-job.js';
import { jsonIn, list, relativePath } from '../../../bus/schema.js';
import { createAfresh } from '../../../files/disk/file-output.js';
import { badOutput } from '../../../files/exit-codes.js';

const MOST_BYTES = 1 << 28;
const MOST_NAMES = 10_000_000;

/** @throws Error for a job whose id is none */
export function replacedName(job: string): string {
  if (!isJobId(job)) throw new Error(`${job} is no id of a job`);
  return `.hexcodes-${job}.replaces`;
}

/**
 * Writes down which outputs are there; nothing where none is.
 * @param folder of the outputs
 * @throws CliFailure BAD_OUTPUT
 */
export function writeReplaced(folder: string, job: string, outputs: readonly string[]): void {
  const there = outputs.filter(
    (name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true,
  );
  if (there.length === 0) return;
  const path = join(folder, replacedName(job));
  try {
    const file = createAfresh(path, 0o644);
    try {
      writeFileSync(file, JSON.stringify(there));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw badOutput(path, error);
  }
}

/** Whether an output may replace the file of its name. */
export function mayReplace(folder: string, job: string, output: string): boolean {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  let file: number | undefined;
  try {
    file = openSync(join(folder, replacedName(job)), O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > MOST_BYTES) return false;
    return list(relativePath, MOST_NAMES)(jsonIn(readFileSync(file), MOST_BYTES), 'it').includes(output);
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Removes the list of a job that is over. */
export function removeReplaced(folder: string, job: string): void {
  const path = join(folder, replacedName(job));
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) rmSync(path, { force: true });
  } catch {
    // It is another user's: the job has ended all the same.
  }
}
