// Reads a bulk body as its chunks arrive: finds the job, which for CSV depends on the header row, and cuts the rest
// into blocks for convertBlock.

import { isUtf8 } from 'node:buffer';
import { extrasOf } from '../../extras.js';
import type { Kernel } from '../../kernel/kernel.js';
import { BLOCK_BYTES, BulkInputError, type BulkJob, type BulkRequest, type Delimiter } from '../job.js';
import {
  delimiterOf,
  HeaderCollector,
  headerTooLong,
  headWithoutInput,
  MAX_HEADER_BYTES,
  openCsv,
  sepLineOf,
} from './csv-header.js';
import {
  type Block,
  BlockBuffers,
  type BlockSplitter,
  CsvSplitter,
  FrameSplitter,
  firstRowEnd,
  isText,
  LineSplitter,
} from './splitters.js';

/** The error for a block that is not text. @param before bytes of the body before the block */
function notText(block: Uint8Array, before: number): BulkInputError {
  const nul = block.indexOf(0);
  const wrong = firstWrong(nul < 0 ? block : block.subarray(0, nul));
  if (wrong < 0)
    return new BulkInputError(`Byte ${before + nul + 1} of the body is NUL: CSV is text in UTF-8`);
  return new BulkInputError(
    `Byte ${before + wrong + 1} of the body is not UTF-8, in which CSV must be written`,
  );
}

