// One /bulk body on its way: chunks in, blocks through the kernel or the pool, answers out in the order of the rows.
//
//   peer ─► [gunzip] ─► BulkReader ─► blocks ─► kernel or pool ─► in order ─► [gzip] ─► BulkOutlet ─► peer
//
// Each part holds a bounded number of blocks. When one is full, the parts before it stop, and at last the reading of
// this body; nobody else's. Whatever goes wrong before the first byte of the answer is an ordinary error answer; after
// it the connection ends without the final chunk, so that no part of an answer passes for the whole.
import { type Block, giveBackBlock } from '../wire/block-buffers.js';
import { BulkReader } from '../wire/bulk-reader.js';
import { ByteSink } from '../wire/byte-sink.js';
import { convertBlock } from '../wire/convert.js';
import { BulkInputError, type ConvertedBlock } from '../wire/job.js';
import { type BulkAsk, CONTENT_TYPES } from './bulk-formats.js';
import { GzipBodyError, gunzipStage, gzipStage, type Stage } from './bulk-gzip.js';
import { BulkOutlet } from './bulk-outlet.js';
import type { BulkRoom } from './bulk-room.js';
import type { Exchange } from './exchange.js';
import { inlineBlockBytes } from './inline.js';

/**
 * Bytes of one body's blocks that may be at work at once, and whose answers may therefore wait for their reader: enough
 * for a block on each of a few cores. One block, a frame of 1.3 MB at most, is always allowed.
 */
const AT_WORK_BYTES = 1024 * 1024;

/** Answers to blocks of this size and more are worth a buffer that goes round. */
const ROOMY_BLOCK_BYTES = 16 * 1024;

/**
 * A body that comes in one piece of at most this many bytes is answered whole, before the binary looks at the next
 * request: had it to close the connection because of a pending answer, those in its cork would be lost.
 */
const WHOLE_BODY_BYTES = 8 * 1024;

const VARY = '\r\nVary: Accept, Accept-Encoding';

/** For what is answered in this thread; nothing stays in it from one block to the next. */
const sink = new ByteSink();

interface Slot {
  readonly blockBytes: number;
  answer: ConvertedBlock | undefined;
}

export class BulkFlow {
  readonly #x: Exchange;
  readonly #room: BulkRoom;
  readonly #ask: BulkAsk;
  readonly #reader: BulkReader;
  readonly #gunzip: Stage | undefined;
  #gzip: Stage | undefined;
  #gzipIsFull = false;
  #outlet: BulkOutlet | undefined;
  /** The answer so far, where it goes out whole; none of it is given back before. */
  #whole: Uint8Array[] | undefined;

  /** Blocks that wait for the pool. */
  #blocks: Block[] = [];
  /** Blocks at work, in the order of the body. */
  #slots: Slot[] = [];
  #isWaitingForPool = false;
  /** The last chunk of the body is here; of the unpacked body if it is packed. */
  #bodyEnded = false;
  #inputEnded = false;
  #paused = false;
  /** Everything is handed over; the outlet finishes on its own. */
  #ended = false;
  #over = false;
  #lastChunkMs = performance.now();

