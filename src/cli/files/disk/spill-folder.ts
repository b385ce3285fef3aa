// Files for rows that memory does not hold: in a folder of their own below TMPDIR, which the run removes however it ends.

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliFailure, EXIT } from '../../exit-codes.js';
import { reasonOf } from '../../file-faults.js';

export class SpillFolder {
  readonly #name: string;
  readonly #what: string;
  #folder: string | undefined;
  #made = 0;
  /** Paths by descriptor. */
  readonly #open = new Map<number, string>();

  /**
   * @param name of the folder begins so
   * @param what is written, for messages
   */
  constructor(name: string, what: string) {
    this.#name = name;
    this.#what = what;
  }

  /** Makes a file. @returns its descriptor, to be written and read @throws CliFailure BAD_OUTPUT */
  create(): number {
    return this.#guarded(() => {
      this.#folder ??= mkdtempSync(join(tmpdir(), `${this.#name}-`));
      const path = join(this.#folder, `${this.#made++}`);
      const descriptor = openSync(path, 'wx+', 0o600);
      this.#open.set(descriptor, path);
      return descriptor;
    });
  }

  /** Adds bytes to a file. @throws CliFailure BAD_OUTPUT */
  write(descriptor: number, bytes: Uint8Array): void {
    this.#guarded(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    });
  }

  /** Removes one file. */
  drop(descriptor: number): void {
    closeSync(descriptor);
    rmSync(this.#open.get(descriptor)!, { force: true });
    this.#open.delete(descriptor);
  }

  /** Removes all. */
  remove(): void {
    for (const descriptor of this.#open.keys()) closeSync(descriptor);
    this.#open.clear();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  #guarded<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw new CliFailure(
        EXIT.BAD_OUTPUT,
        `cannot write ${this.#what} to ${this.#folder ?? tmpdir()}: ${reasonOf(error)}`,
        `TMPDIR names another folder; --memory leaves more ${this.#what} in memory.`,
      );
    }
  }
}
