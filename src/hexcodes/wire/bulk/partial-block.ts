// The block that a splitter is filling: bytes of a body between two cuts.
import { FRAME_BLOCK_BYTES } from '../job.js';
import type { Block, BlockBuffers } from './block-buffers.js';

const NO_BYTES: Block = new Uint8Array(0);

export class PartialBlock {
  /** The buffer; its first `size` bytes are filled. Empty as long as nothing is. */
  bytes: Block = NO_BYTES;
  size = 0;
  readonly #buffers: BlockBuffers;

  constructor(buffers: BlockBuffers) {
    this.#buffers = buffers;
  }

  /**
   * Copies bytes of a chunk, from `from` on, until the chunk ends or the block has `fullBytes`.
   * @returns how many bytes it has copied
   */
  fill(chunk: Uint8Array, from: number, fullBytes: number): number {
    if (this.bytes.length === 0) this.bytes = this.#buffers.take();
    // A defect of a splitter must end the body, not give wrong rows.
    if (fullBytes < this.size) throw new RangeError(`a block of ${fullBytes} bytes has ${this.size} already`);
    const count = Math.min(chunk.length - from, fullBytes - this.size);
    this.bytes.set(chunk.subarray(from, from + count), this.size);
    this.size += count;
    return count;
  }

  /** Cuts off the first bytes as a block; the rest is copied to a new buffer. */
  cut(sizeBytes: number): Block {
    const block = this.bytes.subarray(0, sizeBytes);
    const rest = this.bytes.subarray(sizeBytes, this.size);
    if (rest.length === 0) this.bytes = NO_BYTES;
    else this.bytes = rest.length <= FRAME_BLOCK_BYTES ? this.#buffers.take() : new Uint8Array(rest.length);
    this.bytes.set(rest);
    this.size = rest.length;
    return block;
  }

  /** Drops the bytes and keeps the buffer. */
  clear(): void {
    this.size = 0;
  }

  /** Moves to a buffer of another size, for a frame that is larger than a block. */
  grow(sizeBytes: number): void {
    const grown = new Uint8Array(sizeBytes);
    grown.set(this.bytes.subarray(0, this.size));
    this.bytes = grown;
  }
}
