// Answer whose length is known before its first byte, because the whole body has been received: it has a Content-Length
// and no chunk headers. Outside a cork uWS buffers nothing of a write and reports how much the socket took; inside one
// it may report bytes as taken that it still buffers (README U23). So only the first write, with the head, is corked,
// and only if its bytes cannot stay in the cork's buffer; when the answer is complete, the socket has taken all of it.
import type { UwsResponse } from '../load-uws.js';
import { type AnswerHooks, type CorkHolder, StreamedAnswer } from './streamed-answer.js';

/** Shorter bodies may fit uWS's cork. */
const CORK_BYTES = 16 * 1024;

export class SizedAnswer extends StreamedAnswer {
  constructor(
    res: UwsResponse,
    hooks: AnswerHooks,
    private readonly totalBytes: number,
    corkHolder: Pick<CorkHolder, 'isOpen' | 'runUncorked'>,
  ) {
    if (totalBytes < 1) throw new RangeError('an answer of no bytes has no first write');
    super(res, hooks, corkHolder);
  }

  override write(bytes: Uint8Array, sent?: () => void): boolean {
    if (this.state === 'open') this.#checkSize(bytes.length);
    return super.write(bytes, sent);
  }

  writeNow(bytes: Uint8Array): number {
    this.flush();
    if (this.state === 'over' || !this.isWritable || bytes.length === 0) return 0;
    this.#checkSize(bytes.length);
    const count = this.#send(bytes);
    // The first write may leave the last byte out.
    return count < bytes.length && this.isWritable ? count + this.#send(bytes.subarray(count)) : count;
  }

  /**
   * Throws if fewer bytes were queued than announced: the answer must neither seem complete nor stay open without end.
   */
  end(): void {
    if (this.state === 'over') return;
    const missing = this.totalBytes - this.sentBytes - this.queue.sizeBytes;
    if (missing !== 0) throw new Error(`the answer lacks ${missing} bytes of its length`);
  }

  /** Nothing to do: the whole body was received before the answer began. */
  setBodyEnded(): void {}

  protected socketWritable(): void {
    this.isWritable = true;
    if (this.queue.sizeBytes > 0) this.scheduleFlush();
  }

  protected flush(): void {
    while (this.queue.sizeBytes > 0 && this.isWritable && this.state !== 'over') {
      this.queue.skip(this.#send(this.queue.first));
      this.queue.callSent();
    }
    this.notifyDrain(0);
  }

  #checkSize(moreBytes: number): void {
    const surplus = this.sentBytes + this.queue.sizeBytes + moreBytes - this.totalBytes;
    if (surplus > 0) throw new Error(`the answer has ${surplus} bytes more than its length`);
  }

  /** Returns how many of the bytes were taken. A body of a single byte cannot be split: uWS may hold it. */
  #send(bytes: Uint8Array): number {
    const isFirst = !this.hasBegun;
    this.hasBegun = true;
    const mayFitCork = isFirst && bytes.length === this.totalBytes && bytes.length < CORK_BYTES;
    const part = mayFitCork && bytes.length > 1 ? bytes.subarray(0, -1) : bytes;
    let isTaken = false;
    let isDone = false;
    const mayBeLast = this.sentBytes + part.length === this.totalBytes;
    const write = (): void => {
      if (isFirst) this.hooks.writeHead();
      if (mayBeLast) this.hooks.lastWrite();
      [isTaken, isDone] = this.res.tryEnd(part, this.totalBytes);
      if (mayBeLast && !isDone) this.hooks.notLastWrite();
    };
    if (isFirst || !this.corkHolder.isOpen) this.res.cork(write);
    else this.corkHolder.runUncorked(write);
    const count = isTaken || isDone ? part.length : this.res.getWriteOffset() - this.sentBytes;
    this.sentBytes += count;
    if (count > 0) this.progressMs = performance.now();
    if (isDone) {
      this.stop();
      this.hooks.finished();
    } else if (!isTaken) {
      this.isWritable = false;
      this.keepResettingTimeout();
    }
    return count;
  }
}
