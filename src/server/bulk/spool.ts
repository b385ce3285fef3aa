// Answers that wait on disk for peers that send their whole body before they read. A spool is a file without a name:
// it is unlinked as soon as it is open, so the operating system frees it however the process ends.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The message says which limit is reached: the log gives it as the reason for the closed connection. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError';
}

export interface SpoolLimits {
  readonly requestBytes: number;
  readonly totalBytes: number;
}

export const SPOOL_LIMITS: SpoolLimits = { requestBytes: 2 ** 30, totalBytes: 4 * 2 ** 30 };

const PIECE_BYTES = 128 * 1024;

/** All spools of a server, and the disk space that they take together. */
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

/** A queue of bytes on disk: first in, first out. */
export class Spool {
  readonly #claim: (ownBytes: number, moreBytes: number) => void;
  readonly #release: (ownBytes: number) => void;
  readonly #file: Promise<FileHandle>;
  /** The last write so far. Writes run one after the other; after one that fails all others fail, too. */
  #written: Promise<unknown>;
  /** Bytes appended so far; of these on disk; of these read. */
  #sizeBytes = 0;
  #writtenBytes = 0;
  #readBytes = 0;
  #isClosed = false;

  constructor(
    path: string,
    claim: (ownBytes: number, moreBytes: number) => void,
    release: (ownBytes: number) => void,
  ) {
    this.#claim = claim;
    this.#release = release;
    this.#file = openUnnamed(path);
    this.#written = this.#file;
    // The next `append` or `next` rejects too.
    this.#written.catch(() => {});
  }

  /** Bytes in memory that wait to be written. */
  get waitingBytes(): number {
    return this.#sizeBytes - this.#writtenBytes;
  }

  /** Bytes that `next` has not returned yet. */
  get unreadBytes(): number {
    return this.#sizeBytes - this.#readBytes;
  }

  /**
   * Appends bytes, which must not change until the promise settles. It resolves when they are on disk, and rejects
   * with the error of the disk.
   * @throws SpoolFullError, not as a rejection
   */
  append(bytes: Uint8Array): Promise<void> {
    this.#claim(this.#sizeBytes, bytes.length);
    const at = this.#sizeBytes;
    this.#sizeBytes += bytes.length;
    const written = this.#written.then(async () => {
      const file = await this.#file;
      for (let from = 0; from < bytes.length && !this.#isClosed; ) {
        from += (await file.write(bytes, from, bytes.length - from, at + from)).bytesWritten;
      }
      this.#writtenBytes = at + bytes.length;
    });
    this.#written = written;
    return written;
  }

  /** The next bytes, as soon as they are on disk. One call at a time, and only while bytes are unread. */
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
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#release(this.#sizeBytes);
    // A write may still use the file.
    const close = (): Promise<void> => this.#file.then((file) => file.close());
    this.#written.then(close, close).catch(() => {});
  }
}

async function openUnnamed(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}
