// Answers that their reader does not take yet, on disk: for peers that send everything before they read. A spool is a
// file that nobody else can see: its name is taken away as soon as it is open, so it is gone when it is closed, however
// the process ends.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The reason stands in the message: it is what the log says when a connection is closed over it. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError';
}

export interface SpoolLimits {
  readonly requestBytes: number;
  readonly totalBytes: number;
}

export const SPOOL_LIMITS: SpoolLimits = { requestBytes: 2 ** 30, totalBytes: 4 * 2 ** 30 };

const PIECE_BYTES = 128 * 1024;

/** All spools of the server, and what they may take together. */
export class Spools {
  readonly #folder: string;
  readonly #limits: SpoolLimits;
  #totalBytes = 0;

  constructor(dataDir: string, limits: SpoolLimits = SPOOL_LIMITS) {
    this.#folder = join(dataDir, 'spool');
    this.#limits = limits;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  open(): Spool {
    return new Spool(
      join(this.#folder, randomBytes(12).toString('hex')),
      (ownBytes, moreBytes) => this.#claim(ownBytes, moreBytes),
      (ownBytes) => {
        this.#totalBytes -= ownBytes;
      },
    );
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  #claim(ownBytes: number, moreBytes: number): void {
    const { requestBytes, totalBytes } = this.#limits;
    if (ownBytes + moreBytes > requestBytes) {
      throw new SpoolFullError(`the answer spooled for this request passes ${requestBytes} bytes`);
    }
    if (this.#totalBytes + moreBytes > totalBytes) {
      throw new SpoolFullError(`the answers spooled for all requests pass ${totalBytes} bytes`);
    }
    this.#totalBytes += moreBytes;
  }
}

/** Bytes in, the same bytes out, first in first out. */
export class Spool {
  readonly #claim: (ownBytes: number, moreBytes: number) => void;
  readonly #release: (ownBytes: number) => void;
  readonly #file: Promise<FileHandle>;
  /** Writes follow each other; it rejects with the first that fails. */
  #written: Promise<unknown>;
  /** Appended, of these on disk, of these read. */
  #sizeBytes = 0;
  #writtenBytes = 0;
  #readBytes = 0;
  #closed = false;

  constructor(
    path: string,
    claim: (ownBytes: number, moreBytes: number) => void,
    release: (ownBytes: number) => void,
  ) {
    this.#claim = claim;
    this.#release = release;
    this.#file = openUnnamed(path);
    this.#written = this.#file;
    // Whoever reads or appends next is told.
    this.#written.catch(() => {});
  }

  /** Bytes that wait in memory for the disk. */
  get waitingBytes(): number {
    return this.#sizeBytes - this.#writtenBytes;
  }

  /** Bytes that `next` has still to give. */
  get unreadBytes(): number {
    return this.#sizeBytes - this.#readBytes;
  }

  /** Appends bytes, which must not change afterwards; `done` is called when they are on disk or cannot be. */
  append(bytes: Uint8Array, done: (error?: Error) => void): void {
    this.#claim(this.#sizeBytes, bytes.length);
    const at = this.#sizeBytes;
    this.#sizeBytes += bytes.length;
    this.#written = this.#written.then(async () => {
      const file = await this.#file;
      for (let from = 0; from < bytes.length && !this.#closed; ) {
        from += (await file.write(bytes, from, bytes.length - from, at + from)).bytesWritten;
      }
      this.#writtenBytes = at + bytes.length;
    });
    this.#written.then(() => done(), done);
  }

  /** The next bytes, as soon as they are on disk. Not to be called twice at a time, nor when nothing is unread. */
  async next(): Promise<Uint8Array> {
    while (this.#writtenBytes === this.#readBytes) await this.#written;
    const file = await this.#file;
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, this.#writtenBytes - this.#readBytes));
    const { bytesRead } = await file.read(piece, 0, piece.length, this.#readBytes);
    if (bytesRead === 0) throw new Error('a spool has lost bytes');
    this.#readBytes += bytesRead;
    return piece.subarray(0, bytesRead);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release(this.#sizeBytes);
    // After the write under way, if there is one.
    const close = (): Promise<void> => this.#file.then((file) => file.close());
    this.#written.then(close, close).catch(() => {});
  }
}

async function openUnnamed(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}
