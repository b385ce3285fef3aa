// Gives the output of a part its name. No file is replaced that was not there when the job was submitted, whatever the
// messages of the job name; a file with the same bytes is what another worker made of the part.
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
import { destinationOf } from '../../../files/disk/destination.js';
import { replaceBy, syncDirectory } from '../../../files/disk/file-output.js';
import { identityOf } from '../../../files/disk/same-file.js';
import { badOutput } from '../../../files/file-faults.js';
import { mayReplace } from '../parts/replaced-names.js';
import type { SharedFolder } from '../shared-folder.js';
import { pinFolder } from './pinned.js';
import { LastingFailure } from './scratch.js';

export interface Digested {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface Placing {
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
export async function putOutput(shared: SharedFolder, placing: Placing): Promise<void> {
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
export function requireReplaceable(path: string, input: string, name: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw badOutput(name, new Error('it is there, and no regular file'));
  if (identityOf(path) === identityOf(input)) throw badOutput(name, new Error('it is the input'));
}

/** Digest of a regular file. @throws errors of the system, and for a link or another kind of file */
export async function digestOf(path: string): Promise<Digested> {
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
