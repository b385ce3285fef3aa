// Reads a regular file whose bytes are its content, into the same memory again and again: a stream takes new memory for
// each chunk, and to have it cleared costs as much as to read it.

import { type ReadStream, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CliFailure, EXIT, reasonOf } from '../exit-codes.js';

const CHUNK_BYTES = 256 * 1024;

export class PlainFile {
  readonly #stream: ReadStream;
  readonly #path: string;
  /** How far the file is read. */
  readBytes = 0;

  /** @param stream is open already, and is not read any more */
  constructor(stream: ReadStream, path: string) {
    this.#stream = stream;
    this.#path = path;
  }

  /**
   * The chunks that are read already, and all behind them: each holds until the next is asked for.
   * @throws CliFailure BAD_INPUT that names the file if it cannot be read
   */
  async *after(opening: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    let offset = 0;
    for (const chunk of opening) {
      offset += chunk.length;
      yield chunk;
    }
    const buffer = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      // A signal comes between two turns of the event loop.
      await nextTurn();
      const size = this.readAt(offset, buffer);
      if (size === 0) return;
      offset += size;
      yield buffer.subarray(0, size);
    }
  }

  /** @returns how many bytes there were; 0 at the end */
  readAt(offset: number, into: Uint8Array): number {
    try {
      // The stream keeps the file that was opened, whatever the path names by now.
      const { fd } = this.#stream as ReadStream & { readonly fd: number };
      const size = readSync(fd, into, 0, into.length, offset);
      this.readBytes = Math.max(this.readBytes, offset + size);
      return size;
    } catch (error) {
      throw new CliFailure(EXIT.BAD_INPUT, `cannot read ${this.#path}: ${reasonOf(error)}`);
    }
  }
}
