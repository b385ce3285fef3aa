// Keeps the inputs of a job from its outputs. Files and folders are compared by device and inode: links lead elsewhere,
// a folder may be mounted twice, and where case is ignored a name has many spellings.
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { identityOf } from '../../../files/disk/same-file.js';
import { CliFailure, EXIT } from '../../../files/exit-codes.js';

export class JobFiles {
  /** Without links. */
  readonly #output: string;
  readonly #outputIdentity: string | null;
  /** Paths as given, by their identity. */
  readonly #inputs = new Map<string | null, string>();
  /** Whether folders are the output folder, or lie in it. */
  readonly #isOutput = new Map<string, boolean>();

  /** @param output the output folder, which is there */
  constructor(readonly output: string) {
    this.#output = realpathSync(output);
    this.#outputIdentity = identityOf(this.#output);
  }

  /** Whether names that differ in case alone are one in the output folder, as its own name shows. */
  get isCaseIgnored(): boolean {
    for (let path = this.#output; path !== dirname(path); path = dirname(path)) {
      const name = basename(path);
      const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
      if (other !== name) return identityOf(join(dirname(path), other)) === identityOf(path);
    }
    return false;
  }

  /**
   * A later job of the same pattern would take the outputs for inputs, and an output could be written over an input.
   * @throws CliFailure USAGE for a file in the output folder
   */
  addInput(path: string): void {
    if (this.#isBelow(realpathSync(path)))
      throw new CliFailure(EXIT.USAGE, `${path} lies in the output folder ${this.output}`);
    this.#inputs.set(identityOf(path), path);
  }

  /** @throws CliFailure USAGE where a file of this name, below the output folder, is an input */
  requireNoInput(name: string): void {
    const identity = identityOf(join(this.#output, name));
    const input = identity === null ? undefined : this.#inputs.get(identity);
    if (input === undefined) return;
    const words = `the input ${input} and the output ${join(this.output, name)} are one file`;
    throw new CliFailure(EXIT.USAGE, words, 'Name another folder with --to.');
  }

  #isBelow(path: string): boolean {
    const folder = dirname(path);
    if (folder === path) return false;
    const known = this.#isOutput.get(folder);
    if (known !== undefined) return known;
    const isOutput = identityOf(folder) === this.#outputIdentity || this.#isBelow(folder);
    this.#isOutput.set(folder, isOutput);
    return isOutput;
  }
}
