// The folder that all machines of a job share. Messages name files relative to it, so that it may be mounted elsewhere
// on each machine; nothing outside of it is read or written, by no path and no link.

import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { badInput, CliFailure, EXIT, reasonOf } from '../../files/exit-codes.js';

export class SharedFolder {
  /** Without links. */
  readonly path: string;

  /** @throws CliFailure USAGE where there is no such folder */
  constructor(path: string) {
    try {
      this.path = realpathSync(path);
    } catch (error) {
      throw new CliFailure(EXIT.USAGE, `--root ${path}: ${reasonOf(error)}`);
    }
  }

  /** The name of a file or folder that is there, relative to this one, with slashes. @throws CliFailure USAGE */
  nameOf(path: string): string {
    let real: string;
    try {
      real = realpathSync(path);
    } catch (error) {
      throw badInput({ file: path }, reasonOf(error));
    }
    if (!this.#holds(real))
      throw new CliFailure(
        EXIT.USAGE,
        `${path} is not below the shared folder ${this.path}`,
        '--root names the folder that all workers share.',
      );
    return relative(this.path, real).split(sep).join('/') || '.';
  }

  /**
   * The path of a file that a message names, without links.
   * @throws CliFailure BAD_INPUT where it is not below the folder
   */
  inputPath(name: string): string {
    const path = this.#pathOf(name);
    let real: string;
    try {
      real = realpathSync(path);
    } catch (error) {
      throw badInput({ file: name }, reasonOf(error));
    }
    if (!this.#holds(real)) throw badInput({ file: name }, 'it is not below the shared folder');
    return real;
  }

  /** Whether a path without links leads to this folder or below it. */
  holds(real: string): boolean {
    return this.#holds(real);
  }

  /**
   * The path of a folder that is there, below an output folder or the same.
   * @returns undefined where there is none
   * @throws CliFailure BAD_OUTPUT where a link leads to it, or it is no folder
   */
  folderIn(folder: string, name: string): string | undefined {
    const path = resolve(this.#pathOf(folder), name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const isFolder = stat.isDirectory() && this.#holds(realpathSync(path));
    if (!isFolder) throw new CliFailure(EXIT.BAD_OUTPUT, `cannot write ${name}: it is there, and no folder`);
    return path;
  }

  /**
   * The path of an output below an output folder, whose folder is made.
   * @throws CliFailure BAD_OUTPUT where it would be elsewhere
   */
  outputPath(folder: string, name: string): string {
    const outer = this.#pathOf(folder);
    const path = resolve(outer, name);
    const refused = (reason: string): CliFailure =>
      new CliFailure(EXIT.BAD_OUTPUT, `cannot write ${name}: ${reason}`);
    if (!path.startsWith(`${outer}${sep}`) && outer !== sep)
      throw refused('it is not below the output folder');
    try {
      let there = dirname(path);
      while (!existsSync(there)) there = dirname(there);
      if (!this.#holds(realpathSync(there))) throw new Error('a link leads out of the shared folder');
      mkdirSync(dirname(path), { recursive: true });
      const [realOuter, realFolder] = [realpathSync(outer), realpathSync(dirname(path))];
      if (this.#holds(realOuter) && isBelow(realOuter, realFolder)) return path;
    } catch (error) {
      throw refused(reasonOf(error));
    }
    throw refused('a link leads out of the output folder');
  }

  #pathOf(name: string): string {
    const path = resolve(this.path, name);
    if (!isBelow(this.path, path)) throw badInput({ file: name }, 'it is not below the shared folder');
    return path;
  }

  #holds(real: string): boolean {
    return isBelow(this.path, real);
  }
}

const isBelow = (outer: string, path: string): boolean =>
  path === outer || path.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
