// Parts of a file that a worker reads itself: only their offsets are posted, and their answers come back.

import { readSync } from 'node:fs';
import type { Kernel } from '../hexcodes/kernel/kernel.js';
import { convertBlock } from '../hexcodes/wire/bulk/convert-block.js';
import { type ConvertedLines, LineConverter, type LineShape } from '../hexcodes/wire/bulk/convert-lines.js';
import { endsWithRow, isText } from '../hexcodes/wire/bulk/splitters.js';
import { type ByteSink, copyBytes } from '../hexcodes/wire/bytes/byte-sink.js';
import {
  BLOCK_BYTES,
  BulkInputError,
  type BulkJob,
  type ConvertedBlock,
  FRAME_BLOCK_BYTES,
} from '../hexcodes/wire/job.js';
import { MAX_BATCH_BYTES, MAX_FRAME_BYTES } from '../hexcodes/wire/limits.js';

/** Bytes of a file from the start of a row or line on, at most BLOCK_BYTES. Descriptors are those of the process. */
export interface FileSlice {
  readonly fd: number;
  readonly offset: number;
  readonly sizeBytes: number;
  /** Whether the file ends with it. */
  readonly isLast: boolean;
}

/** How rows of CSV, or lines of NDJSON, are converted. */
export type SliceWork =
  | { readonly kind: 'rows'; readonly job: BulkJob }
  | { readonly kind: 'lines'; readonly shape: LineShape };

export type SliceAnswer = (ConvertedBlock | ConvertedLines) & { readonly bytes: Uint8Array<ArrayBuffer> };

const [LF, CR] = [10, 13] as const;
const bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
let lines:
  | { readonly kernel: Kernel; readonly key: string; readonly converter: LineConverter | null }
  | undefined;

/**
 * @param buffer holds the answer if it fits
 * @returns null for a slice that the caller must convert: it is not text, ends within a row, or has unusual lines
 */
export function answerSlice(
  kernel: Kernel,
  work: SliceWork,
  slice: FileSlice,
  sink: ByteSink,
  buffer: Uint8Array<ArrayBuffer>,
): SliceAnswer | null {
  for (let done = 0; done < slice.sizeBytes; ) {
    const size = readSync(slice.fd, bytes, done, slice.sizeBytes - done, slice.offset + done);
    // The file has become shorter: the caller's own reading reports it.
    if (size === 0) return null;
    done += size;
  }
  const block = bytes.subarray(0, slice.sizeBytes);
  if (!slice.isLast && block.at(-1) !== LF) return null;
  if (work.kind === 'rows') {
    if (
      !isText(block) ||
      block.at(-1) === CR ||
      !endsWithRow(block, work.job.delimiter, slice.isLast, kernel)
    )
      return null;
    try {
      return convertBlock(kernel, work.job, block, buffer, sink);
    } catch (error) {
      if (error instanceof BulkInputError) return null;
      throw error;
    }
  }
  const key = JSON.stringify(work.shape);
  if (lines?.key !== key || lines.kernel !== kernel)
    lines = { kernel, key, converter: LineConverter.of(kernel, work.shape) };
  const converted = lines.converter?.convert(block) ?? null;
  if (converted === null || converted.left.length > 0 || converted.restAt < block.length) return null;
  sink.start(buffer);
  sink.add(converted.bytes);
  return { ...converted, bytes: sink.take() };
}

// Shared memory for blocks of workers. A block is copied once, and the worker reads it in place: only a reference is
// posted, and the block survives a worker that dies over it. Returned buffers are reused, so a long body allocates
// only a few.

/**
 * Size of an answer buffer: the largest frame fits, and so do most answers to text: they grow to less than four times
 * the block.
 */
export const ANSWER_BUFFER_BYTES = Math.max(4 * BLOCK_BYTES, MAX_FRAME_BYTES);

/**
 * Buffers have one of these sizes: for small work, a block of text, a block of frames, the largest frame, the largest
 * batch.
 */
const SIZES_BYTES = [64 * 1024, BLOCK_BYTES, FRAME_BLOCK_BYTES, ANSWER_BUFFER_BYTES, MAX_BATCH_BYTES];
/** Most bytes of free buffers; further ones are left to the garbage collector. */
const KEPT_BYTES = 24 * 1024 * 1024;

export class FreeBlocks {
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  #freeBytes = 0;

  /** A copy of `bytes` in shared memory, to be returned when no worker reads it any more. */
  copyOf(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
    const sizeBytes = SIZES_BYTES.find((size) => size >= bytes.length) ?? bytes.length;
    let buffer = this.#free.get(sizeBytes)?.pop();
    if (buffer === undefined) buffer = new SharedArrayBuffer(sizeBytes);
    else this.#freeBytes -= sizeBytes;
    const block = new Uint8Array(buffer, 0, bytes.length);
    copyBytes(block, bytes);
    return block;
  }

  /** Frees the buffer of a copy for another one. */
  giveBack(block: Uint8Array<SharedArrayBuffer>): void {
    const sizeBytes = block.buffer.byteLength;
    if (this.#freeBytes + sizeBytes > KEPT_BYTES) return;
    const sameSize = this.#free.get(sizeBytes);
    if (sameSize === undefined) this.#free.set(sizeBytes, [block.buffer]);
    else sameSize.push(block.buffer);
    this.#freeBytes += sizeBytes;
  }
}

/** A copy that all threads may read. */
export function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
