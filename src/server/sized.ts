// An answer whose length is known before its first byte, because the body has come whole: it has a Content-Length, leaves
// without the heads of chunks, and the binary keeps nothing of it, so none of chunked.ts's care for what it keeps is needed.
import { type AnswerHooks, CLOCK_MS, HIGH_WATER_BYTES, type StreamedAnswer } from './streamed-answer.js';
import type { UwsResponse } from './uws.js';

interface Piece {
  readonly bytes: Uint8Array;
  readonly sent: (() => void) | undefined;
}

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
  ) {
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
    return this.#send(bytes);
  }

  /** All bytes must have been handed over. */
  end(): void {
    if (this.#over) return;
    const missing = this.totalBytes - this.#wentBytes - this.#queuedBytes;
    // A defect of ours must not become an answer that seems whole, nor one that never ends.
    if (missing !== 0) throw new Error(`the answer lacks ${missing} bytes of its length`);
  }

  /** It has. */
  setBodyEnded(): void {}

  /** A whole body has come: there is nothing to read on for but the next request. */
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
    let isWhole = false;
    let isDone = false;
    this.res.cork(() => {
      if (!this.#hasBegun) this.hooks.head();
      this.#hasBegun = true;
      [isWhole, isDone] = this.res.tryEnd(bytes, this.totalBytes);
    });
    const count = isWhole || isDone ? bytes.length : this.res.getWriteOffset() - this.#wentBytes;
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
