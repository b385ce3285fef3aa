// Where the bytes of one /bulk answer go: to the socket while the peer reads, through a spool once it has read nothing
// for a while although it still sends. `isFull` and `onDrain` stop the flow and let it go on.
//
//   write ──► StreamedAnswer ──► peer             until the peer stops reading
//        └──► Spool ──► StreamedAnswer ──► peer   from then on, until the spool is empty; once the peer reads, nothing is added

import type { StreamedAnswer } from '../transport/answers/streamed-answer.js';
import type { Exchange } from '../transport/exchange.js';
import type { Spool, Spools } from './spool.js';

export interface BulkTimes {
  /** The answer is spooled for a peer that still sends but has read nothing for so long. */
  readonly spoolAfterMs: number;
  /** The connection is closed after so long without a byte sent or read by the peer. */
  readonly noProgressMs: number;
}

export const BULK_TIMES: BulkTimes = { spoolAfterMs: 2000, noProgressMs: 60_000 };

/** More bytes than these waiting for the disk stop the flow. */
const MAX_SPOOL_WAITING_BYTES = 4 * 1024 * 1024;

export class BulkOutlet {
  readonly #x: Exchange;
  readonly #answer: StreamedAnswer;
  readonly #spools: Spools;
  readonly #times: BulkTimes;
  readonly #onDrain: () => void;
  #spool: Spool | undefined;
  /** Bytes go to the spool, and from there to the socket. */
  #isSpooling = false;
  #isAnswerFull = false;
  #isEnding = false;
  #isClosed = false;
  #wakeUnspooling: (() => void) | undefined;

  constructor(x: Exchange, answer: StreamedAnswer, spools: Spools, times: BulkTimes, onDrain: () => void) {
    this.#x = x;
    this.#answer = answer;
    this.#spools = spools;
    this.#times = times;
    this.#onDrain = onDrain;
    answer.onDrain = () => {
      this.#isAnswerFull = false;
      if (this.#wakeUnspooling !== undefined) this.#wake();
      else this.#onDrain();
    };
  }

  /** While it spools: also as long as the peer takes anything. Its body waits then, as that of any peer that reads. */
  get isFull(): boolean {
    if (!this.#isSpooling) return this.#isAnswerFull;
    return this.#spool!.waitingBytes > MAX_SPOOL_WAITING_BYTES || !this.#isStuck(performance.now());
  }

  /** Bytes of memory that the answer holds. */
  get heldBytes(): number {
    return this.#answer.heldBytes + (this.#spool?.waitingBytes ?? 0);
  }

  /** When the peer last read something, by performance.now(). */
  get progressMs(): number {
    return this.#answer.progressMs;
  }

  /**
   * Takes bytes, which must not change until `sent` is called.
   * @throws SpoolFullError
   */
  write(bytes: Uint8Array, sent?: () => void): void {
    if (this.#isClosed || bytes.length === 0) return;
    if (!this.#isSpooling) {
      if (!this.#answer.write(bytes, sent)) this.#isAnswerFull = true;
      return;
    }
    const written = this.#spool!.append(bytes).finally(() => sent?.());
    this.#x.after(written, () => {
      if (!this.isFull) this.#onDrain();
    });
  }

  /** Sends at once what the socket takes (see StreamedAnswer); returns how many bytes that were. */
  writeNow(bytes: Uint8Array, isLast: boolean): number {
    return this.#isSpooling || this.#isClosed ? 0 : this.#answer.writeNow(bytes, isLast);
  }

  /**
   * Called periodically: spools if the peer does not read.
   * @param mayBegin the peer still sends
   * @returns whether it begins to spool
   */
  sweep(nowMs: number, mayBegin: boolean): boolean {
    if (this.#isClosed || !this.#isAnswerFull || !this.#isStuck(nowMs)) return false;
    const begins = mayBegin && !this.#isSpooling;
    if (begins) {
      this.#isSpooling = true;
      this.#spool = this.#spools.open();
      this.#unspool(this.#spool).catch((error: unknown) => this.#x.reject(error));
    }
    if (this.#isSpooling) this.#onDrain();
    return begins;
  }

  /** The peer has taken nothing for a while. */
  #isStuck(nowMs: number): boolean {
    return nowMs - this.#answer.progressMs >= this.#times.spoolAfterMs;
  }

  end(): void {
    this.#isEnding = true;
    if (this.#isSpooling) this.#wake();
    else this.#finish();
  }

  close(): void {
    this.#isClosed = true;
    this.#spool?.close();
    this.#wake();
  }

  #wake(): void {
    const wake = this.#wakeUnspooling;
    this.#wakeUnspooling = undefined;
    wake?.();
  }

  async #unspool(spool: Spool): Promise<void> {
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
        if (!this.#isClosed && !this.#answer.write(piece)) this.#isAnswerFull = true;
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
    this.#onDrain();
  }

  #finish(): void {
    this.#answer.end();
    this.#spool?.close();
  }
}
