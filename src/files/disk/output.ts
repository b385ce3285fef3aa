// Destinations of results: the interface that sinks write to, stdout and stderr, devices and FIFOs, regular files,
// and gzip in front of another output.

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
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { badOutput } from '../exit-codes.js';
import { type Destination, type FileDestination, type FileOwner, partialPathOf } from './destination.js';

// An output that takes bytes as they come: a device, a FIFO, or a descriptor that the shell has opened, such as the
// /dev/fd/63 of `>(gzip)`. It has no partial file: written bytes are gone.

/** Retry interval of a descriptor that takes no bytes at the moment. */
const RETRY_MS = 5;

export class DeviceOutput implements Output {
  readonly name: string;
  readonly holdsBytes = false;
  readonly #file: number;
  readonly #isOwn: boolean;
  /** Pipes are written by the event loop: a reader that pauses must not block Ctrl-C. */
  readonly #pipe: Socket | null;

  constructor(destination: Exclude<Destination, { kind: 'file' }>) {
    this.name = destination.name;
    this.#isOwn = destination.kind === 'device';
    try {
      this.#file =
        destination.kind === 'device'
          ? openSync(destination.path, constants.O_WRONLY | (constants.O_NOCTTY ?? 0))
          : destination.descriptor;
      const stat = fstatSync(this.#file);
      const isPipe = stat.isFIFO() || stat.isSocket();
      this.#pipe = isPipe ? new Socket({ fd: this.#file, readable: false, writable: true }) : null;
    } catch (error) {
      throw badOutput(this.name, error);
    }
    // The failed write reports its error, too.
    this.#pipe?.on('error', () => undefined);
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      if (this.#pipe === null) await this.#writeSync(bytes);
      else await this.#writePipe(this.#pipe, bytes);
    } catch (error) {
      throw badOutput(this.name, error);
    }
  }

  #writePipe(pipe: Socket, bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      pipe.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  async #writeSync(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(this.#file, bytes, done);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        await delay(RETRY_MS);
      }
    }
  }

  async finish(): Promise<void> {
    const pipe = this.#pipe;
    if (pipe !== null) await new Promise<void>((resolve) => pipe.end(resolve));
    else if (this.#isOwn) closeSync(this.#file);
  }

  abandon(): void {
    if (this.#pipe !== null) this.#pipe.destroy();
    else if (this.#isOwn) closeSync(this.#file);
  }
}

export interface Output {
  /** Name in messages. */
  readonly name: string;
  /** Whether a write's bytes are still read after it has resolved: then the caller must not change them. */
  readonly holdsBytes: boolean;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** After the last write: the file takes its final name. */
  finish(): Promise<void>;
  /** Ends without success. A resumable partial file stays for `--resume`, any other is removed. */
  abandon(): void;
}

/** Level 6 takes three times as long and saves a fifth of the size. */
const LEVEL = 1;

/** Compresses into another output. */
export class GzipOutput implements Output {
  readonly name: string;
  readonly holdsBytes = true;
  readonly #gzip: Gzip = createGzip({ level: LEVEL, chunkSize: 256 * 1024 });
  readonly #draining: Promise<void>;

  constructor(private readonly inner: Output) {
    this.name = inner.name;
    this.#draining = (async () => {
      for await (const chunk of this.#gzip as AsyncIterable<Uint8Array>) await inner.write(chunk);
    })();
    this.#draining.catch(() => undefined);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#gzip.destroyed) await this.#draining;
    if (this.#gzip.write(bytes)) return;
    // When the inner output fails, the gzip stream is destroyed and never drains; the failure ends the wait.
    await Promise.race([new Promise<void>((resolve) => this.#gzip.once('drain', resolve)), this.#draining]);
  }

  async finish(): Promise<void> {
    this.#gzip.end();
    await this.#draining;
    await this.inner.finish();
  }

  abandon(): void {
    this.#gzip.destroy();
    this.inner.abandon();
  }
}

/** stdout or stderr with backpressure: a write resolves when the reader has taken it. */
export class StandardOutput implements Output {
  readonly holdsBytes = false;

  constructor(
    readonly name: string,
    private readonly stream: NodeJS.WriteStream,
  ) {}

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stream.write(bytes, (error) => (error ? reject(badOutput(this.name, error)) : resolve()));
    });
  }

  async finish(): Promise<void> {}

  abandon(): void {}
}

// A regular file as output: written as FILE.partial and renamed to FILE when it is complete. An existing file keeps
// its content until then, and its permissions and owner are preserved.

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

/** Creates a file in place of any other with that name; a link with that name is removed, not followed. */
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

  /** @param keepBytes kept bytes of an earlier partial file; the rest is cut off */
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

  /** Current size, kept bytes included. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Gives a complete partial file its final name.
   * @param sizeBytes that it must have
   */
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

  /** Flushes everything written to the disk. */
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

/** Rejects a partial file whose size differs from its journal: a shorter one would be filled up with zero bytes. */
function requireWhole(partial: string, sizeBytes: number): void {
  const stat = lstatSync(partial);
  if (!stat.isFile() || stat.nlink > 1) throw new Error(`${partial} is not the file of the earlier run`);
  if (stat.size >= sizeBytes) return;
  throw new Error(`${partial} has ${stat.size} bytes, its journal counts ${sizeBytes}: it cannot be resumed`);
}

/** Permissions and owner of the replaced file. If the group cannot be kept, it must not get the permissions. */
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
