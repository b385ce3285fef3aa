// Cut a body, as its chunks arrive, into blocks of whole rows or whole frames. Memory is one block, or one frame.

import { FRAME_HEADER_BYTES } from '../frames/frame-layout.js';
import { readFrameHeader } from '../frames/frame-sequence.js';
import { BLOCK_BYTES, BulkInputError, MAX_NDJSON_ROW_BYTES } from '../job.js';
import { type Block, Pending } from './block-buffers.js';

/** Blocks own their buffers: they may be transferred. */
export interface BlockSplitter {
  /** Takes a chunk, which may be reused afterwards; the blocks that are full. */
  push(chunk: Uint8Array): Block[];
  /** The whole rows or frames that wait for a block to fill. */
  flush(): Block[];
  /** The rest, after the last chunk. */
  end(): Block[];
}

const LF = 10;
const QUOTE = 34;
/** Stands for a line that is too long to be kept: itself too long, so that it is answered as such. */
const TOO_LONG_LINE = new Uint8Array(MAX_NDJSON_ROW_BYTES + 2).fill(33);
TOO_LONG_LINE[MAX_NDJSON_ROW_BYTES + 1] = LF;

/** Where a byte stands: Buffer's search is many times as fast as that of other arrays. */
function indexOf(bytes: Uint8Array, byte: number, from = 0): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(byte, from);
}

export class LineSplitter implements BlockSplitter {
  readonly #pending = new Pending();
  #isFirst = true;
  /** Inside a line that is too long. */
  #isSkipping = false;

  push(chunk: Uint8Array): Block[] {
    const blocks: Block[] = [];
    for (let from = 0; from < chunk.length; ) {
      if (this.#isSkipping) {
        const feed = indexOf(chunk, LF, from);
        if (feed < 0) return blocks;
        this.#isSkipping = false;
        from = feed + 1;
        continue;
      }
      from += this.#pending.take(chunk, from, BLOCK_BYTES);
      if (this.#pending.size < BLOCK_BYTES) break;
      const whole = this.#flushLines();
      if (whole !== undefined) {
        blocks.push(whole);
      } else {
        this.#pending.size = 0;
        this.#isFirst = false;
        this.#isSkipping = true;
        blocks.push(TOO_LONG_LINE.slice());
      }
    }
    return blocks;
  }

  flush(): Block[] {
    const block = this.#flushLines();
    return block === undefined ? [] : [block];
  }

  end(): Block[] {
    return this.#pending.size === 0 ? [] : [this.#cut(this.#pending.size)];
  }

  #flushLines(): Block | undefined {
    const { bytes, size } = this.#pending;
    const feed = size === 0 ? -1 : bytes.lastIndexOf(LF, size - 1);
    return feed < 0 ? undefined : this.#cut(feed + 1);
  }

  #cut(sizeBytes: number): Block {
    const block = this.#pending.cut(sizeBytes);
    const hasMark = this.#isFirst && block[0] === 0xef && block[1] === 0xbb && block[2] === 0xbf;
    this.#isFirst = false;
    return hasMark ? block.subarray(3) : block;
  }
}

/** Where the byte before the next one stands. */
enum Place {
  /** At the start of a field. */
  Start,
  /** Inside one without quotes, or behind a closing quote. */
  Bare,
  Quoted,
  /** At a quote inside a quoted field: it closes it, or is the first of two. */
  QuoteInside,
}

export class CsvSplitter implements BlockSplitter {
  readonly #pending = new Pending();
  readonly #delimiter: number;
  #place = Place.Start;
  /** How much of what is pending has been looked at, and where its last whole row ends. */
  #seen = 0;
  #wholeEnd = 0;
  #isTooLong = false;

  constructor(delimiter: number) {
    this.#delimiter = delimiter;
  }

  push(chunk: Uint8Array): Block[] {
    const blocks: Block[] = [];
    for (let from = 0; from < chunk.length; ) {
      this.#refuseTooLong();
      from += this.#pending.take(chunk, from, BLOCK_BYTES);
      this.#look();
      if (this.#pending.size < BLOCK_BYTES) break;
      if (this.#wholeEnd === 0) {
        this.#isTooLong = true;
        // The rows before it are whole, and answered first.
        if (blocks.length > 0) return blocks;
        this.#refuseTooLong();
      }
      blocks.push(...this.flush());
    }
    return blocks;
  }

  flush(): Block[] {
    return this.#wholeEnd === 0 ? [] : [this.#cut(this.#wholeEnd)];
  }

  end(): Block[] {
    this.#refuseTooLong();
    return this.#pending.size === 0 ? [] : [this.#cut(this.#pending.size)];
  }

  #refuseTooLong(): void {
    if (!this.#isTooLong) return;
    const limit = `${BLOCK_BYTES} bytes`;
    throw new BulkInputError(`A row is longer than ${limit}; perhaps a quote in it is not closed`);
  }

  #cut(sizeBytes: number): Block {
    this.#seen -= Math.min(this.#seen, sizeBytes);
    this.#wholeEnd -= Math.min(this.#wholeEnd, sizeBytes);
    return this.#pending.cut(sizeBytes);
  }

