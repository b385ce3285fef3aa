// Splitters cut a body, as its chunks arrive, into blocks of whole rows or whole frames. A splitter holds at most one
// partial block or one partial frame.

import { isUtf8 } from 'node:buffer';
import type { Kernel } from '../../kernel/kernel.js';
import { readFrameHeader } from '../frames/answer-frame.js';
import { BLOCK_BYTES, BulkInputError, FRAME_BLOCK_BYTES, MAX_NDJSON_ROW_BYTES } from '../job.js';
import { FRAME_HEADER_BYTES } from '../limits.js';

/** A view of a buffer that no other view uses, so that it may be transferred. */
export type Block = Uint8Array<ArrayBuffer>;

/**
 * Reused buffers of blocks: a long body goes through a few of them instead of leaving hundreds to the garbage
 * collector. A reader of bodies makes one BlockBuffers for all of them, and returns blocks that are answered.
 */
export class BlockBuffers {
  readonly #free: Block[] = [];
  /** Fewest free buffers since the last trim, which were not needed. */
  #minFree = 0;

  /** A buffer of FRAME_BLOCK_BYTES, which may hold old content. */
  take(): Block {
    const buffer = this.#free.pop() ?? new Uint8Array(FRAME_BLOCK_BYTES);
    this.#minFree = Math.min(this.#minFree, this.#free.length);
    return buffer;
  }

  /** Takes back a block that is no longer read. Buffers of other sizes are left to the garbage collector. */
  giveBack({ buffer }: Block): void {
    if (buffer.byteLength === FRAME_BLOCK_BYTES) this.#free.push(new Uint8Array(buffer));
  }

  /** Drops the buffers that were not needed since the last call; to be called every few seconds. */
  trim(): void {
    this.#free.splice(0, this.#minFree);
    this.#minFree = this.#free.length;
  }
}

// The block that a splitter is filling: bytes of a body between two cuts.
const NO_BYTES: Block = new Uint8Array(0);

class PartialBlock {
  /** The buffer; its first `size` bytes are filled. Allocated with the first byte. */
  bytes: Block = NO_BYTES;
  size = 0;

  constructor(private readonly buffers: BlockBuffers) {}

  /**
   * Copies bytes of a chunk, from `from` on, until the chunk ends or the block has `fullBytes`.
   * @returns the number of bytes copied
   */
  fill(chunk: Uint8Array, from: number, fullBytes: number): number {
    if (this.bytes.length === 0) this.bytes = this.buffers.take();
    // A defect of a splitter must end the body, not produce wrong rows.
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
    else this.bytes = rest.length <= FRAME_BLOCK_BYTES ? this.buffers.take() : new Uint8Array(rest.length);
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

export interface BlockSplitter {
  /** Copies a chunk, whose memory may then be reused; returns the blocks that are full. */
  push(chunk: Uint8Array): Block[];
  /** The whole rows or frames of the partial block, as a block; none where it has no whole one. */
  flush(): Block[];
  /** The rest, after the last chunk, whether it is whole or not. */
  end(): Block[];
  /** Bytes of memory that the splitter holds. */
  readonly heldBytes: number;
}

const LF = 10;
const CR = 13;
const QUOTE = 34;
/** Stands for a line that is longer than a block: it is too long as well, so it gets the same answer. */
const TOO_LONG_LINE = new Uint8Array(MAX_NDJSON_ROW_BYTES + 2).fill(33);
TOO_LONG_LINE[MAX_NDJSON_ROW_BYTES + 1] = LF;

/** The offset of a byte, -1 if absent: Buffer searches many times as fast as Uint8Array. */
function indexOf(bytes: Uint8Array, byte: number, from = 0): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(byte, from);
}

/** Whether bytes of whole rows are text: UTF-8 without NUL. */
export const isText = (bytes: Uint8Array): boolean => indexOf(bytes, 0) < 0 && isUtf8(bytes);

/** Line ends from one offset to before another. */
export function linesIn(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}

abstract class Splitter {
  protected readonly partial: PartialBlock;

  constructor(buffers: BlockBuffers) {
    this.partial = new PartialBlock(buffers);
  }

