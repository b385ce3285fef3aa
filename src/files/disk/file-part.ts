// A part of a file: bytes between two row ends of CSV, TSV or NDJSON, or rows of Parquet. It is converted as the same
// rows of the whole file are: columns and spelling are judged by the first rows of the file.

import { closeSync, createReadStream, openSync, type ReadStream, readSync } from 'node:fs';
import { CliFailure, EXIT } from '../exit-codes.js';
import { reasonOf } from '../file-faults.js';

export type FilePart = ByteRange | RowRange;

export interface ByteRange {
  readonly kind: 'bytes';
  /** From 1. */
  readonly number: number;
  /** Bytes of the header row and the text before it: the first bytes of the file, which belong to each part. */
  readonly headBytes: number;
  readonly start: number;
  readonly end: number;
}

export interface RowRange {
  readonly kind: 'rows';
  /** From 1. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

const CHUNK_BYTES = 256 * 1024;

/** Name of a part in messages. */
export const partName = (path: string, { number }: FilePart): string => `${path}, part ${number}`;

/** The first bytes of a file. @throws CliFailure BAD_INPUT */
export function firstBytesOf(path: string, mostBytes: number): Uint8Array {
  const bytes = new Uint8Array(mostBytes);
  let size = 0;
  try {
    const file = openSync(path, 'r');
    try {
      for (let count = 1; count > 0 && size < mostBytes; size += count)
        count = readSync(file, bytes, size, mostBytes - size, size);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `cannot read ${path}: ${reasonOf(error)}`);
  }
  return bytes.subarray(0, size);
}

/** Reads the head of a file and then a range of it. */
export class RangeReader {
  bytes = 0;
  readonly #path: string;
  readonly #range: ByteRange;
  #stream: ReadStream | null = null;

  constructor(path: string, range: ByteRange) {
    this.#path = path;
    this.#range = range;
  }

  /** @throws CliFailure BAD_INPUT */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const { headBytes, start, end } = this.#range;
    for (const [from, to] of [
      [0, headBytes],
      [start, end],
    ] as const) {
      // A stream cannot be asked for no bytes.
      if (to <= from) continue;
      this.#stream = createReadStream(this.#path, { start: from, end: to - 1, highWaterMark: CHUNK_BYTES });
      let left = to - from;
      try {
        for await (const chunk of this.#stream as AsyncIterable<Uint8Array>) {
          left -= chunk.length;
          this.bytes += chunk.length;
          yield chunk;
        }
      } catch (error) {
        throw new CliFailure(EXIT.BAD_INPUT, `cannot read ${this.#path}: ${reasonOf(error)}`);
      }
      if (left > 0) throw new CliFailure(EXIT.BAD_INPUT, `${this.#path} has become shorter`);
    }
  }

  close(): void {
    this.#stream?.destroy();
  }
}
