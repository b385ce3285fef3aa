// Where results go: stdout, or a file that is written beside its final name and takes the name only when whole.
// A resumable file keeps a journal next to it. What the journal says has reached the disk before the journal does:
//
//   out.csv.partial          the rows so far
//   out.csv.partial.journal  how far: input and output offsets, counts, a digest of everything that shapes the output
//
// Order at a checkpoint: rows written → fsync → journal written beside → fsync → renamed over the old journal. After a
// crash everything behind the journal's offset is cut off and made again, so the end result is the same bytes.

import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { createGzip, type Gzip } from 'node:zlib';
import { badOutput } from '../../exit-codes.js';

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

/** What a run has done up to a byte of its output, as the journal keeps it. */
export interface Checkpoint {
  /** Digest of inputs and options: another one must not continue this file. */
  readonly digest: string;
  /** Which of the inputs, from 0, and how many bytes of its content (after gunzip) are done. */
  readonly inputNumber: number;
  readonly inputOffset: number;
  /** Bytes of output that belong to them. */
  readonly outputOffset: number;
  /** Bytes of the file of failed rows, where there is one. */
  readonly rejectsOffset: number;
  /** The counts of the summary so far. */
  readonly tally: unknown;
  /** The run was complete and only the rename was missing. */
  readonly isWhole: boolean;
}

export const partialPathOf = (path: string): string => `${path}.partial`;
export const journalPathOf = (path: string): string => `${path}.partial.journal`;

function syncDirectory(path: string): void {
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

/** The journal of a resumable output. */
export class Journal {
  readonly #path: string;

  constructor(outputPath: string) {
    this.#path = journalPathOf(outputPath);
  }

  /** What an earlier run left; null if there is nothing that can be read. */
  static read(outputPath: string): Checkpoint | null {
    try {
      return JSON.parse(readFileSync(journalPathOf(outputPath), 'utf8')) as Checkpoint;
    } catch {
      return null;
    }
  }

  /** @throws CliFailure if the journal cannot be written */
  write(checkpoint: Checkpoint): void {
    const beside = `${this.#path}.new`;
    try {
      const file = openSync(beside, 'w');
      writeFileSync(file, JSON.stringify(checkpoint));
      fsyncSync(file);
      closeSync(file);
      renameSync(beside, this.#path);
      syncDirectory(this.#path);
    } catch (error) {
      throw badOutput(this.#path, error);
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true });
    rmSync(`${this.#path}.new`, { force: true });
  }
}

/** Whether an unfinished earlier run stands beside a final name. */
export function isUnfinished(outputPath: string): boolean {
  return existsSync(partialPathOf(outputPath)) && existsSync(journalPathOf(outputPath));
}