  constructor(x: Exchange, ask: BulkAsk, room: BulkRoom) {
    this.#x = x;
    this.#ask = ask;
    this.#room = room;
    this.#reader = new BulkReader(ask.request);
    x.onGone = () => this.#close();
    if (ask.gzipIn) {
      const gunzip = gunzipStage({
        data: (bytes) => this.#guard(() => this.#take(bytes)),
        end: () => this.#guard(() => this.#endInput()),
        failed: (error) => this.#fail(error),
        room: () => this.#over || x.resume(),
      });
      this.#gunzip = gunzip;
      x.streamBody((chunk, isLast) => {
        this.#noteChunk(isLast);
        // The chunk is the socket's again when this returns.
        if (chunk.length > 0 && !gunzip.write(chunk.slice())) x.pause();
        if (isLast) gunzip.end();
      });
    } else {
      let isFirst = true;
      x.streamBody((chunk, isLast) =>
        this.#guard(() => {
          this.#noteChunk(isLast);
          if (isFirst && isLast && chunk.length <= WHOLE_BODY_BYTES && !ask.gzipOut) this.#whole = [];
          isFirst = false;
          this.#take(chunk);
          if (isLast) this.#endInput();
        }),
      );
    }
  }

  /** Called now and then. */
  sweep(nowMs: number): void {
    if (this.#over) return;
    if (this.#x.state === 'over') {
      this.#close();
      return;
    }
    const { times } = this.#room;
    this.#guard(() => {
      if (!this.#bodyEnded && this.#outlet?.sweep(nowMs, times)) this.#room.spooling(this.#x);
    });
    // Until the body is complete the transport's own clock watches the reading, unless we stopped it.
    const lastMs = Math.max(this.#lastChunkMs, this.#outlet?.progressMs ?? 0);
    const isOurs = this.#isWaitingForPool || this.#slots.some((slot) => slot.answer === undefined);
    if ((this.#bodyEnded || this.#paused) && !isOurs && nowMs - lastMs >= times.noProgressMs) {
      this.#fail(new Error('the peer takes no more of its answer'));
    }
  }

  #noteChunk(isLast: boolean): void {
    this.#lastChunkMs = performance.now();
    if (isLast) this.#bodyEnded = true;
  }

  #take(chunk: Uint8Array): void {
    this.#blocks.push(...this.#reader.push(chunk));
    this.#pump();
  }

  #endInput(): void {
    this.#inputEnded = true;
    this.#blocks.push(...this.#reader.end());
    this.#pump();
  }

  #pump(): void {
    const { kernel, pool } = this.#room;
    const { job } = this.#reader;
    this.#deliver();
    // A body that comes slowly is answered as it comes; one that comes fast, in full blocks.
    if (this.#blocks.length === 0 && this.#slots.length === 0) this.#blocks.push(...this.#reader.flush());
    while (this.#blocks.length > 0 && job !== undefined && !this.#isFull && !this.#isWaitingForPool) {
      const block = this.#blocks[0]!;
      if (this.#slots.length === 0 && block.length <= inlineBlockBytes(job.input)) {
        this.#blocks.shift();
        const room = block.length > ROOMY_BLOCK_BYTES ? pool.takeRoom() : undefined;
        this.#slots.push({ blockBytes: block.length, answer: convertBlock(kernel, job, block, room, sink) });
        giveBackBlock(block);
      } else if (!this.#mayWorkOn(block)) {
        break;
      } else if (!pool.hasRoomForBody) {
        this.#isWaitingForPool = true;
        pool.room().then(
          () => {
            this.#isWaitingForPool = false;
            this.#guard(() => this.#pump());
          },
          (error: Error) => this.#fail(error),
        );
      } else {
        this.#blocks.shift();
        const slot: Slot = { blockBytes: block.length, answer: undefined };
        this.#slots.push(slot);
        pool.convert(job, block).then(
          (answer) => {
            slot.answer = answer;
            this.#guard(() => this.#pump());
          },
          (error: Error) => this.#fail(error),
        );
        // The pool has copied it.
        giveBackBlock(block);
      }
      this.#deliver();
    }
    if (this.#inputEnded && this.#blocks.length === 0 && this.#slots.length === 0) this.#end();
    else this.#setPaused(!this.#inputEnded && (this.#blocks.length > 0 || this.#isFull));
  }

  #mayWorkOn(block: Uint8Array): boolean {
    const atWorkBytes = this.#slots.reduce((sum, slot) => sum + slot.blockBytes, 0);
    return this.#slots.length === 0 || atWorkBytes + block.length <= AT_WORK_BYTES;
  }

  /** Hands over what is answered, as far as nothing before it is still at work. */
  #deliver(): void {
    while (this.#slots[0]?.answer !== undefined && !this.#isFull) {
      const { bytes } = this.#slots.shift()!.answer!;
      this.#write(bytes, () => this.#room.pool.giveBack(bytes));
    }
  }

  get #isFull(): boolean {
    return this.#gzipIsFull || this.#outlet?.isFull === true;
  }

  #write(bytes: Uint8Array, taken?: () => void): void {
    // Blank lines have no answer: as long as there is none, the request can still be refused.
    if (bytes.length === 0) return;
    if (this.#whole !== undefined) {
      this.#whole.push(bytes);
      return;
    }
    this.#begin();
    if (this.#gzip === undefined) this.#outlet!.write(bytes, taken);
    else if (!this.#gzip.write(bytes, taken)) this.#gzipIsFull = true;
  }

  /** Status line and head of the answer: from here on nothing can be taken back. */
  #begin(): void {
    if (this.#outlet !== undefined) return;
    const { request, gzipOut } = this.#ask;
    const lines = gzipOut ? `\r\nContent-Encoding: gzip${VARY}` : VARY;
    const answer = this.#x.startChunked(200, CONTENT_TYPES[request.output], lines);
    // Something else was answered meanwhile: the deadline of a body that waited too long for the pool.
    if (answer === undefined) throw new Error('the answer came too late');
    const outlet = new BulkOutlet(
      answer,
      this.#room.spools,
      () => {
        this.#gzip?.resume();
        this.#guard(() => this.#pump());
      },
      (error) => this.#fail(error),
    );
    this.#outlet = outlet;
    if (gzipOut) {
      const gzip = gzipStage({
        data: (bytes) =>
          this.#guard(() => {
            outlet.write(bytes);
            if (outlet.isFull) gzip.pause();
          }),
        end: () => outlet.end(),
        failed: (error) => this.#fail(error),
        room: () => {
          this.#gzipIsFull = false;
          this.#guard(() => this.#pump());
        },
      });
      this.#gzip = gzip;
    }
    this.#write(this.#reader.head);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#whole !== undefined) {
      const body = Buffer.concat([this.#reader.head, ...this.#whole]);
      this.#x.send(200, CONTENT_TYPES[this.#ask.request.output], body, VARY);
      this.#close();
      return;
    }
    this.#begin();
    if (this.#gzip === undefined) this.#outlet!.end();
    else this.#gzip.end();
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#paused || this.#over) return;
    this.#paused = paused;
    const source = this.#gunzip ?? this.#x;
    if (paused) source.pause();
    else source.resume();
  }

  /** Lets go of everything. */
  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#gunzip?.close();
    this.#gzip?.close();
    this.#outlet?.close();
    this.#blocks = [];
    this.#slots = [];
    this.#room.over(this);
  }

  #guard(work: () => void): void {
    if (this.#over) return;
    try {
      work();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    if (this.#over) return;
    const isTheirs = error instanceof BulkInputError || error instanceof GzipBodyError;
    this.#close();
    if (isTheirs && this.#outlet === undefined) {
      this.#room.refuse(this.#x, error.message);
    } else {
      this.#room.cutOff(this.#x, error);
    }
  }
}
