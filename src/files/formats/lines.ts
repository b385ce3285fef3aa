// Lines of UTF-8 text, for NDJSON: blocks of whole lines that the kernel takes at once, and single lines of a block.

import { linesIn } from '../../hexcodes/wire/bulk/splitters.js';
import type { Input } from '../disk/input.js';
import { isRest } from '../disk/rests.js';
import { badInput } from '../exit-codes.js';
import { parseObject } from './json/json-columns.js';
import type { JsonDocument } from './table.js';

/** A longer line is a file without line ends rather than a row. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A longer line is refused: `documentIn` refuses its beginning. */
const MAX_REST = MAX_LINE_BYTES + 2 ** 20;
const HELD_BYTES = 512 * 1024;
const LF = 10;
const RECORD_SEPARATOR = 0x1e;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * The lines of an input from an offset on, which is the start of one, in blocks of at most `blockBytes`; a longer line
 * is a block of its own, and the last block may have no line end. An empty block where the input pauses: whole lines
 * do not wait then. A block is valid until the next is requested.
 * @param skipped is called with the number of lines before the offset, where they are read
 */
export async function* lineBlocks(
  { plain, chunks }: Input,
  blockBytes: number,
  from = 0,
  skipped: (lines: number) => void = () => undefined,
): AsyncGenerator<Buffer> {
  // Whole lines from the start of `held` on, and the beginning of the next one.
  let held = Buffer.allocUnsafeSlow(HELD_BYTES);
  let heldBytes = 0;
  let toSkip = plain === null ? from : 0;
  let lines = 0;
  for await (const whole of plain?.chunksFrom(from) ?? chunks()) {
    const skippedBytes = Math.min(toSkip, whole.length);
    toSkip -= skippedBytes;
    lines += linesIn(whole, 0, skippedBytes);
    if (skippedBytes > 0 && toSkip === 0) skipped(lines);
    const chunk = whole.subarray(skippedBytes);
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
      if (feed < 0 || (block.length <= blockBytes / 2 && !isRest(whole))) break;
      yield block.subarray(0, feed + 1);
      block = block.subarray(feed + 1);
    }
    heldBytes = block.length;
    held.copyWithin(0, block.byteOffset - held.byteOffset, block.byteOffset - held.byteOffset + heldBytes);
    if (isRest(whole)) yield held.subarray(0, 0);
    if (heldBytes > MAX_REST) yield held.subarray(0, heldBytes);
  }
  for (let rest = held.subarray(0, heldBytes); rest.length > 0; ) {
    const feed = rest.lastIndexOf(LF, blockBytes - 1);
    const end = rest.length <= blockBytes || feed < 0 ? rest.length : feed + 1;
    yield rest.subarray(0, end);
    rest = rest.subarray(end);
  }
}

/** The bounds of the lines of a block from a byte on, without their line ends. */
export function* boundsOfLines(block: Buffer, from = 0): Generator<readonly [start: number, end: number]> {
  for (let start = from; start < block.length; ) {
    const feed = block.indexOf(LF, start);
    const end = feed < 0 ? block.length : feed;
    yield [start, end];
    start = end + 1;
  }
}

/**
 * The object in a line without its line end, null where the line is blank.
 * @param line its number in the file
 * @throws CliFailure BAD_INPUT for a line that is too long, not UTF-8, not JSON, or holds a NUL byte
 */
export function documentIn(bytes: Uint8Array, file: string, line: number): JsonDocument | null {
  if (bytes.length > MAX_LINE_BYTES)
    throw badInput({ file, row: line }, `a line of more than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw badInput({ file, row: line }, `a NUL byte at byte ${nul + 1} of the line`);
  let text: string;
  try {
    // A record separator may precede each text of a GeoJSON sequence (RFC 8142).
    text = decoder.decode(bytes[0] === RECORD_SEPARATOR ? bytes.subarray(1) : bytes).trim();
  } catch {
    throw badInput({ file, row: line }, 'not UTF-8');
  }
  return text === '' ? null : parseObject(text, file, line);
}
