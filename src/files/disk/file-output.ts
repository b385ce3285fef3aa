// A regular file as output: written as FILE.partial and renamed to FILE when it is complete. A file that was there
// keeps its content until then, and passes on its permissions and its owner.

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { badOutput } from '../exit-codes.js';
import { type FileDestination, type FileOwner, partialPathOf } from './destination.js';
import type { Output } from './output.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** Flushes the folder of a file, so that a rename in it survives a power cut. */
export function syncDirectory(path: string): void {
  let directory: number | undefined;
  try {
    directory = openSync(dirname(path), 'r');
    fsyncSync(directory);
  } catch {
    // Some platforms cannot open or sync a directory; the rename itself is still atomic there.
  } finally {
    if (directory !== undefined) closeSync(directory);
  }
}

/** Creates a file in place of any other of that name; a link of that name is removed, not followed. */
export function createAfresh(path: string, mode = 0o666): number {
  rmSync(path, { force: true });
  return openSync(path, O_RDWR | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0), mode);
}

export class FileOutput implements Output {
  readonly name: string;
  readonly holdsBytes = false;
  readonly #path: string;
  readonly #partial: string;
  readonly #file: number;
  readonly #isResumable: boolean;
  #offset: number;

  /** @param keepBytes of an earlier partial file; the rest of it is cut off */
  constructor({ name, path, owner }: FileDestination, isResumable: boolean, keepBytes = 0) {
    this.name = name;
    this.#path = path;
    this.#partial = partialPathOf(path);
    this.#isResumable = isResumable;
    this.#offset = keepBytes;
    try {
      if (keepBytes > 0) {
        requireWhole(this.#partial, keepBytes);
        this.#file = openSync(this.#partial, O_RDWR | (O_NOFOLLOW ?? 0));
        ftruncateSync(this.#file, keepBytes);
      } else {
        this.#file = createAfresh(this.#partial, owner === null ? 0o666 : 0o600);
        if (owner !== null) passOn(owner, this.#file);
      }
    } catch (error) {
      throw badOutput(name, error);
    }
  }

  /** Size so far, kept bytes included. */
  get offset(): number {
    return this.#offset;
  }

  /** Gives a complete partial file its name. @param sizeBytes that it must have */
  static rename({ name, path }: FileDestination, sizeBytes: number): void {
    const partial = partialPathOf(path);
    try {
      if (lstatSync(partial, { throwIfNoEntry: false }) === undefined) return;
      requireWhole(partial, sizeBytes);
      renameSync(partial, path);
      syncDirectory(path);
    } catch (error) {
      throw badOutput(name, error);
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        const wrote = writeSync(this.#file, bytes, done, bytes.length - done, this.#offset);
        done += wrote;
        this.#offset += wrote;
      }
    } catch (error) {
      throw badOutput(this.name, error);
    }
  }

  /** Flushes all that is written to the disk. */
  sync(): void {
    try {
      fsyncSync(this.#file);
    } catch (error) {
      throw badOutput(this.name, error);
    }
  }

  async finish(): Promise<void> {
    this.sync();
    try {
      const isOurs = lstatSync(this.#partial).ino === fstatSync(this.#file).ino;
      if (!isOurs) throw new Error(`${this.#partial} was replaced by another process`);
      closeSync(this.#file);
      renameSync(this.#partial, this.#path);
      syncDirectory(this.#path);
    } catch (error) {
      throw badOutput(this.name, error);
    }
  }

  abandon(): void {
    try {
      closeSync(this.#file);
    } catch {
      // A failed finish has closed it.
    }
    if (!this.#isResumable) rmSync(this.#partial, { force: true });
  }
}

/** Refuses a partial file that is not what its journal says: a shorter one would be filled up with zero bytes. */
function requireWhole(partial: string, sizeBytes: number): void {
  const stat = lstatSync(partial);
  if (!stat.isFile() || stat.nlink > 1) throw new Error(`${partial} is not the file of the earlier run`);
  if (stat.size >= sizeBytes) return;
  throw new Error(`${partial} has ${stat.size} bytes, its journal counts ${sizeBytes}: it cannot be resumed`);
}

/** Permissions and owner of the file that is replaced. A group that cannot be kept must not get its permissions. */
function passOn({ mode, uid, gid }: FileOwner, file: number): void {
  const isKept = hasOwner(file, uid, gid) || hasOwner(file, fstatSync(file).uid, gid);
  fchmodSync(file, isKept ? mode : (mode & 0o707) | ((mode & 0o007) << 3));
}

function hasOwner(file: number, uid: number, gid: number): boolean {
  const now = fstatSync(file);
  if (now.uid === uid && now.gid === gid) return true;
  try {
    fchownSync(file, uid, gid);
    return true;
  } catch {
    return false;
  }
}
