// The way in of a bulk body: finds the job (for CSV in its header row) and cuts the body into blocks for convertBlock.

import { BulkInputError, type BulkJob, type BulkRequest } from '../job.js';
import type { Block } from './block-buffers.js';
import { headWithoutInput, openCsv } from './csv-header.js';
import { type BlockSplitter, CsvSplitter, FrameSplitter, firstRowEnd, LineSplitter } from './splitters.js';

const NO_BYTES = new Uint8Array(0);

export class BulkReader {
  /** How every block is converted; known from the start unless the input is CSV, else once its header row is there. */
  job: BulkJob | undefined;
  /** What the answer begins with, once the job is known: the header row of CSV, else nothing. */
  head: Uint8Array = NO_BYTES;
  readonly #request: BulkRequest;
  readonly #splitter: BlockSplitter;

  constructor(request: BulkRequest) {
    this.#request = request;
    const delimiter = (request.delimiter ?? ',').charCodeAt(0);
    if (request.input === 'csv') {
      this.#splitter = new CsvSplitter(delimiter);
      return;
    }
    this.#splitter = request.input === 'ndjson' ? new LineSplitter() : new FrameSplitter();
    this.job = this.#jobWith({});
    if (request.output === 'csv') this.head = headWithoutInput(request);
  }

  /**
   * Takes a chunk, which may be reused afterwards; the blocks that are full, each with its own buffer.
   * @throws BulkInputError if the body cannot be read on
   */
  push(chunk: Uint8Array): Block[] {
    const blocks = this.#splitter.push(chunk);
    if (this.job !== undefined) return blocks;
    // The header row need not wait for a block to fill.
    return this.#open(blocks.length > 0 ? blocks : this.#splitter.flush(), false);
  }

  /** The whole rows that wait for their block to fill: for a body that arrives slowly. */
  flush(): Block[] {
    return this.job === undefined ? [] : this.#splitter.flush();
  }

  /**
   * The rest, after the last chunk.
   * @throws BulkInputError if the body ended before a header row
   */
  end(): Block[] {
    const blocks = this.#splitter.end();
    if (this.job !== undefined) return blocks;
    const opened = this.#open(blocks, true);
    if (this.job === undefined) throw new BulkInputError('The body has no header row');
    return opened;
  }

  /** Takes blank lines and the header row off blocks of whole rows. */
  #open(blocks: readonly Block[], isLast: boolean): Block[] {
    const opened: Block[] = [];
    for (const block of blocks) {
      const rest = this.job === undefined ? this.#withoutHeader(block, isLast) : block;
      if (rest.length > 0) opened.push(rest);
    }
    return opened;
  }

  #withoutHeader(block: Block, isLast: boolean): Block {
    const text = block.subarray(headerStart(block));
    const rowEnd = firstRowEnd(text, (this.#request.delimiter ?? ',').charCodeAt(0));
    const headerEnd = rowEnd < 0 && isLast ? text.length : rowEnd;
    if (headerEnd <= 0) return text.subarray(text.length);
    const { shape, head } = openCsv(text.subarray(0, headerEnd), this.#request);
    this.job = this.#jobWith({ csv: shape });
    if (this.#request.output === 'csv') this.head = head;
    return text.subarray(headerEnd);
  }

  #jobWith(csv: Pick<BulkJob, 'csv'>): BulkJob {
    const { operation, input, output, resolution, delimiter = ',' } = this.#request;
    return { operation, input, output, resolution, delimiter: delimiter.charCodeAt(0), ...csv };
  }
}

/** Behind blank lines; a byte order mark before them is dropped with them. */
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