  get heldBytes(): number {
    return this.partial.bytes.length;
  }
}

export class LineSplitter extends Splitter implements BlockSplitter {
  #isFirst = true;
  /** Bytes at the beginning of the partial block that hold no line end. */
  #searchedBytes = 0;
  /** Inside a line that is too long, whose remaining bytes are dropped. */
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
      from += this.partial.fill(chunk, from, BLOCK_BYTES);
      if (this.partial.size < BLOCK_BYTES) break;
      const whole = this.#flushLines();
      if (whole !== undefined) {
        blocks.push(whole);
      } else {
        this.partial.clear();
        this.#searchedBytes = 0;
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
    return this.partial.size === 0 ? [] : [this.#cut(this.partial.size)];
  }

  #flushLines(): Block | undefined {
    const { bytes, size } = this.partial;
    // A long line may come byte by byte: no byte is searched twice.
    const feed = bytes.subarray(this.#searchedBytes, size).lastIndexOf(LF);
    if (feed >= 0) return this.#cut(this.#searchedBytes + feed + 1);
    this.#searchedBytes = size;
    return undefined;
  }

  /** The rest after the last line end contains no other. */
  #cut(sizeBytes: number): Block {
    const block = this.partial.cut(sizeBytes);
    this.#searchedBytes = this.partial.size;
    const hasMark = this.#isFirst && block[0] === 0xef && block[1] === 0xbb && block[2] === 0xbf;
    this.#isFirst = false;
    return hasMark ? block.subarray(3) : block;
  }
}

/** The state of the CSV grammar between two bytes, as the kernel's csvRows has it. */
enum CsvState {
  /** At the start of a field, or after a quote in a quoted field: a following quote opens or reopens the field. */
  Opens,
  /** Inside an unquoted field, where a quote is an ordinary character. */
  Plain,
  Quoted,
}

export class CsvSplitter extends Splitter implements BlockSplitter {
  readonly #rows: CsvRows;
  /** Bytes of the partial block that have been read, and the end of the last whole row among them. */
  #readBytes = 0;
  #wholeEnd = 0;
  /** The first row of the partial block is longer than a block. */
  #isTooLong = false;

  /**
   * @param delimiter the byte between two fields
   * @param kernel reads rows with quotes, which take four times as long without it
   */
  constructor(delimiter: number, buffers = new BlockBuffers(), kernel?: Kernel) {
    super(buffers);
    this.#rows = new CsvRows(delimiter, kernel);
  }

