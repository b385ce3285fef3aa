// Buffers of blocks, used again: a long body goes through a few of them instead of leaving hundreds to the garbage
// collector. Whoever reads bodies makes one BlockBuffers for all of them, and gives back blocks that are answered.
import { FRAME_BLOCK_BYTES } from '../job.js';

/** A view of a buffer that belongs to the block alone, so that it may be transferred. */
export type Block = Uint8Array<ArrayBuffer>;

export class BlockBuffers {
  readonly #free: Block[] = [];
  /** Fewest free buffers since the last trim; that many were never needed. */
  #leastFree = 0;

  /** An empty buffer of FRAME_BLOCK_BYTES; its old content is still there. */
  take(): Block {
    const buffer = this.#free.pop() ?? new Uint8Array(FRAME_BLOCK_BYTES);
    this.#leastFree = Math.min(this.#leastFree, this.#free.length);
    return buffer;
  }

  /** Takes back a block that nobody reads any more. Buffers of other sizes are left to the garbage collector. */
  giveBack({ buffer }: Block): void {
    if (buffer.byteLength === FRAME_BLOCK_BYTES) this.#free.push(new Uint8Array(buffer));
  }

  /** Drops the buffers that were never needed since the last call; to be called every few seconds. */
  trim(): void {
    this.#free.splice(0, this.#leastFree);
    this.#leastFree = this.#free.length;
  }
}
