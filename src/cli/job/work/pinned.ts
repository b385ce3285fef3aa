// Files and folders of the share that are held open while they are worked on: their path goes by the descriptor, so
// that nobody who may write to the share leads it elsewhere by a link that is put into its way meanwhile. Where the
// system has no such paths it is that of the file itself, which is looked at once more.
import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { badInput, badOutput, reasonOf } from '../../../files/file-faults.js';
import type { SharedFolder } from '../shared-folder.js';

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
