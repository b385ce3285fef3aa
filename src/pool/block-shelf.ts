// Shared memory for the blocks on their way to a worker. A block is copied in once and read by the worker where it
// lies: nothing is posted but its place, and while it lies there a worker that dies costs no more than another try.
// Emptied buffers are used again, so a long body allocates a handful of them.

import { copyBytes } from '../wire/bytes/copy-bytes.js';
import { MAX_FRAME_BYTES } from '../wire/frames/answer-frame.js';
import { BLOCK_BYTES, FRAME_BLOCK_BYTES } from '../wire/job.js';
import { MAX_BATCH_BYTES } from '../wire/rows/batch.js';

/** Bytes of an answer's buffer: for the largest frame; blocks of CSV and NDJSON grow to less than four times their size. */
export const ROOM_BYTES = Math.max(4 * BLOCK_BYTES, MAX_FRAME_BYTES);

/** Sizes of buffers: for small work, blocks of text, of frames, the largest frame and the largest batch. */
const SIZES_BYTES = [64 * 1024, BLOCK_BYTES, FRAME_BLOCK_BYTES, ROOM_BYTES, MAX_BATCH_BYTES];
/** Emptied buffers kept; beyond this they are left to the collector. */
const KEPT_BYTES = 24 * 1024 * 1024;

export class BlockShelf {
  readonly #free = new Map<number, SharedArrayBuffer[]>();
  #freeBytes = 0;

  /** A copy of `bytes` in shared memory; `giveBack` its buffer when no worker reads it any more. */
  copyOf(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
    const sizeBytes = SIZES_BYTES.find((size) => size >= bytes.length) ?? bytes.length;
    let buffer = this.#free.get(sizeBytes)?.pop();
    if (buffer === undefined) buffer = new SharedArrayBuffer(sizeBytes);
    else this.#freeBytes -= sizeBytes;
    const block = new Uint8Array(buffer, 0, bytes.length);
    copyBytes(block, bytes);
    return block;
  }

  giveBack(block: Uint8Array<SharedArrayBuffer>): void {
    const sizeBytes = block.buffer.byteLength;
    if (this.#freeBytes + sizeBytes > KEPT_BYTES) return;
    const sameSize = this.#free.get(sizeBytes);
    if (sameSize === undefined) this.#free.set(sizeBytes, [block.buffer]);
    else sameSize.push(block.buffer);
    this.#freeBytes += sizeBytes;
  }
}
