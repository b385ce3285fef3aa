// An answer whose length is known before its first byte, because the body has come whole: it has a Content-Length and leaves
// without the heads of chunks, and what the socket does not take stays here. Only what fits a cork the binary takes in any
// case, and keeps what the socket does not take of that: so all but the first write, which brings the head, are past
// the cork, and the last byte is never in the first. When all has gone from here, all has gone: the transport's clock
// of ten seconds would cut off what the binary kept of an answer that is over.
import type { CorkHolder } from './cork-holder.js';
import {
  type AnswerHooks,
  CLOCK_MS,
  HIGH_WATER_BYTES,
  type Piece,
  type StreamedAnswer,
} from './streamed-answer.js';
import type { UwsResponse } from './uws.js';

/** What is as long or longer does not fit the binary's cork. */
const CORK_BYTES = 16 * 1024;

export class SizedAnswer implements StreamedAnswer {
  onDrain: (() => void) | undefined;
  progressMs = performance.now();

  #queue: Piece[] = [];
  /** Of the first piece in the queue, how much has gone. */
  #headOffset = 0;
  #queuedBytes = 0;
  /** Of the whole answer, how much the socket has taken. */
  #wentBytes = 0;
  #hasBegun = false;
  /** False from a write that did not go whole until there is room again. */
  #writable = true;
  #scheduled = false;
  #asked = false;
  #over = false;
  #clockTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly res: UwsResponse,
    private readonly hooks: AnswerHooks,
    private readonly totalBytes: number,
    /** While it is not open, the last write is within a cork. */
    private readonly corkHolder: Pick<CorkHolder, 'isOpen' | 'run'>,
  ) {
    if (totalBytes < 1) throw new RangeError('an answer of no bytes has no first write');
    res.onWritable(() => {
      if (this.#over) return true;
      this.progressMs = performance.now();
      this.#writable = true;
      this.#schedule();
      return true;
    });
  }

  write(bytes: Uint8Array, sent?: () => void): boolean {
    if (this.#over) return false;
    if (bytes.length > 0) {
      this.#queue.push({ bytes, sent });
      this.#queuedBytes += bytes.length;
      this.#checkSize(0);
      this.#schedule();
    }
    if (this.#queuedBytes < HIGH_WATER_BYTES) return true;
    this.#asked = true;
    return false;
  }

  writeNow(bytes: Uint8Array): number {
    this.#flush();
    if (this.#over || !this.#writable || bytes.length === 0) return 0;
    this.#checkSize(bytes.length);
    const count = this.#send(bytes);
    return count < bytes.length && this.#writable ? count + this.#send(bytes.subarray(count)) : count;
  }

  /** All bytes must have been handed over. */
  end(): void {
    if (this.#over) return;
    const missing = this.totalBytes - this.#wentBytes - this.#queuedBytes;
    // A defect of ours must not become an answer that seems whole, nor one that never ends.
    if (missing !== 0) throw new Error(`the answer lacks ${missing} bytes of its length`);
  }

  /** Of no concern here: the body had come whole before. */
  setBodyEnded(): void {}

  /** Nor this. */
  setReadingStopped(): void {}

  drop(): void {
    this.#stop();
    this.#queue = [];
    this.#queuedBytes = 0;
    this.onDrain = undefined;
  }

  #checkSize(moreBytes: number): void {
    const surplus = this.#wentBytes + this.#queuedBytes + moreBytes - this.totalBytes;
    if (surplus > 0) throw new Error(`the answer has ${surplus} bytes more than its length`);
  }

  #schedule(): void {
    if (this.#scheduled || !this.#writable || this.#over || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.hooks.guard(() => this.#flush());
    });
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#writable && !this.#over) {
      const { bytes, sent } = this.#queue[0] as Piece;
      const count = this.#send(bytes.subarray(this.#headOffset));
      this.#headOffset += count;
      this.#queuedBytes -= count;
      if (this.#headOffset < bytes.length) continue;
      this.#queue.shift();
      this.#headOffset = 0;
      sent?.();
    }
    if (!this.#asked || this.#queuedBytes > 0) return;
    this.#asked = false;
    this.onDrain?.();
  }

  /** How many of the bytes the socket took. */
  #send(bytes: Uint8Array): number {
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    const mayBeKept = isFirst && bytes.length === this.totalBytes && bytes.length < CORK_BYTES;
    const part = mayBeKept && bytes.length > 1 ? bytes.subarray(0, -1) : bytes;
    let isWhole = false;
    let isDone = false;
    const write = (): void => {
      if (isFirst) this.hooks.head();
      [isWhole, isDone] = this.res.tryEnd(part, this.totalBytes);
    };
    if (isFirst || !this.corkHolder.isOpen) this.res.cork(write);
    else this.corkHolder.run(write);
    const count = isWhole || isDone ? part.length : this.res.getWriteOffset() - this.#wentBytes;
    this.#wentBytes += count;
    if (count > 0) this.progressMs = performance.now();
    if (isDone) {
      this.#stop();
      this.hooks.finished();
    } else if (!isWhole) {
      this.#writable = false;
      if (this.#clockTimer === undefined) this.#setClockBack();
    }
    return count;
  }

  /** Now and every few seconds, as long as the answer lasts. What the socket is watched for stays. */
  #setClockBack(): void {
    if (this.#over) return;
    this.res.pause();
    this.res.resume();
    clearTimeout(this.#clockTimer);
    this.#clockTimer = setTimeout(() => this.hooks.guard(() => this.#setClockBack()), CLOCK_MS);
  }

  #stop(): void {
    this.#over = true;
    clearTimeout(this.#clockTimer);
  }
}