  #look(): void {
    const { bytes, size } = this.#pending;
    const fresh = bytes.subarray(this.#seen, size);
    if (this.#place < Place.Quoted && indexOf(fresh, QUOTE) < 0) {
      const feed = fresh.lastIndexOf(LF);
      if (feed >= 0) this.#wholeEnd = this.#seen + feed + 1;
      const last = fresh.at(-1);
      if (last !== undefined)
        this.#place = last === LF || last === this.#delimiter ? Place.Start : Place.Bare;
    } else {
      let place = this.#place;
      for (let i = 0; i < fresh.length; i++) {
        const byte = fresh[i]!;
        if (byte === LF && place !== Place.Quoted) this.#wholeEnd = this.#seen + i + 1;
        place = placeAfter(place, byte, this.#delimiter);
      }
      this.#place = place;
    }
    this.#seen = size;
  }
}

function placeAfter(place: Place, byte: number, delimiter: number): Place {
  if (place === Place.Quoted) return byte === QUOTE ? Place.QuoteInside : Place.Quoted;
  if (byte === QUOTE && place !== Place.Bare) return Place.Quoted;
  return byte === LF || byte === delimiter ? Place.Start : Place.Bare;
}

/** Where the first CSV row ends, its line end included; -1 if it has none. */
export function firstRowEnd(bytes: Uint8Array, delimiter: number): number {
  let place: Place = Place.Start;
  for (const [i, byte] of bytes.entries()) {
    if (byte === LF && place !== Place.Quoted) return i + 1;
    place = placeAfter(place, byte, delimiter);
  }
  return -1;
}

export class FrameSplitter implements BlockSplitter {
  readonly #pending = new Pending();
  #wholeEnd = 0;
  /** Where the frame that is not whole yet ends, or its header. */
  #frameEnd = 0;
  /** Behind a header that cannot be read no frame can be found. */
  #isBroken = false;

  push(chunk: Uint8Array): Block[] {
    const blocks: Block[] = [];
    for (let from = 0; from < chunk.length && !this.#isBroken; ) {
      // No further than the end of a frame, if it fits: nothing is left over that had to be moved to the next block.
      const isNearEnd = this.#frameEnd > BLOCK_BYTES && this.#frameEnd <= this.#pending.bytes.length;
      from += this.#pending.take(chunk, from, isNearEnd ? this.#frameEnd : BLOCK_BYTES);
      this.#look();
      if (this.#pending.size < BLOCK_BYTES) continue;
      const isTooLong = this.#frameEnd > this.#pending.bytes.length;
      if (this.#wholeEnd === this.#pending.size || (isTooLong && this.#wholeEnd > 0)) {
        blocks.push(...this.flush());
      } else if (isTooLong) {
        this.#pending.grow(this.#frameEnd);
      }
    }
    if (this.#isBroken) blocks.push(...this.flush());
    return blocks;
  }

  flush(): Block[] {
    if (this.#wholeEnd === 0) return [];
    const block = this.#pending.cut(this.#wholeEnd);
    // Behind a broken header it stands before the cut.
    this.#frameEnd = Math.max(0, this.#frameEnd - this.#wholeEnd);
    this.#wholeEnd = 0;
    return [block];
  }

  end(): Block[] {
    const blocks = this.flush();
    if (this.#pending.size > 0 && !this.#isBroken) blocks.push(this.#pending.cut(this.#pending.size));
    return blocks;
  }

  /** Walks over whole frames. */
  #look(): void {
    const { bytes, size } = this.#pending;
    const known = bytes.subarray(0, size);
    while (size - this.#wholeEnd >= FRAME_HEADER_BYTES) {
      const header = readFrameHeader(known, this.#wholeEnd);
      if (header === undefined) {
        this.#isBroken = true;
        this.#wholeEnd += FRAME_HEADER_BYTES;
        return;
      }
      this.#frameEnd = this.#wholeEnd + header.sizeBytes;
      if (this.#frameEnd > size) return;
      this.#wholeEnd = this.#frameEnd;
    }
    this.#frameEnd = this.#wholeEnd + FRAME_HEADER_BYTES;
  }
}
