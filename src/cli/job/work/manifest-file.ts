// The manifest of a job as a file: opened before the results are read, which may be many, and given its name when it is
// whole.
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { manifestName, manifestStart } from '../../../bus/jobs/manifest.js';
import { destinationOf, type FileDestination } from '../../../files/disk/destination.js';
import { createAfresh, replaceBy } from '../../../files/disk/file-output.js';
import { badOutput } from '../../../files/file-faults.js';
import type { SharedFolder } from '../shared-folder.js';
import { type Pinned, pinFolder } from './pinned.js';

export class ManifestFile {
  readonly #name: string;
  readonly #job: string;
  readonly #destination: FileDestination;
  readonly #folder: Pinned;
  readonly #beside: string;
  readonly #file: number;

  /** @throws CliFailure BAD_OUTPUT */
  constructor(shared: SharedFolder, folder: string, job: string) {
    const path = shared.outputPath(folder, manifestName(job));
    this.#job = job;
    this.#name = `${folder}/${manifestName(job)}`;
    this.#folder = pinFolder(shared, realpathSync(dirname(path)), this.#name);
    const own = join(this.#folder.path, manifestName(job));
    this.#beside = `${own}.${randomUUID()}`;
    try {
      const destination = destinationOf(path);
      if (destination.kind !== 'file' || destination.path !== path) throw new Error('it is no regular file');
      this.#destination = { ...destination, path: own };
      this.#requireOwn();
      this.#file = createAfresh(this.#beside);
    } catch (error) {
      this.#folder.close();
      throw badOutput(this.#name, error);
    }
  }

  /** @throws CliFailure BAD_OUTPUT */
  write(text: string): void {
    try {
      writeFileSync(this.#file, text);
      fsyncSync(this.#file);
      this.#requireOwn();
      replaceBy(this.#beside, this.#destination);
    } catch (error) {
      throw badOutput(this.#name, error);
    }
  }

  /** Removes what was not written whole. */
  close(): void {
    closeSync(this.#file);
    rmSync(this.#beside, { force: true });
    this.#folder.close();
  }

  /** A file of that name is replaced only if it is a manifest of the same job. */
  #requireOwn(): void {
    const { path } = this.#destination;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
    const file = openSync(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
    try {
      const start = Buffer.from(manifestStart(this.#job));
      const found = Buffer.alloc(start.length);
      const isOwn = fstatSync(file).isFile() && readSync(file, found, 0, found.length, 0) === start.length;
      if (!isOwn || !found.equals(start)) throw new Error('it is there, and no manifest of this job');
    } finally {
      closeSync(file);
    }
  }
}
