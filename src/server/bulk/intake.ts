// The input of one /bulk body: chunks from the socket, decompressed if they are gzip, cut into blocks that wait here
// for the flow. A chunk is cut in the callback that brings it, because uWS takes its memory back afterwards.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { BulkReader } from '../../hexcodes/wire/bulk/reader.js';
import type { Block, BlockBuffers } from '../../hexcodes/wire/bulk/splitters.js';
import type { BulkJob } from '../../hexcodes/wire/job.js';
import type { Exchange } from '../http/exchange.js';
import { gunzipStage, type Stage } from './gzip.js';
import { FormReader } from './multipart.js';
import type { ParsedBulkRequest } from './request.js';

/**
 * Waiting bytes at which the reading stops. Bytes that the system has already received still come (transport/README
 * U28).
 */
const MAX_WAITING_BYTES = 1024 * 1024;

const NO_BYTES = new Uint8Array(0);

export class BulkIntake {
  /** Undefined until the file of a form has begun. */
  #reader: BulkReader | undefined;
  /** The reader of a body that is a form. */
  readonly #form: FormReader | undefined;
  readonly #buffers: BlockBuffers;
  readonly #gunzip: Stage | undefined;
  /** Blocks that wait, in the order of the body. */
  blocks: Block[] = [];
  #waitingBytes = 0;
  /** Bytes of the buffers that the waiting blocks lie in. */
  #bufferBytes = 0;
  /** The last chunk has been received; if it is gzip, it may not be decompressed yet. */
  isReceived = false;
  /** No further block will come. */
  hasEnded = false;
  /** Size of a body that came in one chunk, without gzip. */
  onePieceBytes: number | undefined;
  /** Why the body cannot be read beyond the waiting blocks; undefined if it can. */
  error: unknown;
  isStopped = false;
  #isClosed = false;
  /** When the last chunk was received, by performance.now(). */
  lastChunkMs = performance.now();

  /** @param onInput called when there is more to convert and when the body ends; the exchange handles its errors */
  constructor(
    private readonly x: Exchange,
    parsed: ParsedBulkRequest,
    { buffers, kernel }: { readonly buffers: BlockBuffers; readonly kernel: Kernel },
    private readonly onInput: () => void,
  ) {
    const { conversion, form, gzipIn } = parsed;
    if (conversion !== undefined) this.#reader = new BulkReader(conversion.request, buffers, kernel);
    if (form !== undefined) {
      this.#form = new FormReader(form.boundary, (head) => {
        parsed.conversion = form.open(head);
        this.#reader = new BulkReader(parsed.conversion.request, buffers, kernel);
      });
    }
    this.#buffers = buffers;
    if (gzipIn) this.#gunzip = this.#readPacked();
    else this.#readPlain();
  }

  /** The job of every block; undefined until the body determines it, for CSV by its header row. */
  get job(): BulkJob | undefined {
    return this.#reader?.job;
  }

  /** The beginning of the answer, before the first row. */
  get head(): Uint8Array {
    return this.#reader?.head ?? NO_BYTES;
  }

  /** Bytes of memory that the input holds. */
  get heldBytes(): number {
    const readBytes = (this.#reader?.heldBytes ?? 0) + (this.#form?.heldBytes ?? 0);
    return this.#bufferBytes + readBytes + (this.#gunzip?.waitingBytes ?? 0);
  }

  /** Removes the first block, which the caller returns to the buffers. */
  shift(): Block {
    const block = this.blocks.shift();
    if (block === undefined) throw new Error('no block waits');
    this.#waitingBytes -= block.length;
    this.#bufferBytes -= block.buffer.byteLength;
    return block;
  }

  /** Keeps the part of the first block from `restAt` on: the rows before are answered. */
  keepRest(restAt: number): void {
    this.blocks[0] = this.blocks[0]!.subarray(restAt);
    this.#waitingBytes -= restAt;
  }

  /** Makes a block of the rows of a partial block. */
  flush(): void {
    this.#add(this.#reader?.flush() ?? []);
  }

  /** Stops or resumes the reading of the body. */
  setStopped(isStopped: boolean): void {
    if (isStopped === this.isStopped || this.#isClosed) return;
    this.isStopped = isStopped;
    const source = this.#gunzip ?? this.x.body;
    if (isStopped) source.pause();
    else source.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#gunzip?.close();
    for (const block of this.blocks.splice(0)) this.#buffers.giveBack(block);
    this.#waitingBytes = 0;
    this.#bufferBytes = 0;
  }

  #readPlain(): void {
    let isFirst = true;
    this.x.body.stream((chunk, isLast) => {
      this.#noteChunk(isLast);
      this.#take(chunk);
      if (isLast) {
        if (isFirst) this.onePieceBytes = chunk.length;
        this.#end();
      }
      isFirst = false;
      this.onInput();
    });
  }

  #readPacked(): Stage {
    const gunzip = gunzipStage(this.x, {
      data: (bytes) => {
        this.#take(bytes);
        this.onInput();
      },
      end: () => {
        this.#end();
        this.onInput();
      },
      drain: () => this.x.body.resume(),
    });
    this.x.body.stream((chunk, isLast) => {
      this.#noteChunk(isLast);
      // A copy, because the chunk is valid during this call only.
      if (chunk.length > 0 && !gunzip.write(chunk.slice())) this.x.body.pause();
      if (isLast) gunzip.end();
    });
    return gunzip;
  }

  #noteChunk(isLast: boolean): void {
    this.lastChunkMs = performance.now();
    if (isLast) this.isReceived = true;
  }

  #take(chunk: Uint8Array): void {
    this.#read(() => (this.#form === undefined ? this.#push(chunk) : this.#form.push(chunk, this.#push)));
    if (this.#waitingBytes >= MAX_WAITING_BYTES) this.setStopped(true);
  }

  readonly #push = (bytes: Uint8Array): void => {
    if (this.#reader !== undefined) this.#add(this.#reader.push(bytes));
  };

  #end(): void {
    this.#read(() => {
      this.#form?.end();
      if (this.#reader !== undefined) this.#add(this.#reader.end());
    });
    this.hasEnded = true;
  }

  /** An error is kept until the rows before it are answered. */
  #read(read: () => void): void {
    if (this.error !== undefined) return;
    try {
      read();
    } catch (error) {
      this.error = error;
    }
  }

  #add(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.blocks.push(block);
      this.#waitingBytes += block.length;
      this.#bufferBytes += block.buffer.byteLength;
    }
  }
}
