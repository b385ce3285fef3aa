// Where results go: stdout, or a file that is written beside its final name and takes the name only when whole.

import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { createGzip, type Gzip } from 'node:zlib';
import { badOutput } from '../../file-faults.js';

export interface Output {
  /** For messages. */
  readonly name: string;
  /** Resolves when the bytes are taken and more may follow. The bytes are not touched later. */
  write(bytes: Uint8Array): Promise<void>;
  /** Everything is written: the file takes its final name. */
  finish(): Promise<void>;
  /** Gives up. What was written of a resumable file stays for `--resume`; anything else is removed. */
  abandon(): void;
}

export const partialPathOf = (path: string): string => `${path}.partial`;

/** The names in a file's folder are on the disk when this returns. */
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

/** A file written beside its final name, from its start or from an offset that a journal gave. */
export class FileOutput implements Output {
  readonly name: string;
  readonly #partial: string;
  readonly #file: number;
  readonly #isResumable: boolean;
  #offset: number;

  /** @param keepBytes how much of an earlier partial file to go on from */
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

  /** Bytes written so far, those kept included. */
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

  /** Everything written so far is on the disk when this returns. */
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
      // already closed by a failed finish
    }
    if (!this.#isResumable) rmSync(this.#partial, { force: true });
  }
}

/** Writes through gzip into another output. */
export class GzipOutput implements Output {
  readonly name: string;
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
    // A write that fails below destroys the gzip stream: then `drain` never comes, but the failure does.
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

/** stdout, waiting where its reader is slow. A reader that went away (`| head`) ends the run quietly. */
export class StdoutOutput implements Output {
  readonly name = '(stdout)';

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(badOutput(this.name, error)) : resolve()));
    });
  }

  async finish(): Promise<void> {}

  abandon(): void {}
}