/** The offset of the first byte that belongs to no UTF-8 character; -1 if all bytes do. */
function firstWrong(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1;
  let [good, bad] = [0, bytes.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginning(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  // Goes back at most three bytes to the start of the character that is not continued correctly.
  while (!isUtf8(bytes.subarray(0, good))) good--;
  return good;
}

/** Whether bytes are UTF-8, except for an incomplete last character. */
function isBeginning(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const NO_BYTES = new Uint8Array(0);

export class BulkReader {
  /** The job of every block. Undefined for CSV until the header row has come. */
  job: BulkJob | undefined;
  /** The beginning of the answer, once the job is known: the header row of CSV, empty for other formats. */
  head: Uint8Array = NO_BYTES;
  readonly #request: BulkRequest;
  readonly #buffers: BlockBuffers;
  readonly #kernel: Kernel | undefined;
  /** Undefined for CSV until the header row has come and shows the delimiter. */
  #splitter: BlockSplitter | undefined;
  #delimiter: Delimiter | undefined;
  /** The beginning of a body of CSV, until it shows the delimiter. */
  #opening: HeaderCollector | undefined;
  /** Bytes of CSV before the next block. */
  #checkedBytes = 0;
  #error: BulkInputError | undefined;

  /**
   * @param buffers of the blocks; to be shared with other readers by callers that return blocks
   * @param kernel finds the ends of rows with quotes, which takes four times as long without it
   */
  constructor(request: BulkRequest, buffers = new BlockBuffers(), kernel?: Kernel) {
    this.#kernel = kernel;
    this.#request = request;
    this.#buffers = buffers;
    if (request.input === 'csv') {
      if (request.delimiter === undefined) this.#opening = new HeaderCollector();
      else this.#startCsv(request.delimiter);
      return;
    }
    this.#splitter = request.input === 'ndjson' ? new LineSplitter(buffers) : new FrameSplitter(buffers);
    this.job = this.#jobWith({});
    if (request.output === 'csv') this.head = headWithoutInput(request);
  }

  /**
   * Copies a chunk, whose memory may then be reused.
   * @returns the blocks that are full, in order
   * @throws BulkInputError where the rest of the body cannot be read
   */
  push(chunk: Uint8Array): Block[] {
    this.#refuse();
    if (this.#opening !== undefined) {
      const isWhole = this.#opening.push(chunk);
      if (this.#opening.row.length > MAX_HEADER_BYTES) throw headerTooLong();
      return isWhole || this.#opening.bytes.length > BLOCK_BYTES ? this.#pushOpening(this.#opening) : [];
    }
    const splitter = this.#splitter!;
    const blocks = this.#texts(splitter.push(chunk));
    if (this.job !== undefined) return blocks;
    // A header row determines the job before its block is full.
    return this.#open(blocks.length > 0 ? blocks : this.#texts(splitter.flush()), false);
  }

  /**
   * Supplies the header row of a body that has none: its bytes are not counted where an error names a byte of the
   * body.
   */
  pushHeader(row: Uint8Array): Block[] {
    this.#checkedBytes -= row.length;
    return this.push(row);
  }

  /** Bytes of memory that the reader holds in a partial block. */
  get heldBytes(): number {
    return (this.#splitter?.heldBytes ?? 0) + (this.#opening?.bytes.length ?? 0);
  }

  /** The whole rows of the partial block, for a body that arrives slowly. */
  flush(): Block[] {
    if (this.job === undefined || this.#splitter === undefined || this.#error !== undefined) return [];
    return this.#texts(this.#splitter.flush());
  }

  /**
   * The rest, after the last chunk.
   * @throws BulkInputError where the body has no header row
   */
  end(): Block[] {
    this.#refuse();
    const before = this.#opening === undefined ? [] : this.#pushOpening(this.#opening);
    const blocks = this.#texts(this.#splitter!.end());
    if (this.job !== undefined) return [...before, ...blocks];
    const opened = this.#open(blocks, true);
    if (this.job === undefined) throw new BulkInputError('The body has no header row');
    return [...before, ...opened];
  }

  /** Continues with the beginning of a body, once it shows the delimiter. */
  #pushOpening(opening: HeaderCollector): Block[] {
    this.#opening = undefined;
    const sepLine = sepLineOf(opening.row);
    this.#startCsv(sepLine?.delimiter ?? delimiterOf(opening.row));
    return this.push(opening.bytes);
  }

  #startCsv(delimiter: Delimiter): void {
    this.#delimiter = delimiter;
    this.#splitter = new CsvSplitter(delimiter.charCodeAt(0), this.#buffers, this.#kernel);
  }

  #refuse(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /**
   * The blocks before the first block of CSV that is not text. The next call then throws, or this one if there are
   * none.
   */
  #texts(blocks: Block[]): Block[] {
    if (this.#request.input !== 'csv') return blocks;
    for (const [i, block] of blocks.entries()) {
      if (isText(block)) {
        this.#checkedBytes += block.length;
        continue;
      }
      this.#error = notText(block, this.#checkedBytes);
      if (i === 0) throw this.#error;
      return blocks.slice(0, i);
    }
    return blocks;
  }

  /** Removes blank lines and the header row from the beginning of the first blocks. */
  #open(blocks: readonly Block[], isLast: boolean): Block[] {
    const opened: Block[] = [];
    for (const block of blocks) {
      const rest = this.job === undefined ? this.#withoutHeader(block, isLast) : block;
      if (rest.length > 0) opened.push(rest);
    }
    return opened;
  }

  #withoutHeader(block: Block, isLast: boolean): Block {
    const afterBlank = block.subarray(headerStart(block));
    const text = afterBlank.subarray(sepLineOf(afterBlank)?.sizeBytes ?? 0);
    const delimiter = this.#delimiter ?? ',';
    const rowEnd = firstRowEnd(text, delimiter.charCodeAt(0));
    const headerEnd = rowEnd < 0 && isLast ? text.length : rowEnd;
    if (headerEnd <= 0) return text.subarray(text.length);
    const { shape, head } = openCsv(text.subarray(0, headerEnd), this.#request, delimiter);
    this.job = this.#jobWith({ csv: shape });
    if (this.#request.output === 'csv') this.head = head;
    return text.subarray(headerEnd);
  }

  #jobWith(csv: Pick<BulkJob, 'csv'>): BulkJob {
    const { operation, input, output, resolution } = this.#request;
    const delimiter = this.#delimiter ?? this.#request.delimiter ?? ',';
    return {
      operation,
      input,
      output,
      resolution,
      extras: extrasOf(this.#request),
      delimiter: delimiter.charCodeAt(0),
      ...csv,
    };
  }
}

/** Where the header row begins: after blank lines, and after a byte order mark before them. */
function headerStart(block: Uint8Array): number {
  let at = 0;
  let p = block[0] === 0xef && block[1] === 0xbb && block[2] === 0xbf ? 3 : 0;
  for (;;) {
    if (block[p] === 10) p++;
    else if (block[p] === 13 && block[p + 1] === 10) p += 2;
    else return p >= block.length ? block.length : at;
    at = p;
  }
}
