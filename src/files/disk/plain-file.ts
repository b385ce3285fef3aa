// Reads a regular file whose bytes are its content, into one reused buffer: a stream allocates memory for each chunk,
// and clearing it costs as much as reading.

import { fstatSync, type ReadStream, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileSlice } from '../../pool/slices.js';
import { type CliFailure, unreadable } from '../exit-codes.js';

const CHUNK_BYTES = 256 * 1024;
/** Bytes in which a line end is searched at once. */
const WINDOW_BYTES = 4096;
const LF = 10;

export class PlainFile {
  readBytes = 0;

  /**
   * @param stream that is open already, and is no longer read
   * @param sizeBytes of the file when it was opened
   */
  constructor(
    private readonly stream: ReadStream,
    private readonly path: string,
    private readonly sizeBytes: number,
  ) {}

  /** The descriptor: it stays with the opened file, whatever the path names by now. */
  get fd(): number {
    return (this.stream as ReadStream & { readonly fd: number }).fd;
  }

  /**
   * The chunks from an offset on: each is valid until the next is requested.
   * @throws CliFailure BAD_INPUT that names the file if it cannot be read
   */
  async *chunksFrom(start: number): AsyncGenerator<Uint8Array> {
    let offset = start;
    const buffer = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      // A signal is handled between two turns of the event loop.
      await nextTurn();
      const size = this.readAt(offset, buffer);
      if (size === 0) return;
      offset += size;
      yield buffer.subarray(0, size);
    }
  }

  /** Bytes from an offset on; fewer at the end of the file. */
  bytesAt(offset: number, sizeBytes: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(sizeBytes);
    return bytes.subarray(0, this.readAt(offset, bytes));
  }

  /** Its current length. */
  get length(): number {
    return fstatSync(this.fd).size;
  }

  /**
   * Bytes between two offsets, which do not count as read: footers are read before rows.
   * @throws Error where the file ends before
   */
  range(start: number, end: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.max(0, end - start));
    for (let done = 0, size = 1; done < bytes.length; done += size) {
      if (!(start >= 0) || size === 0) throw new Error('the file ends in the middle');
      size = readSync(this.fd, bytes, done, bytes.length - done, start + done);
    }
    return bytes;
  }

  /** The file at its current length. Bytes from `subarray` are valid until the next call. */
  ranges(): { readonly length: number; subarray(start: number, end: number): Uint8Array } {
    let buffer = new Uint8Array(0);
    return {
      length: this.length,
      subarray: (start, end) => {
        if (buffer.length < end - start) buffer = new Uint8Array(end - start);
        return buffer.subarray(0, this.readAt(start, buffer.subarray(0, end - start)));
      },
    };
  }

  /**
   * Cuts off a slice, after the last line end in it; one without a line end has all bytes.
   * @param offset start of a row or line
   * @returns null at the end of the file
   */
  sliceAt(offset: number, maxBytes: number): FileSlice | null {
    const { fd, length: size } = this;
    if (size < this.sizeBytes) throw becameShorter(this.path);
    if (offset >= size) return null;
    const end = offset + maxBytes;
    if (end >= size) return { fd, offset, sizeBytes: size - offset, isLast: true };
    for (let start = end; start > offset; ) {
      start = Math.max(offset, start - WINDOW_BYTES);
      const feed = this.bytesAt(start, Math.min(WINDOW_BYTES, end - start)).lastIndexOf(LF);
      if (feed >= 0) return { fd, offset, sizeBytes: start + feed + 1 - offset, isLast: false };
    }
    return { fd, offset, sizeBytes: maxBytes, isLast: false };
  }

  /** @returns the number of bytes read; 0 at the end */
  readAt(offset: number, into: Uint8Array): number {
    let size: number;
    try {
      size = readSync(this.fd, into, 0, into.length, offset);
    } catch (error) {
      throw unreadable(this.path, error);
    }
    if (size === 0 && offset < this.sizeBytes) throw becameShorter(this.path);
    this.readBytes = Math.max(this.readBytes, offset + size);
    return size;
  }
}

/** The failure for a file that is cut while it is read, as a log is when it is rotated: rows of it are missing. */
export const becameShorter = (path: string): CliFailure =>
  unreadable(path, new Error('it became shorter while it was read'));
