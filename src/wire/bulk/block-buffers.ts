// The buffers of blocks on their way from a body to the kernel: a long body goes through a few of them instead of leaving
// hundreds to the collector.
import { FRAME_BLOCK_BYTES } from '../job.js';

export type Block = Uint8Array<ArrayBuffer>;

const NO_BYTES: Block = new Uint8Array(0);

const emptied: Block[] = [];
/** How few were left since the last `trimBlockBuffers`: so many are too many. */
let leftOver = 0;

function blockBuffer(): Block {
  const buffer = emptied.pop() ?? new Uint8Array(FRAME_BLOCK_BYTES);
  leftOver = Math.min(leftOver, emptied.length);
  return buffer;
}

/** Takes back the buffer of a block that nobody will look at again. */
export function giveBackBlock({ buffer }: Block): void {
  if (buffer.byteLength === FRAME_BLOCK_BYTES) emptied.push(new Uint8Array(buffer));
}

/** Lets go of the buffers that nobody needed since the last call. Call it now and then. */
export function trimBlockBuffers(): void {
  emptied.splice(0, leftOver);
  leftOver = emptied.length;
}

/** Bytes of a body that wait for their block to fill. */
export class Pending {
  bytes: Block = NO_BYTES;
  size = 0;

  /** Takes bytes until there are `mostBytes`, which must fit; how many that were. */
  take(chunk: Uint8Array, from: number, mostBytes: number): number {
    if (this.bytes.length === 0) this.bytes = blockBuffer();
    // A defect of ours must not become wrong rows.
    if (mostBytes < this.size) throw new RangeError('more bytes are pending than may be');
    const count = Math.min(chunk.length - from, mostBytes - this.size);
    this.bytes.set(chunk.subarray(from, from + count), this.size);
    this.size += count;
    return count;
  }

  /** Hands over the first bytes; what is left moves to a new buffer. */
  cut(sizeBytes: number): Block {
    const block = this.bytes.subarray(0, sizeBytes);
    const rest = this.bytes.subarray(sizeBytes, this.size);
    if (rest.length === 0) this.bytes = NO_BYTES;
    else this.bytes = rest.length <= FRAME_BLOCK_BYTES ? blockBuffer() : new Uint8Array(rest.length);
    this.bytes.set(rest);
    this.size = rest.length;
    return block;
  }

  /** Makes room for a frame of so many bytes. */
  grow(sizeBytes: number): void {
    const grown = new Uint8Array(sizeBytes);
    grown.set(this.bytes.subarray(0, this.size));
    this.bytes = grown;
  }
}