  push(chunk: Uint8Array): Block[] {
    const blocks: Block[] = [];
    for (let from = 0; from < chunk.length; ) {
      this.#refuseTooLong();
      from += this.partial.fill(chunk, from, BLOCK_BYTES);
      this.#findRows();
      if (this.partial.size < BLOCK_BYTES) break;
      if (this.#wholeEnd === 0) {
        this.#isTooLong = true;
        // The blocks before it are answered first; the next call throws.
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

  /**
   * The rest without trailing carriage returns, which remain of line ends without a line feed and are not text unless
   * quoted.
   */
  end(): Block[] {
    this.#refuseTooLong();
    let { size } = this.partial;
    if (!this.#rows.isQuoted) while (size > 0 && this.partial.bytes[size - 1] === CR) size--;
    return size === 0 ? [] : [this.#cut(size)];
  }

  /** Ends the input, which may leave no quote open. @throws BulkInputError for one, after the rows before it */
  *endClosed(): Generator<Block> {
    yield* this.flush();
    if (this.#rows.isQuoted) throw new BulkInputError('a quote is not closed');
    yield* this.end();
  }

  #refuseTooLong(): void {
    if (!this.#isTooLong) return;
    const limit = `${BLOCK_BYTES} bytes`;
    throw new BulkInputError(`A row is longer than ${limit}; perhaps a quote in it is not closed`);
  }

  #cut(sizeBytes: number): Block {
    this.#readBytes -= Math.min(this.#readBytes, sizeBytes);
    this.#wholeEnd -= Math.min(this.#wholeEnd, sizeBytes);
    return this.partial.cut(sizeBytes);
  }

  /** Reads the new bytes of the partial block. */
  #findRows(): void {
    const { bytes, size } = this.partial;
    this.#wholeEnd = this.#rows.endIn(bytes.subarray(0, size), this.#readBytes) || this.#wholeEnd;
    this.#readBytes = size;
  }
}

/** Finds the ends of CSV rows: field by field where quotes may hide line ends, at once where none is near. */
class CsvRows {
  /** State after the bytes read so far. */
  #state = CsvState.Opens;

  /** @param isFirst whether to stop after the first row */
  constructor(
    private readonly delimiter: number,
    private readonly kernel?: Kernel,
    private readonly isFirst = false,
  ) {}

  get isQuoted(): boolean {
    return this.#state === CsvState.Quoted;
  }

  /**
   * Reads bytes from `from` on, where the previous call ended.
   * @returns the end of the last whole row, 0 if none ends
   */
  endIn(bytes: Uint8Array, from: number): number {
    const { delimiter, kernel, isFirst } = this;
    let state = this.#state;
    const size = bytes.length;
    let end = 0;
    let at = from;
    // After a row without a quote, the rows before the next quote are skipped.
    let mayPass = !isFirst && state < CsvState.Quoted;
    let hasQuote = false;
    while (at < size) {
      if (mayPass) {
        mayPass = false;
        const quote = indexOf(bytes, QUOTE, at);
        const rest = bytes.subarray(at, quote < 0 ? size : quote);
        const feed = rest.lastIndexOf(LF);
        if (feed >= 0) {
          end = at + feed + 1;
          at = end;
          state = CsvState.Opens;
        }
        if (quote < 0) {
          const last = bytes[size - 1];
          state = last === LF || last === delimiter ? CsvState.Opens : CsvState.Plain;
          break;
        }
        continue;
      }
      if (kernel !== undefined) {
        this.#state = state;
        return this.#endByKernel(kernel, bytes, at) || end;
      }
      if (state === CsvState.Quoted) {
        while (at < size && bytes[at] !== QUOTE) at++;
        if (at === size) break;
        state = CsvState.Opens;
        at++;
        continue;
      }
      const byte = bytes[at]!;
      at++;
      if (byte === QUOTE && state === CsvState.Opens) {
        state = CsvState.Quoted;
        hasQuote = true;
        continue;
      }
      if (byte !== LF && byte !== delimiter) {
        state = CsvState.Plain;
        while (at < size && bytes[at] !== LF && bytes[at] !== delimiter) at++;
        continue;
      }
      state = CsvState.Opens;
      if (byte !== LF) continue;
      end = at;
      if (isFirst) break;
      mayPass = !hasQuote;
      hasQuote = false;
    }
    this.#state = state;
    return end;
  }

  #endByKernel({ exports }: Kernel, bytes: Uint8Array, from: number): number {
    const { memory, CSV_PIECE, CSV_PIECE_BYTES } = exports;
    const area = new Uint8Array(memory.buffer, CSV_PIECE.value, CSV_PIECE_BYTES.value);
    let end = 0;
    for (let at = from; at < bytes.length; at += area.length) {
      const piece = bytes.subarray(at, at + area.length);
      area.set(piece);
      const found = exports.csvRows(piece.length, this.delimiter, this.#state);
      this.#state = found & 3;
      if (found > 3) end = at + (found >>> 2);
    }
    return end;
  }
}

/**
 * Whether bytes that begin with a CSV row end with the end of a row.
 * @param isLast whether nothing follows, so that the row needs no line end
 */
export function endsWithRow(bytes: Uint8Array, delimiter: number, isLast: boolean, kernel: Kernel): boolean {
  if (!isLast && bytes.at(-1) !== LF) return false;
  const rows = new CsvRows(delimiter, kernel);
  const end = rows.endIn(bytes, 0);
  return isLast ? !rows.isQuoted : end === bytes.length;
}

/** The offset after the first CSV row and its line end; -1 where no row ends. */
export function firstRowEnd(bytes: Uint8Array, delimiter: number): number {
  return new CsvRows(delimiter, undefined, true).endIn(bytes, 0) || -1;
}

export class FrameSplitter extends Splitter implements BlockSplitter {
  #wholeEnd = 0;
  /** End of the first partial frame, or of its header where that is not complete either. */
  #frameEnd = 0;
  /** A header gives no size, so no further frame can be found. The body ends with that header. */
  #isBroken = false;

  push(chunk: Uint8Array): Block[] {
    const blocks: Block[] = [];
    for (let from = 0; from < chunk.length && !this.#isBroken; ) {
      // The last frame of a block may exceed BLOCK_BYTES if the buffer holds it; then no rest is copied to the next
      // buffer.
      const isHeld = this.#frameEnd <= this.partial.bytes.length;
      from += this.partial.fill(chunk, from, isHeld ? Math.max(BLOCK_BYTES, this.#frameEnd) : BLOCK_BYTES);
      this.#findFrames();
      if (this.partial.size < BLOCK_BYTES) continue;
      const isTooLong = this.#frameEnd > this.partial.bytes.length;
      if (this.#wholeEnd === this.partial.size || (isTooLong && this.#wholeEnd > 0)) {
        blocks.push(...this.flush());
      } else if (isTooLong) {
        this.partial.grow(this.#frameEnd);
      }
    }
    if (this.#isBroken) blocks.push(...this.flush());
    return blocks;
  }

  flush(): Block[] {
    if (this.#wholeEnd === 0) return [];
    const block = this.partial.cut(this.#wholeEnd);
    // After a broken header #frameEnd is still before the cut.
    this.#frameEnd = Math.max(0, this.#frameEnd - this.#wholeEnd);
    this.#wholeEnd = 0;
    return [block];
  }

  end(): Block[] {
    const blocks = this.flush();
    if (this.partial.size > 0 && !this.#isBroken) blocks.push(this.partial.cut(this.partial.size));
    return blocks;
  }

  #findFrames(): void {
    const { bytes, size } = this.partial;
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
