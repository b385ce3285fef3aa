// Cuts bytes into blocks of whole lines that the kernel takes at once.

import { linesIn } from '../../hexcodes/wire/bulk/splitters.js';
import type { Input } from '../disk/input.js';
import { isRest } from '../disk/rests.js';
import { MAX_LINE_BYTES } from './lines.js';

const LF = 10;
const HELD_BYTES = 512 * 1024;
/** A line of more bytes is none. */
const MAX_REST = MAX_LINE_BYTES + 2 ** 20;

/**
 * The lines of an input from an offset on, which is the start of one, in blocks as those of `lineBlocks`.
 * @param skipped is called with the number of lines before the offset, where they are read
 */
export async function* blocksOfLines(
  { plain, chunks }: Input,
  blockBytes: number,
  from = 0,
  skipped: (lines: number) => void = () => undefined,
): AsyncGenerator<Buffer> {
  if (plain !== null) {
    yield* lineBlocks(plain.chunksFrom(from), blockBytes);
    return;
  }
  async function* content(): AsyncGenerator<Uint8Array> {
    let toSkip = from;
    let lines = 0;
    for await (const chunk of chunks()) {
      const bytes = Math.min(toSkip, chunk.length);
      toSkip -= bytes;
      lines += linesIn(chunk, 0, bytes);
      if (toSkip === 0 && bytes > 0) skipped(lines);
      if (bytes === 0 || bytes < chunk.length) yield chunk.subarray(bytes);
    }
  }
  yield* lineBlocks(content(), blockBytes);
}

/**
 * Blocks of whole lines, at most `blockBytes` each; a longer line is a block of its own, and the last block may have no
 * line end. Whole lines do not wait where the input rests. A block holds until the next is asked for, a chunk until
 * then, too.
 */
export async function* lineBlocks(
  chunks: AsyncIterable<Uint8Array>,
  blockBytes: number,
): AsyncGenerator<Buffer> {
  // Whole lines from the start of `held` on, and the beginning of the next one.
  let held = Buffer.allocUnsafeSlow(HELD_BYTES);
  let heldBytes = 0;
  for await (const chunk of chunks) {
    if (heldBytes + chunk.length > held.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (heldBytes + chunk.length));
      larger.set(held.subarray(0, heldBytes));
      held = larger;
    }
    held.set(chunk, heldBytes);
    let block = held.subarray(0, heldBytes + chunk.length);
    for (;;) {
      const within = block.lastIndexOf(LF, Math.min(block.length, blockBytes) - 1);
      const feed = within >= 0 || block.length <= blockBytes ? within : block.indexOf(LF);
      if (feed < 0 || (block.length <= blockBytes / 2 && !isRest(chunk))) break;
      yield block.subarray(0, feed + 1);
      block = block.subarray(feed + 1);
    }
    heldBytes = block.length;
    held.copyWithin(0, block.byteOffset - held.byteOffset, block.byteOffset - held.byteOffset + heldBytes);
    // The reader of lines refuses it.
    if (heldBytes > MAX_REST) yield held.subarray(0, heldBytes);
  }
  for (let rest = held.subarray(0, heldBytes); rest.length > 0; ) {
    const feed = rest.lastIndexOf(LF, blockBytes - 1);
    const end = rest.length <= blockBytes || feed < 0 ? rest.length : feed + 1;
    yield rest.subarray(0, end);
    rest = rest.subarray(end);
  }
}
