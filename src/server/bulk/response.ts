// The HTTP answer to one /bulk body, in one of three shapes: in one piece, of known length, or chunked. Its head is
// sent with its first byte: until then the body can still be rejected. Its bytes go to the socket while the peer
// reads, and through a spool once the peer sends without reading for a while.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { BlockBuffers } from '../../hexcodes/wire/bulk/splitters.js';
import type { KernelSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import type { Pool } from '../../pool/pool.js';
import type { Exchange } from '../http/exchange.js';
import type { Logger } from '../observe/log.js';
import type { StreamedAnswer } from '../transport/answers/streamed-answer.js';
import { gzipStage, type Stage } from './gzip.js';
import type { ParsedBulkRequest } from './request.js';
import type { Spool, Spools } from './spool.js';

export interface BulkTimes {
  /** Time without a read after which the answer is spooled for a peer that still sends. */
  readonly spoolAfterMs: number;
  /** Time without a byte sent or read by the peer after which the connection is closed. */
  readonly noProgressMs: number;
}

export const BULK_TIMES: BulkTimes = { spoolAfterMs: 2000, noProgressMs: 60_000 };

/** Bytes waiting for the disk at which the flow stops. */
const MAX_SPOOL_WAITING_BYTES = 4 * 1024 * 1024;
/** Largest held answer that stays in memory: a file costs more than the conversion of so small a number of rows. */
const MAX_KEPT_BYTES = 512 * 1024;

export interface OutletParts {
  readonly spools: Spools;
  readonly times: BulkTimes;
  /** Starts the answer. `sizeBytes`: its length, if it was held and is complete. */
  readonly start: (sizeBytes: number | undefined) => StreamedAnswer;
  /** The answer waits for `begin` or `end`. */
  readonly isHeld: boolean;
  readonly onDrain: () => void;
}

interface KeptPiece {
  readonly bytes: Uint8Array;
  readonly sent: (() => void) | undefined;
}

/**
 * The destination of an answer's bytes. `isFull` and `onDrain` stop and resume the flow. write ──► StreamedAnswer ──►
 * peer until the peer stops reading └──► Spool ──► StreamedAnswer ──► peer from then on, until the spool is empty;
 * readers add nothing └──► memory, Spool held: until `begin` or `end`
 */
class BulkOutlet {
  /** Undefined while the answer is held. */
  #answer: StreamedAnswer | undefined;
  /** Pieces of a held answer that needs no spool yet. */
  #kept: KeptPiece[] = [];
  #keptBytes = 0;
  #spool: Spool | undefined;
  /** Whether bytes go through the spool to the socket. */
  #isSpooling = false;
  #isAnswerFull = false;
  #isEnding = false;
  #isClosed = false;
  #wakeUnspooling: (() => void) | undefined;

  constructor(
    private readonly x: Exchange,
    private readonly parts: OutletParts,
  ) {
    if (!parts.isHeld) this.#start(undefined);
  }

  /**
   * While spooling also true as long as the peer reads anything. Its body waits then, like that of any reading peer.
   */
  get isFull(): boolean {
    const isDiskLate = this.#spool !== undefined && this.#spool.waitingBytes > MAX_SPOOL_WAITING_BYTES;
    if (this.#answer === undefined) return isDiskLate;
    if (!this.#isSpooling) return this.#isAnswerFull;
    return isDiskLate || !this.#isStuck(performance.now());
  }

  /** Bytes of memory that the answer holds. */
  get heldBytes(): number {
    return this.#keptBytes + (this.#answer?.heldBytes ?? 0) + (this.#spool?.waitingBytes ?? 0);
  }

  /** When the peer last read something, by performance.now(); 0 if the answer has not begun. */
  get progressMs(): number {
    return this.#answer?.progressMs ?? 0;
  }

  /**
   * Accepts bytes, which must not change until `sent` is called.
   * @throws SpoolFullError
   */
  write(bytes: Uint8Array, sent?: () => void): void {
    if (this.#isClosed || bytes.length === 0) return;
    if (this.#answer === undefined) this.#keep(bytes, sent);
    else if (this.#isSpooling) this.#append(bytes, sent);
    else if (!this.#answer.write(bytes, sent)) this.#isAnswerFull = true;
  }

  /** Sends as much as the socket accepts now (see StreamedAnswer); returns the number of bytes. */
  writeNow(bytes: Uint8Array, isLast: boolean): number {
    if (this.#answer === undefined || this.#isSpooling || this.#isClosed) return 0;
    return this.#answer.writeNow(bytes, isLast);
  }

  /** Starts an answer that is held; the whole body must have come. Later pieces follow. */
  begin(): void {
    if (this.#answer !== undefined || this.#isClosed) return;
    const answer = this.#start(this.#isEnding ? this.#writtenBytes : undefined);
    for (const { bytes, sent } of this.#kept.splice(0))
      if (!answer.write(bytes, sent)) this.#isAnswerFull = true;
    this.#keptBytes = 0;
    if (this.#spool === undefined) return;
    this.#isSpooling = true;
    this.#unspool(this.#spool, answer).catch((error: unknown) => this.x.reject(error));
  }

  /**
   * Called periodically: spools if the peer does not read.
   * @param mayBegin whether the peer still sends
   * @returns whether it begins to spool
   */
  sweep(nowMs: number, mayBegin: boolean): boolean {
    const answer = this.#answer;
    if (answer === undefined || this.#isClosed || !this.#isAnswerFull || !this.#isStuck(nowMs)) return false;
    const begins = mayBegin && !this.#isSpooling;
    if (begins) {
      this.#spool = this.parts.spools.open(this.x.keyId);
      this.#isSpooling = true;
      this.#unspool(this.#spool, answer).catch((error: unknown) => this.x.reject(error));
    }
    if (this.#isSpooling) this.parts.onDrain();
    return begins;
  }

  end(): void {
    this.#isEnding = true;
    if (this.#answer === undefined && this.#spool !== undefined) {
      // A failure of the disk must be known before the answer begins.
      this.x.after(this.#spool.written, () => this.#endNow());
    } else {
      this.#endNow();
    }
  }

  #endNow(): void {
    this.begin();
    if (this.#isSpooling) this.#wake();
    else this.#finish();
  }

  close(): void {
    this.#isClosed = true;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#spool?.close();
    this.#wake();
  }

  /** Bytes that a held answer has so far. */
  get #writtenBytes(): number {
    return this.#spool?.sizeBytes ?? this.#kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  #start(sizeBytes: number | undefined): StreamedAnswer {
    const answer = this.parts.start(sizeBytes);
    this.#answer = answer;
    answer.onDrain = () => {
      this.#isAnswerFull = false;
      if (this.#wakeUnspooling !== undefined) this.#wake();
      else this.parts.onDrain();
    };
    return answer;
  }

  #keep(bytes: Uint8Array, sent: (() => void) | undefined): void {
    if (this.#spool === undefined) {
      // Whole buffers, of which a piece may be a small part.
      this.#keptBytes += bytes.buffer.byteLength;
      this.#kept.push({ bytes, sent });
      if (this.#keptBytes <= MAX_KEPT_BYTES) return;
      this.#spool = this.parts.spools.open(this.x.keyId);
      this.#keptBytes = 0;
      for (const piece of this.#kept.splice(0)) this.#append(piece.bytes, piece.sent);
    } else {
      this.#append(bytes, sent);
    }
  }

  #append(bytes: Uint8Array, sent: (() => void) | undefined): void {
    const written = this.#spool!.append(bytes).finally(() => sent?.());
    this.x.after(written, () => {
      if (!this.isFull) this.parts.onDrain();
    });
  }

  /** Whether the peer has read nothing for a while. */
  #isStuck(nowMs: number): boolean {
    return nowMs - this.progressMs >= this.parts.times.spoolAfterMs;
  }

  #wake(): void {
    const wake = this.#wakeUnspooling;
    this.#wakeUnspooling = undefined;
    wake?.();
  }

  async #unspool(spool: Spool, answer: StreamedAnswer): Promise<void> {
    while (!this.#isClosed) {
      // The end is not left until the answer drains: probing needs bytes in its queue (ChunkedAnswer).
      if (spool.unreadBytes === 0 && (this.#isEnding || !this.#isAnswerFull)) {
        break;
      } else if (this.#isAnswerFull) {
        await new Promise<void>((resolve) => {
          this.#wakeUnspooling = resolve;
        });
      } else {
        const piece = await spool.next();
        if (!this.#isClosed && !answer.write(piece)) this.#isAnswerFull = true;
      }
    }
    if (this.#isClosed) return;
    this.#isSpooling = false;
    if (this.#isEnding) {
      this.#finish();
      return;
    }
    // Its file would only grow.
    spool.close();
    this.#spool = undefined;
    this.parts.onDrain();
  }

  #finish(): void {
    this.#answer?.end();
    this.#spool?.close();
  }
}

export interface BulkContext {
  readonly kernel: Kernel;
  readonly pool: Pool;
  /** Sink for blocks that this thread converts; empty between two turns of the event loop. */
  readonly sink: KernelSink;
  /** Buffers for the blocks of all bodies. */
  readonly buffers: BlockBuffers;
  readonly spools: Spools;
  readonly times: BulkTimes;
  readonly logger: Logger;
}

const VARY = '\r\nVary: Accept, Accept-Encoding';

export interface ResponseEvents {
  /** The bytes before the first row, requested when the answer begins. */
  head(): Uint8Array;
  /** The answer accepts bytes again after `isFull`. */
  drain(): void;
}

export class BulkResponse {
  #outlet: BulkOutlet | undefined;
  #gzip: Stage | undefined;
  #isGzipFull = false;
  #sizeBytes: number | undefined;
  /** Pieces of an answer that is sent in one piece. */
  #pieces: Uint8Array[] | undefined;
  #hasEnded = false;

  constructor(
    private readonly x: Exchange,
    private readonly request: ParsedBulkRequest,
    private readonly context: BulkContext,
    private readonly events: ResponseEvents,
  ) {}

  get isFull(): boolean {
    return this.#isGzipFull || this.#outlet?.isFull === true;
  }

  /** Whether any of the answer has left this class. */
  get hasBegun(): boolean {
    return this.#outlet !== undefined;
  }

  /** The answer has a Content-Length. */
  get isSized(): boolean {
    return this.#sizeBytes !== undefined;
  }

  /** Whether a size could still be used: nothing is written yet, and nothing will be compressed or held. */
  get isSizeable(): boolean {
    const { gzipOut, isHeld } = this.request;
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

  /** Collects the answer in one piece, sent by `end`. */
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

  /** Gives the answer a known length, if the length is known. */
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

  /** Accepts bytes that are valid during this call only; `isLast`: the answer ends with them. */
  writeNow(bytes: Uint8Array, isLast: boolean): void {
    if (bytes.length === 0) return;
    let sentBytes = 0;
    if (this.#pieces === undefined && !this.request.gzipOut) {
      sentBytes = this.#begin().writeNow(bytes, isLast);
      if (sentBytes === bytes.length) return;
    }
    const { pool } = this.context;
    const rest = pool.copyOf(bytes.subarray(sentBytes));
    this.write(rest, () => pool.giveBack(rest));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#pieces !== undefined) {
      const body = Buffer.concat([this.events.head(), ...this.#pieces]);
      this.x.send(200, this.#answerType, body, VARY + this.x.notes.hint);
      return;
    }
    const outlet = this.#begin();
    if (this.#gzip === undefined) outlet.end();
    else this.#gzip.end();
  }

  /** Called periodically: see BulkOutlet. */
  sweep(nowMs: number, mayBegin: boolean): void {
    if (this.#outlet?.sweep(nowMs, mayBegin)) {
      this.context.logger.info(
        { request_id: this.x.head.requestId, route: this.x.head.pattern },
        'an answer is spooled',
      );
    }
  }

  close(): void {
    this.#gzip?.close();
    this.#outlet?.close();
  }

  get #answerType(): string {
    const { conversion } = this.request;
    if (conversion === undefined) throw new Error('the format of the answer is not known yet');
    return conversion.answerType;
  }

  /** Starts the answer if needed: its head and the bytes before the first row. */
  #begin(): BulkOutlet {
    if (this.#outlet !== undefined) return this.#outlet;
    const { spools, times } = this.context;
    const { gzipOut, isHeld } = this.request;
    const outlet = new BulkOutlet(this.x, {
      spools,
      times,
      isHeld,
      start: (sizeBytes) => this.#start(sizeBytes ?? this.#sizeBytes),
      onDrain: () => {
        this.#gzip?.resume();
        this.events.drain();
      },
    });
    this.#outlet = outlet;
    if (gzipOut) this.#gzip = this.#gzipInto(outlet);
    this.write(this.events.head());
    return outlet;
  }

  /** An answer without a byte has no size: it is sent in chunks. */
  #start(sizeBytes = 0): StreamedAnswer {
    const { gzipIn, gzipOut, isHeld } = this.request;
    const type = this.#answerType;
    const lines = (gzipOut ? `\r\nContent-Encoding: gzip${VARY}` : VARY) + this.x.notes.hint;
    // The end is known before the last rows are answered only for a body of known length whose rows do not come from
    // a disk.
    const mayEndLate = gzipIn || gzipOut || isHeld || this.x.head.bodySizeBytes < 0;
    const answer =
      sizeBytes === 0
        ? this.x.startChunked(200, type, lines, mayEndLate)
        : this.x.startSized(200, type, lines, sizeBytes);
    if (answer === undefined) throw new Error('the request is answered already');
    return answer;
  }

  #gzipInto(outlet: BulkOutlet): Stage {
    const gzip = gzipStage(this.x, {
      data: (bytes) => {
        outlet.write(bytes);
        if (outlet.isFull) gzip.pause();
      },
      end: () => outlet.end(),
      drain: () => {
        this.#isGzipFull = false;
        this.events.drain();
      },
    });
    return gzip;
  }
}
