// Where results go: the interface that sinks write to, stdout and stderr, devices and FIFOs, and gzip in front of
// another output. Regular files are in file-output.ts.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { badOutput } from '../exit-codes.js';
import type { Destination } from './destination.js';

// An output that takes bytes as they come: a device, a FIFO, or a descriptor that the shell has opened, like the
// /dev/fd/63 of `>(gzip)`. It has no partial file: bytes that are written are gone.

/** Until a descriptor that takes no bytes now is tried again. */
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
    // The write that failed reports its error too.
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
  /** Whether the bytes of a write are still read after it has resolved: then the caller must not change them. */
  readonly holdsBytes: boolean;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** After the last write: the file takes its final name. */
  finish(): Promise<void>;
  /** Ends without success. The partial file stays for `--resume` if it is resumable, and is removed otherwise. */
  abandon(): void;
}

/** Level 6 takes three times the time, and saves a fifth of the size. */
const LEVEL = 1;

/** Compresses into another output. */
export class GzipOutput implements Output {
  readonly name: string;
  readonly holdsBytes = true;
  readonly #inner: Output;
  readonly #gzip: Gzip = createGzip({ level: LEVEL, chunkSize: 256 * 1024 });
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

/** stdout or stderr with backpressure: a write resolves when the reader has taken it. */
export class StandardOutput implements Output {
  readonly name: string;
  readonly holdsBytes = false;
  readonly #stream: NodeJS.WriteStream;

  constructor(name: string, stream: NodeJS.WriteStream) {
    this.name = name;
    this.#stream = stream;
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error ? reject(badOutput(this.name, error)) : resolve()));
    });
  }

  async finish(): Promise<void> {}

  abandon(): void {}
}
