// The way out of one /bulk answer: straight to the peer while it reads, through a spool when it takes nothing for a
// while but still sends. Tells the flow when to stop and when to go on.
//
//   write ──► StreamedAnswer ──► peer           the peer reads
//        └──► Spool ──► StreamedAnswer ──► peer  it sends first; back to the above when the spool is empty

import type { StreamedAnswer } from '../transport/answers/streamed-answer.js';
import type { Spool, Spools } from './spool.js';

export interface BulkTimes {
  /** A peer that has taken no answer for so long while it still sends gets its answer spooled. */
  readonly spoolAfterMs: number;
  /** A peer that neither sends nor takes anything for so long is let go. */
  readonly noProgressMs: number;
}

export const BULK_TIMES: BulkTimes = { spoolAfterMs: 2000, noProgressMs: 60_000 };

/** Bytes on their way to the disk above which the flow waits. */
const SPOOL_WAITING_BYTES = 4 * 1024 * 1024;

export class BulkOutlet {
  readonly #answer: StreamedAnswer;
  readonly #spools: Spools;
  readonly #onRoom: () => void;
  readonly #onFailure: (error: Error) => void;
  #spool: Spool | undefined;
  /** Bytes go to the spool, and from there to the peer. */
  #spooling = false;
  #answerIsFull = false;
  #ending = false;
  #closed = false;
  #drained: (() => void) | undefined;

  constructor(answer: StreamedAnswer, spools: Spools, onRoom: () => void, onFailure: (error: Error) => void) {
    this.#answer = answer;
    this.#spools = spools;
    this.#onRoom = onRoom;
    this.#onFailure = onFailure;
    answer.onDrain = () => {
      this.#answerIsFull = false;
      if (this.#drained !== undefined) this.#wake();
      else this.#onRoom();
    };
  }

  get isFull(): boolean {
    return this.#spooling ? this.#spool!.waitingBytes > SPOOL_WAITING_BYTES : this.#answerIsFull;
  }

  /** Takes bytes, which must not change until `sent` is called. Throws SpoolFullError. */
  write(bytes: Uint8Array, sent?: () => void): void {
    if (this.#closed || bytes.length === 0) return;
    if (!this.#spooling) {
      if (!this.#answer.write(bytes, sent)) this.#answerIsFull = true;
      return;
    }
    this.#spool!.append(bytes, (error) => {
      sent?.();
      if (this.#closed) return;
      if (error !== undefined) this.#onFailure(error);
      else if (!this.isFull) this.#onRoom();
    });
  }

  /** Writes at once what the peer takes, as StreamedAnswer says; how many bytes that are. */
  writeNow(bytes: Uint8Array, isLast: boolean): number {
    return this.#spooling || this.#closed ? 0 : this.#answer.writeNow(bytes, isLast);
  }

  /** Called now and then while the peer still sends: begins to spool if it takes nothing, and tells if it does. */
  sweep(nowMs: number, times: BulkTimes): boolean {
    const isStuck = this.#answerIsFull && nowMs - this.#answer.progressMs >= times.spoolAfterMs;
    if (this.#closed || this.#spooling || !isStuck) return false;
    this.#spooling = true;
    this.#spool ??= this.#spools.open();
    this.#unspool(this.#spool).catch((error: Error) => this.#closed || this.#onFailure(error));
    this.#onRoom();
    return true;
  }

  /** When the peer last took something. */
  get progressMs(): number {
    return this.#answer.progressMs;
  }

  end(): void {
    this.#ending = true;
    if (!this.#spooling) this.#finish();
    else this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#spool?.close();
    this.#wake();
  }

  /** Has the unspooling look again. */
  #wake(): void {
    const resume = this.#drained;
    this.#drained = undefined;
    resume?.();
  }

  async #unspool(spool: Spool): Promise<void> {
    while (!this.#closed) {
      // At the end also while the answer is full: it ends better with something before its end.
      if (spool.unreadBytes === 0 && (this.#ending || !this.#answerIsFull)) {
        break;
      } else if (this.#answerIsFull) {
        await new Promise<void>((resolve) => {
          this.#drained = resolve;
        });
      } else {
        const piece = await spool.next();
        if (!this.#closed && !this.#answer.write(piece)) this.#answerIsFull = true;
      }
    }
    if (this.#closed) return;
    this.#spooling = false;
    if (this.#ending) this.#finish();
    else this.#onRoom();
  }

  #finish(): void {
    this.#answer.end();
    this.#spool?.close();
  }
}
