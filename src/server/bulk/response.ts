// The HTTP answer to one /bulk body, in one of three shapes: in one piece, of known length, or chunked. Its head is
// sent with its first byte: until then the body can still be refused.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import type { KernelSink } from '../../hexcodes/wire/bytes/kernel-sink.js';
import type { Pool } from '../../pool/pool.js';
import type { Exchange } from '../http/exchange.js';
import type { Logger } from '../observe/log.js';
import type { StreamedAnswer } from '../transport/answers/streamed-answer.js';
import { gzipStage, type Stage } from './gzip.js';
import { BulkOutlet, type BulkTimes } from './outlet.js';
import type { ParsedBulkRequest } from './request.js';
import type { Spools } from './spool.js';

export interface BulkContext {
  readonly kernel: Kernel;
  readonly pool: Pool;
  /** Holds the answers of blocks that this thread converts; empty between two turns of the event loop. */
  readonly sink: KernelSink;
  /** Buffers for the blocks of all bodies. */
  readonly buffers: BlockBuffers;
  readonly spools: Spools;
  readonly times: BulkTimes;
  readonly logger: Logger;
}

const VARY = '\r\nVary: Accept, Accept-Encoding';

export interface ResponseEvents {
  /** The bytes before the first row, asked for when the answer begins. */
  head(): Uint8Array;
  /** The answer takes bytes again after `isFull`. */
  drain(): void;
}

export class BulkResponse {
  readonly #x: Exchange;
  readonly #request: ParsedBulkRequest;
  readonly #context: BulkContext;
  readonly #events: ResponseEvents;
  #outlet: BulkOutlet | undefined;
  #gzip: Stage | undefined;
  #isGzipFull = false;
  #sizeBytes: number | undefined;
  /** Pieces of an answer that is sent in one piece. */
  #pieces: Uint8Array[] | undefined;
  #hasEnded = false;

  constructor(x: Exchange, request: ParsedBulkRequest, context: BulkContext, events: ResponseEvents) {
    this.#x = x;
    this.#request = request;
    this.#context = context;
    this.#events = events;
  }

  get isFull(): boolean {
    return this.#isGzipFull || this.#outlet?.isFull === true;
  }

  /** Something of the answer has left this class. */
  get hasBegun(): boolean {
    return this.#outlet !== undefined;
  }

  /** The answer has a Content-Length. */
  get isSized(): boolean {
    return this.#sizeBytes !== undefined;
  }

  /** The size would still be of use: nothing is written yet, and nothing will be compressed or held. */
  get isSizeable(): boolean {
    const { gzipOut, isHeld } = this.#request;
    const hasBegun = this.isSized || this.#outlet !== undefined || this.#pieces !== undefined;
    return !hasBegun && !gzipOut && !isHeld;
  }

  /** Bytes of memory that the answer holds. */
  get heldBytes(): number {
    return (this.#gzip?.waitingBytes ?? 0) + (this.#outlet?.heldBytes ?? 0);
  }

  /** When the peer last read something, by performance.now(); 0 if the answer has not begun. */
  get progressMs(): number {
    return this.#outlet?.progressMs ?? 0;
  }

  /** Makes it an answer in one piece, sent by `end`. */
  collect(): void {
    this.#pieces = [];
  }

  /** Sends the head before there are rows, unless it is sent. The whole body has come. */
  begin(): void {
    const pieces = this.#pieces ?? [];
    this.#pieces = undefined;
    const outlet = this.#begin();
    for (const piece of pieces) this.write(piece);
    outlet.begin();
  }

  /** Makes it an answer of known length, if the length is known. */
  setSize(sizeBytes: number | undefined): void {
    this.#sizeBytes = sizeBytes;
  }

  /** Takes bytes, which must not change until `taken` is called. */
  write(bytes: Uint8Array, taken?: () => void): void {
    // Blank lines have no answer, so the first bytes may be none.
    if (bytes.length === 0) return;
    if (this.#pieces !== undefined) {
      this.#pieces.push(bytes);
      return;
    }
    const outlet = this.#begin();
    if (this.#gzip === undefined) outlet.write(bytes, taken);
    else if (!this.#gzip.write(bytes, taken)) this.#isGzipFull = true;
  }

  /** Takes bytes that are valid during this call only; `isLast`: the answer ends with them. */
  writeNow(bytes: Uint8Array, isLast: boolean): void {
    if (bytes.length === 0) return;
    let sentBytes = 0;
    if (this.#pieces === undefined && !this.#request.gzipOut) {
      sentBytes = this.#begin().writeNow(bytes, isLast);
      if (sentBytes === bytes.length) return;
    }
    const { pool } = this.#context;
    const rest = pool.copyOf(bytes.subarray(sentBytes));
    this.write(rest, () => pool.giveBack(rest));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#pieces !== undefined) {
      const body = Buffer.concat([this.#events.head(), ...this.#pieces]);
      this.#x.send(200, this.#answerType, body, VARY + this.#x.notes.hint);
      return;
    }
    const outlet = this.#begin();
    if (this.#gzip === undefined) outlet.end();
    else this.#gzip.end();
  }

  /** Called periodically: see BulkOutlet. */
  sweep(nowMs: number, mayBegin: boolean): void {
    if (this.#outlet?.sweep(nowMs, mayBegin)) {
      this.#context.logger.info(
        { request_id: this.#x.head.requestId, route: this.#x.head.pattern },
        'an answer is spooled',
      );
    }
  }

  close(): void {
    this.#gzip?.close();
    this.#outlet?.close();
  }

  get #answerType(): string {
    const { conversion } = this.#request;
    if (conversion === undefined) throw new Error('the format of the answer is not known yet');
    return conversion.answerType;
  }

  /** Starts the answer, unless it is: its head and what comes before the first row. */
  #begin(): BulkOutlet {
    if (this.#outlet !== undefined) return this.#outlet;
    const { spools, times } = this.#context;
    const { gzipOut, isHeld } = this.#request;
    const outlet = new BulkOutlet(this.#x, {
      spools,
      times,
      isHeld,
      start: (sizeBytes) => this.#start(sizeBytes ?? this.#sizeBytes),
      onDrain: () => {
        this.#gzip?.resume();
        this.#events.drain();
      },
    });
    this.#outlet = outlet;
    if (gzipOut) this.#gzip = this.#gzipInto(outlet);
    this.write(this.#events.head());
    return outlet;
  }

  /** An answer without a byte has no size: it is sent in chunks. */
  #start(sizeBytes = 0): StreamedAnswer {
    const { gzipIn, gzipOut, isHeld } = this.#request;
    const type = this.#answerType;
    const lines = (gzipOut ? `\r\nContent-Encoding: gzip${VARY}` : VARY) + this.#x.notes.hint;
    // Only of a body of known length, whose rows do not come from a disk, the end is known before its last rows are
    // answered.
    const mayEndLate = gzipIn || gzipOut || isHeld || this.#x.head.bodySizeBytes < 0;
    const answer =
      sizeBytes === 0 || this.#x.head.bodySizeBytes < 0
        ? this.#x.startChunked(200, type, lines, mayEndLate)
        : this.#x.startSized(200, type, lines, sizeBytes);
    if (answer === undefined) throw new Error('the request is answered already');
    return answer;
  }

  #gzipInto(outlet: BulkOutlet): Stage {
    const gzip = gzipStage(this.#x, {
      data: (bytes) => {
        outlet.write(bytes);
        if (outlet.isFull) gzip.pause();
      },
      end: () => outlet.end(),
      drain: () => {
        this.#isGzipFull = false;
        this.#events.drain();
      },
    });
    return gzip;
  }
}
