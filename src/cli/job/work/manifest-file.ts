// The manifest of a job as a file: opened before the results are read, which may be many, and given its name when it is whole.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, rmSync, writeFileSync } from 'node:fs';
import { badOutput } from '../../file-faults.js';
import { destinationOf, type FileDestination } from '../../files/disk/destination.js';
import { createAfresh, replaceBy } from '../../files/disk/file-output.js';
import type { SharedFolder } from '../shared-folder.js';

export class ManifestFile {
  readonly #name: string;
  readonly #destination: FileDestination;
  readonly #beside: string;
  readonly #file: number;

  /** @throws CliFailure BAD_OUTPUT */
  constructor(shared: SharedFolder, folder: string, name: string) {
    const path = shared.outputPath(folder, name);
    this.#name = `${folder}/${name}`;
    this.#beside = `${path}.${randomUUID()}`;
    try {
      const destination = destinationOf(path);
      if (destination.kind !== 'file' || destination.path !== path) throw new Error('it is no regular file');
      this.#destination = destination;
      this.#file = createAfresh(this.#beside);
    } catch (error) {
      throw badOutput(this.#name, error);
    }
  }

  /** @throws CliFailure BAD_OUTPUT */
  write(text: string): void {
    try {
      writeFileSync(this.#file, text);
      fsyncSync(this.#file);
      replaceBy(this.#beside, this.#destination);
    } catch (error) {
      throw badOutput(this.#name, error);
    }
  }

  /** Removes what was not written whole. */
  close(): void {
    closeSync(this.#file);
    rmSync(this.#beside, { force: true });
  }
}
