// Shared memory for blocks that go to a worker. A block is copied in once, and the worker reads it in place: only a
// reference is posted, and the block is still there when a worker dies over it. Buffers that were given back are used
// again, so a long body allocates a handful of them.

import { copyBytes } from '../hexcodes/wire/bytes/byte-sink.js';
import { BLOCK_BYTES, FRAME_BLOCK_BYTES } from '../hexcodes/wire/job.js';
import { MAX_BATCH_BYTES, MAX_FRAME_BYTES } from '../hexcodes/wire/limits.js';

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

  /** A copy of `bytes` in shared memory, to be given back when no worker reads it any more. */
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
