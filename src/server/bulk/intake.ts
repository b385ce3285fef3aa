// The way in of one /bulk body: chunks, unpacked if they are packed, cut into blocks that wait here until the flow takes
// them. Chunks are cut in the callback that brings them, as the socket's memory is the socket's again when it returns.
import { type Block, giveBackBlock } from '../../wire/bulk/block-buffers.js';
import { BulkReader } from '../../wire/bulk/reader.js';
import type { BulkJob } from '../../wire/job.js';
import type { Exchange } from '../transport/exchange.js';
import { gunzipStage, type Stage } from './gzip.js';
import type { BulkAsk } from './request.js';

/**
 * Reading stops when so many bytes wait for their turn; what the kernel of the system had received already still comes.
 */
const MOST_WAITING_BYTES = 1024 * 1024;

export interface IntakeEvents {
  /** There is more to convert, or the body has ended; `onePieceBytes`: it came in one piece of so many bytes. */
  came(onePieceBytes: number | undefined): void;
  /** What is packed cannot be unpacked. */
  failed(error: Error): void;
  /** Runs callbacks, whose errors are the flow's. */
  guard(work: () => void): void;
}

export class BulkIntake {
  readonly #x: Exchange;
  readonly #reader: BulkReader;
  readonly #gunzip: Stage | undefined;
  readonly #events: IntakeEvents;
  #blocks: Block[] = [];
  #waitingBytes = 0;
  #isBodyHere = false;
  #hasEnded = false;
  #error: Error | undefined;
  #isStopped = false;
  #closed = false;
  #lastChunkMs = performance.now();

  constructor(x: Exchange, ask: BulkAsk, events: IntakeEvents) {
    this.#x = x;
    this.#reader = new BulkReader(ask.request);
    this.#events = events;
    if (ask.gzipIn) {
      this.#gunzip = this.#readPacked();
    } else {
      let isFirst = true;
      x.streamBody((chunk, isLast) =>
        events.guard(() => {
          this.#noteChunk(isLast);
          this.#take(chunk);
          if (isLast) this.#end();
          events.came(isFirst && isLast ? chunk.length : undefined);
          isFirst = false;
        }),
      );
    }
  }

  /** How blocks are converted, as soon as it is known. */
  get job(): BulkJob | undefined {
    return this.#reader.job;
  }

  /** What the answer begins with. */
  get head(): Uint8Array {
    return this.#reader.head;
  }

  /** Blocks that wait, in the order of the body. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  /** The last chunk has come, as it was sent. */
  get isBodyHere(): boolean {
    return this.#isBodyHere;
  }

  /** No block comes any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What is wrong with the body, behind the blocks that wait. */
  get error(): Error | undefined {
    return this.#error;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** When the peer last sent something, by performance.now(). */
  get lastChunkMs(): number {
    return this.#lastChunkMs;
  }

  /** Takes the first block off; its buffer is for `giveBackBlock`. */
  shift(): Block {
    const block = this.#blocks.shift();
    if (block === undefined) throw new Error('no block waits');
    this.#waitingBytes -= block.length;
    return block;
  }

  /** Makes a block of what does not fill one yet. */
  flush(): void {
    this.#add(this.#reader.flush());
  }

  /** Stops the reading and lets it go on. */
  setStopped(stopped: boolean): void {
    if (stopped === this.#isStopped || this.#closed) return;
    this.#isStopped = stopped;
    const source = this.#gunzip ?? this.#x;
    if (stopped) source.pause();
    else source.resume();
  }

  close(): void {
    this.#closed = true;
    this.#gunzip?.close();
    for (const block of this.#blocks.splice(0)) giveBackBlock(block);
    this.#waitingBytes = 0;
  }

  #readPacked(): Stage {
    const { came, failed, guard } = this.#events;
    const gunzip = gunzipStage({
      data: (bytes) =>
        guard(() => {
          this.#take(bytes);
          came(undefined);
        }),
      end: () =>
        guard(() => {
          this.#end();
          came(undefined);
        }),
      failed,
      room: () => this.#closed || this.#x.resume(),
    });
    this.#x.streamBody((chunk, isLast) => {
      this.#noteChunk(isLast);
      // The chunk is the socket's again when this returns.
      if (chunk.length > 0 && !gunzip.write(chunk.slice())) this.#x.pause();
      if (isLast) gunzip.end();
    });
    return gunzip;
  }

  #noteChunk(isLast: boolean): void {
    this.#lastChunkMs = performance.now();
    if (isLast) this.#isBodyHere = true;
  }

  #take(chunk: Uint8Array): void {
    this.#read(() => this.#reader.push(chunk));
    if (this.#waitingBytes >= MOST_WAITING_BYTES) this.setStopped(true);
  }

  #end(): void {
    this.#read(() => this.#reader.end());
    this.#hasEnded = true;
  }

  #read(read: () => Block[]): void {
    if (this.#error !== undefined) return;
    try {
      this.#add(read());
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
    }
  }

  #add(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#blocks.push(block);
      this.#waitingBytes += block.length;
    }
  }
}
