// The scratch folder of a job, `.hexcodes-` and its id below the output folder, in which each worker makes a folder of
// its own for a part. A folder has a mark in it that names the job; one without is somebody else's, and is left.
// Nothing is removed but the files that a worker writes, by their names, and folders that are empty then.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isJobId } from '../../../bus/jobs/read-job.js';
import { badInput, badOutput, CliFailure, EXIT, reasonOf } from '../../../files/exit-codes.js';
import type { SharedFolder } from '../shared-folder.js';

// Files and folders of the share that are held open while they are worked on: their path goes by the descriptor, so
// that nobody who may write to the share leads it elsewhere by a link that is put into its way meanwhile. Where the
// system has no such paths it is that of the file itself, which is looked at once more.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = process.platform === 'linux' && existsSync(DESCRIPTORS);

export class Pinned {
  /** Leads to the file or folder that is open. */
  readonly path: string;
  readonly #descriptor: number | undefined;

  /** @param real a path without links @throws errors of the system, and for a path that `holds` refuses */
  constructor(real: string, kind: 'file' | 'folder', holds: (real: string) => boolean) {
    // A FIFO would keep it waiting.
    const flags = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);
    // Not every system opens folders.
    const isOpen = kind === 'file' || hasDescriptors;
    this.#descriptor = isOpen ? openSync(real, kind === 'folder' ? flags | O_DIRECTORY : flags) : undefined;
    const own = `${DESCRIPTORS}/${this.#descriptor}`;
    this.path = hasDescriptors ? own : real;
    try {
      if (!holds(hasDescriptors ? readlinkSync(own) : realpathSync(real)))
        throw new Error('a link leads out of the shared folder');
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get isFile(): boolean {
    return this.#descriptor !== undefined && fstatSync(this.#descriptor).isFile();
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** The input that a part names, open. @throws CliFailure BAD_INPUT */
export function pinInput(shared: SharedFolder, name: string): Pinned {
  const real = shared.inputPath(name);
  let pinned: Pinned;
  try {
    pinned = new Pinned(real, 'file', (path) => shared.holds(path));
  } catch (error) {
    throw badInput({ file: name }, reasonOf(error));
  }
  if (pinned.isFile) return pinned;
  pinned.close();
  throw badInput({ file: name }, 'it is no regular file');
}

/**
 * A folder of the share, open.
 * @param path where no link is last
 * @param name for messages
 * @throws CliFailure BAD_OUTPUT
 */
export function pinFolder(shared: SharedFolder, path: string, name: string): Pinned {
  try {
    return new Pinned(path, 'folder', (real) => shared.holds(real));
  } catch (error) {
    throw badOutput(name, error);
  }
}

const MARK = 'made-by';
const WRITTEN = 'part';
/** A folder of a worker: the number of the part, and the worker. */
const OWN_NAME = /^[1-9]\d{0,7}-[\w.-]{1,512}$/;
/** Files that a worker writes: the output, its partial file, journal and lock. */
const FILE_NAME = /^(?:made-by|part(?:\.gz)?(?:\.partial[\w.]*)?)$/;
const MOST_MARK_BYTES = 64;

/** @throws Error for a job whose id is none */
export function scratchName(job: string): string {
  if (!isJobId(job)) throw new Error(`${job} is no id of a job`);
  return `.hexcodes-${job}`;
}

const markOf = (job: string): string => `hexcodes job ${job}\n`;

/** The folder of one worker for one part. */
export class OwnScratch {
  /** Where the output is written; it has no name from a message. */
  readonly written: string;
  readonly #shared: SharedFolder;
  readonly #output: string;
  readonly #job: string;
  readonly #name: string;

  /** @param output the output folder @param worker a word of a file name @throws CliFailure BAD_OUTPUT */
  constructor(
    shared: SharedFolder,
    output: string,
    job: string,
    part: number,
    worker: string,
    isGzip: boolean,
  ) {
    this.#shared = shared;
    this.#output = output;
    this.#job = job;
    this.#name = `${part}-${worker}`;
    if (!OWN_NAME.test(this.#name)) throw new Error(`${this.#name} is no name of a folder of a worker`);
    const outer = scratchName(job);
    const path = join(outer, this.#name);
    // Not through a link of that name, which may lead to another folder of the share.
    shared.folderIn(output, outer);
    const folder = dirname(shared.outputPath(output, join(path, 'x')));
    if (shared.folderIn(output, outer) === undefined) throw badOutput(outer, new Error('it is gone'));
    try {
      writeFileSync(join(folder, MARK), markOf(job), { flag: 'wx' });
    } catch (error) {
      throw badOutput(path, error);
    }
    this.written = join(folder, isGzip ? `${WRITTEN}.gz` : WRITTEN);
  }

  /** Makes room for the next part, also where this one failed on a full disk. */
  remove(): void {
    removeThose(this.#shared, this.#output, this.#job, (name) => name === this.#name);
  }
}

/** The folders that workers have or have left, of one part. */
export function scratchOf(shared: SharedFolder, output: string, job: string, part: number): string[] {
  const folder = shared.folderIn(output, scratchName(job));
  if (folder === undefined) return [];
  return readdirSync(folder).filter((name) => OWN_NAME.test(name) && name.startsWith(`${part}-`));
}

/** Removes folders of workers that this job has made, and its scratch folder if nothing else is in it. */
export function removeThose(
  shared: SharedFolder,
  output: string,
  job: string,
  isChosen: (name: string) => boolean,
): void {
  let folder: Pinned | undefined;
  try {
    const path = shared.folderIn(output, scratchName(job));
    if (path === undefined) return;
    folder = pinFolder(shared, path, path);
    for (const name of readdirSync(folder.path))
      if (OWN_NAME.test(name) && isChosen(name)) removeOwn(shared, folder, name, job);
    // Fails where others are in it.
    rmdirSync(path);
  } catch {
    // Other workers are in it, or the job has ended and it is gone, or it is another user's.
  } finally {
    folder?.close();
  }
}

function removeOwn(shared: SharedFolder, outer: Pinned, name: string, job: string): void {
  const path = join(outer.path, name);
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  try {
    const folder = pinFolder(shared, path, name);
    try {
      if (hasMark(join(folder.path, MARK), job)) removeFiles(folder.path);
    } finally {
      folder.close();
    }
    rmdirSync(path);
  } catch {
    // Something else is in it, or it is another user's.
  }
}

/** Leaves folders, which a worker does not make. */
function removeFiles(folder: string): void {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (each) => !each.isDirectory() && FILE_NAME.test(each.name) && each.name !== MARK,
  );
  for (const { name } of files) rmSync(join(folder, name), { force: true });
  // Last, and only where nothing else is left: a removal that is broken off can be gone on with.
  if (readdirSync(folder).length === 1) rmSync(join(folder, MARK), { force: true });
}

function hasMark(path: string, job: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > MOST_MARK_BYTES) return false;
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    return readFileSync(file, 'utf8') === markOf(job);
  } finally {
    closeSync(file);
  }
}

/** Most attempts at one part: a worker is hardly killed that often while it has the same part. */
const MOST_DEATHS = 50;

/** Another try would end as this one. */
export class LastingFailure extends CliFailure {}

/**
 * A part that is larger than the memory, say, ends each worker that takes it: their scratch folders are left.
 * @throws LastingFailure where all of them are taken
 */
export function refuseDeadly(shared: SharedFolder, output: string, job: string, part: number): void {
  if (scratchOf(shared, output, job, part).length < MOST_DEATHS) return;
  removeThose(shared, output, job, (name) => name.startsWith(`${part}-`));
  throw new LastingFailure(EXIT.FAILED, `${MOST_DEATHS} workers died or were killed while they converted it`);
}
