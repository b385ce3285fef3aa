// Where results go: the interface that sinks write to, stdout and stderr, and gzip in front of another output. Regular
// files are in file-output.ts, devices and FIFOs in device-output.ts.

import { createGzip, type Gzip } from 'node:zlib';
import { badOutput } from '../file-faults.js';

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
