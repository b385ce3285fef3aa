// Where the bytes of one /bulk answer go: to the socket while the peer reads, through a spool once it has read nothing
// for a while although it still sends. `isFull` and `onDrain` stop the flow and let it go on.

import type { Exchange } from '../http/exchange.js';
import type { StreamedAnswer } from '../transport/answers/streamed-answer.js';
import type { Spool, Spools } from './spool.js';

export interface BulkTimes {
  /** Time without a read after which the answer is spooled for a peer that still sends. */
  readonly spoolAfterMs: number;
  /** Time without a byte sent or read by the peer after which the connection is closed. */
  readonly noProgressMs: number;
}

export const BULK_TIMES: BulkTimes = { spoolAfterMs: 2000, noProgressMs: 60_000 };

/** More bytes than these waiting for the disk stop the flow. */
const MAX_SPOOL_WAITING_BYTES = 4 * 1024 * 1024;
/** A held answer of at most this many bytes stays in memory: a file costs more than the conversion of so few rows. */
const MAX_KEPT_BYTES = 512 * 1024;

export interface OutletParts {
  readonly spools: Spools;
  readonly times: BulkTimes;
  /** Starts the answer. `sizeBytes`: its length, where it was held and is complete. */
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
 * The way of the bytes:
 *
 *   write ──► StreamedAnswer ──► peer             until the peer stops reading
 *        └──► Spool ──► StreamedAnswer ──► peer   from then on, until the spool is empty; readers add nothing
 *        └──► memory, Spool                       held: until `begin` or `end`
 */
export class BulkOutlet {
  readonly #x: Exchange;
  readonly #parts: OutletParts;
  /** Undefined while the answer is held. */
  #answer: StreamedAnswer | undefined;
  /** Pieces of a held answer that needs no spool yet. */
  #kept: KeptPiece[] = [];
  #keptBytes = 0;
  #spool: Spool | undefined;
  /** Bytes go to the spool, and from there to the socket. */
  #isSpooling = false;
  #isAnswerFull = false;
  #isEnding = false;
  #isClosed = false;
  #wakeUnspooling: (() => void) | undefined;

  constructor(x: Exchange, parts: OutletParts) {
    this.#x = x;
    this.#parts = parts;
    if (!parts.isHeld) this.#start(undefined);
  }

  /** While it spools: also as long as the peer takes anything. Its body waits then, as that of any peer that reads. */
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
   * Takes bytes, which must not change until `sent` is called.
   * @throws SpoolFullError
   */
  write(bytes: Uint8Array, sent?: () => void): void {
    if (this.#isClosed || bytes.length === 0) return;
    if (this.#answer === undefined) this.#keep(bytes, sent);
    else if (this.#isSpooling) this.#append(bytes, sent);
    else if (!this.#answer.write(bytes, sent)) this.#isAnswerFull = true;
  }

  /** Sends at once what the socket takes (see StreamedAnswer); returns how many bytes that were. */
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
    this.#unspool(this.#spool, answer).catch((error: unknown) => this.#x.reject(error));
  }

  /**
   * Called periodically: spools if the peer does not read.
   * @param mayBegin the peer still sends
   * @returns whether it begins to spool
   */
  sweep(nowMs: number, mayBegin: boolean): boolean {
    const answer = this.#answer;
    if (answer === undefined || this.#isClosed || !this.#isAnswerFull || !this.#isStuck(nowMs)) return false;
    const begins = mayBegin && !this.#isSpooling;
    if (begins) {
      this.#spool = this.#parts.spools.open(this.#x.keyId);
      this.#isSpooling = true;
      this.#unspool(this.#spool, answer).catch((error: unknown) => this.#x.reject(error));
    }
    if (this.#isSpooling) this.#parts.onDrain();
    return begins;
  }

  end(): void {
    this.#isEnding = true;
    if (this.#answer === undefined && this.#spool !== undefined) {
      // A disk that does not take the last bytes must be known before the answer begins.
      this.#x.after(this.#spool.written, () => this.#endNow());
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
    const answer = this.#parts.start(sizeBytes);
    this.#answer = answer;
    answer.onDrain = () => {
      this.#isAnswerFull = false;
      if (this.#wakeUnspooling !== undefined) this.#wake();
      else this.#parts.onDrain();
    };
    return answer;
  }

  #keep(bytes: Uint8Array, sent: (() => void) | undefined): void {
    if (this.#spool === undefined) {
      // Whole buffers, of which a piece may be a small part.
      this.#keptBytes += bytes.buffer.byteLength;
      this.#kept.push({ bytes, sent });
      if (this.#keptBytes <= MAX_KEPT_BYTES) return;
      this.#spool = this.#parts.spools.open(this.#x.keyId);
      this.#keptBytes = 0;
      for (const piece of this.#kept.splice(0)) this.#append(piece.bytes, piece.sent);
    } else {
      this.#append(bytes, sent);
    }
  }

  #append(bytes: Uint8Array, sent: (() => void) | undefined): void {
    const written = this.#spool!.append(bytes).finally(() => sent?.());
    this.#x.after(written, () => {
      if (!this.isFull) this.#parts.onDrain();
    });
  }

  /** The peer has taken nothing for a while. */
  #isStuck(nowMs: number): boolean {
    return nowMs - this.progressMs >= this.#parts.times.spoolAfterMs;
  }

  #wake(): void {
    const wake = this.#wakeUnspooling;
    this.#wakeUnspooling = undefined;
    wake?.();
  }

  async #unspool(spool: Spool, answer: StreamedAnswer): Promise<void> {
    while (!this.#isClosed) {
      // At the end not only once the answer drains: it needs bytes in its queue to probe with (ChunkedAnswer).
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
    this.#parts.onDrain();
  }

  #finish(): void {
    this.#answer?.end();
    this.#spool?.close();
  }
}
