// Where results go: stdout, or a file that is written as FILE.partial and renamed to FILE when it is complete.

import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { createGzip, type Gzip } from 'node:zlib';
import { badOutput } from '../../file-faults.js';

export interface Output {
  /** For messages. */
  readonly name: string;
  /** Whether the bytes of a write are still read after it has resolved: then the caller must not change them. */
  readonly holdsBytes: boolean;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** After the last write: the file takes its final name. */
  finish(): Promise<void>;
  /** Ends without success. The partial file stays for `--resume` if it is resumable, and is removed otherwise. */
  abandon(): void;
}

export const partialPathOf = (path: string): string => `${path}.partial`;

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

/** A file written as FILE.partial, from its start or from the offset that a journal gives. */
export class FileOutput implements Output {
  readonly name: string;
  readonly holdsBytes = false;
  readonly #partial: string;
  readonly #file: number;
  readonly #isResumable: boolean;
  #offset: number;

  /** @param keepBytes of an earlier partial file; the rest of it is cut off */
  constructor(path: string, isResumable: boolean, keepBytes = 0) {
    this.name = path;
    this.#partial = partialPathOf(path);
    this.#isResumable = isResumable;
    this.#offset = keepBytes;
    try {
      this.#file = openSync(this.#partial, keepBytes > 0 ? 'r+' : 'w');
      ftruncateSync(this.#file, keepBytes);
    } catch (error) {
      throw badOutput(path, error);
    }
  }

  /** Size so far, kept bytes included. */
  get offset(): number {
    return this.#offset;
  }

  static removePartial(path: string): void {
    rmSync(partialPathOf(path), { force: true });
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
      closeSync(this.#file);
      renameSync(this.#partial, this.name);
      syncDirectory(this.name);
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

/** Compresses into another output. */
export class GzipOutput implements Output {
  readonly name: string;
  readonly holdsBytes = true;
  readonly #inner: Output;
  readonly #gzip: Gzip = createGzip({ level: 6, chunkSize: 256 * 1024 });
  readonly #draining: Promise<void>;

  constructor(inner: Output) {
    this.name = inner.name;
    this.#inner = inner;
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
    await this.#inner.finish();
  }

  abandon(): void {
    this.#gzip.destroy();
    this.#inner.abandon();
  }
}

/** stdout with backpressure: a write resolves when the reader has taken it. */
export class StdoutOutput implements Output {
  readonly name = '(stdout)';
  readonly holdsBytes = false;

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(badOutput(this.name, error)) : resolve()));
    });
  }

  async finish(): Promise<void> {}

  abandon(): void {}
}
