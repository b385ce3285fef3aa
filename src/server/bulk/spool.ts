// Answers that wait on disk for peers that send their whole body before they read. A spool is a file without a name:
// it is unlinked as soon as it is open, so the operating system frees it however the process ends.

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AnsweredError, mayTake } from '../transport/limits.js';

const NOT_KEPT = 'an answer could not be kept';
const UNAVAILABLE = { status: 503, retryAfterSec: 1, close: true, logged: NOT_KEPT };

/** A limit is reached. The message is for the client, or for the log where the answer has begun. */
export class SpoolFullError extends AnsweredError {
  override readonly name = 'SpoolFullError';

  constructor(
    message: string,
    /** 'request': the answer is too large at any time; 'total': other answers use the space now. */
    readonly limit: 'request' | 'total',
  ) {
    super(message, limit === 'request' ? { status: 413, close: true, logged: NOT_KEPT } : UNAVAILABLE);
  }
}

/** The disk cannot write or read the answer. `cause` is its error. */
export class SpoolDiskError extends AnsweredError {
  override readonly name = 'SpoolDiskError';

  constructor(cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOSPC' || code === 'EDQUOT' ? 'no space is left on it' : (code ?? String(cause));
    super(`the disk cannot keep the answer: ${reason}`, UNAVAILABLE, { cause });
  }
}

/** Bytes on disk, of one request and of all, and open files of all. */
export interface SpoolLimits {
  readonly requestBytes: number;
  readonly totalBytes: number;
  readonly files: number;
}

/** The sentence for an answer over the limit of a request. */
export function tooLargeToHold({ requestBytes }: SpoolLimits): string {
  return `the answer has more than the ${requestBytes} bytes that are kept for a request until its reader takes them (HEXCODES_SPOOL_REQUEST_BYTES): send the body in parts`;
}

const PIECE_BYTES = 128 * 1024;

/** Bytes and files of the answers of one key, or of all. */
interface Held {
  bytes: number;
  files: number;
}

/** All spools of a server, and the disk space and files that they use together, shared fairly between keys. */
export class Spools {
  readonly #folder: string;
  readonly limits: SpoolLimits;
  readonly #all: Held = { bytes: 0, files: 0 };
  readonly #keys = new Map<string, Held>();

  constructor(dataDir: string, limits: SpoolLimits) {
    this.#folder = join(dataDir, 'spool');
    this.limits = limits;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /**
   * @param keyId whose answer it is
   * @throws SpoolFullError
   */
  open(keyId: string): Spool {
    const key = this.#keys.get(keyId) ?? { bytes: 0, files: 0 };
    this.#take(key, 'files', 1, `answers of ${this.limits.files} requests wait for their readers on disk`);
    this.#keys.set(keyId, key);
    return new Spool(
      join(this.#folder, randomBytes(12).toString('hex')),
      (ownBytes, moreBytes) => this.#claim(key, ownBytes, moreBytes),
      (ownBytes) => {
        for (const held of [key, this.#all]) {
          held.bytes -= ownBytes;
          held.files--;
        }
        if (key.files === 0) this.#keys.delete(keyId);
      },
    );
  }

  get totalBytes(): number {
    return this.#all.bytes;
  }

  #claim(key: Held, ownBytes: number, moreBytes: number): void {
    const { requestBytes, totalBytes } = this.limits;
    if (ownBytes + moreBytes > requestBytes) throw new SpoolFullError(tooLargeToHold(this.limits), 'request');
    const what = `answers of ${totalBytes} bytes wait for their readers`;
    this.#take(key, 'bytes', moreBytes, `${what}, the most that may (HEXCODES_SPOOL_BYTES)`);
  }

  /** @param full the message if not even a key that holds nothing may have it */
  #take(key: Held, of: 'bytes' | 'files', more: number, full: string): void {
    const most = of === 'bytes' ? this.limits.totalBytes : this.limits.files;
    if (!mayTake(key[of], this.#all[of], more, most)) {
      const share = `answers of the key hold ${key[of]} of the ${most} ${of} for answers that wait for their readers, its share (HEXCODES_SPOOL_BYTES)`;
      throw new SpoolFullError(this.#all[of] + more > most ? full : share, 'total');
    }
    key[of] += more;
    this.#all[of] += more;
  }
}

/** A queue of bytes on disk: first in, first out. */
export class Spool {
  readonly #file: Promise<FileHandle>;
  /**
   * The last write: settles when everything appended so far is on disk, and rejects with a SpoolDiskError. Writes run
   * one after another; after a failed write all others fail, too.
   */
  written: Promise<unknown>;
  /** Bytes appended, bytes on disk and bytes read so far. */
  sizeBytes = 0;
  #writtenBytes = 0;
  #readBytes = 0;
  #isClosed = false;

  constructor(
    path: string,
    private readonly claim: (ownBytes: number, moreBytes: number) => void,
    private readonly release: (ownBytes: number) => void,
  ) {
    this.#file = openUnnamed(path);
    this.written = this.#file;
    // The next `append` or `next` rejects too.
    this.written.catch(() => {});
  }

  /** Bytes in memory that wait to be written. */
  get waitingBytes(): number {
    return this.sizeBytes - this.#writtenBytes;
  }

  /** Bytes that `next` has not returned yet. */
  get unreadBytes(): number {
    return this.sizeBytes - this.#readBytes;
  }

  /**
   * Appends bytes, which must not change until the promise settles. It resolves when they are on disk, and rejects
   * with a SpoolDiskError.
   * @throws SpoolFullError, not as a rejection
   */
  append(bytes: Uint8Array): Promise<void> {
    this.claim(this.sizeBytes, bytes.length);
    const at = this.sizeBytes;
    this.sizeBytes += bytes.length;
    const written = this.written.then(async () => {
      const file = await this.#file;
      for (let from = 0; from < bytes.length && !this.#isClosed; ) {
        const { bytesWritten } = await onDisk(file.write(bytes, from, bytes.length - from, at + from));
        from += bytesWritten;
      }
      this.#writtenBytes = at + bytes.length;
    });
    this.written = written;
    return written;
  }

  /** The next bytes, as soon as they are on disk. One call at a time, and only while bytes are unread. */
  async next(): Promise<Uint8Array> {
    while (this.#writtenBytes === this.#readBytes) await this.written;
    const file = await this.#file;
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, this.#writtenBytes - this.#readBytes));
    const { bytesRead } = await onDisk(file.read(piece, 0, piece.length, this.#readBytes));
    if (bytesRead === 0) throw new SpoolDiskError('it has lost bytes of it');
    this.#readBytes += bytesRead;
    return piece.subarray(0, bytesRead);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.release(this.sizeBytes);
    // A write may still use the file.
    const close = (): Promise<void> => this.#file.then((file) => file.close());
    this.written.then(close, close).catch(() => {});
  }
}

/** Creates the folder again if somebody has removed it. */
async function openUnnamed(path: string): Promise<FileHandle> {
  await onDisk(mkdir(dirname(path), { recursive: true, mode: 0o700 }));
  const file = await onDisk(open(path, 'wx+', 0o600));
  await onDisk(unlink(path));
  return file;
}

function onDisk<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw new SpoolDiskError(error);
  });
}
