// An answer of unknown length, sent in chunks. Nothing is written in a uWS callback, as those run corked and a write
// that overflows the cork may be lost (README U20): bytes are queued and written in a turn of the event loop of their
// own, small pieces packed into one corked write, large ones uncorked. uWS holds what the socket does not take;
// `#flushHeldBytes` and `#probeLater` make sure that those bytes leave, and find out when they have.
import type { UwsResponse } from '../load-uws.js';
import { type AnswerHooks, type CorkHolder, PACKED_BYTES, StreamedAnswer } from './streamed-answer.js';

/**
 * The size of a large write lies between these: halved by every write that meets backpressure, doubled by every large
 * one that does not. So uWS holds less for a slow reader, and calls onWritable more often.
 */
const MIN_LARGE_BYTES = 32 * 1024;
const MAX_LARGE_BYTES = 1024 * 1024;

/**
 * A probe is a write that finds out whether the socket takes all that uWS holds. If not, uWS holds the probe as well.
 */
const PROBE_BYTES = 256;
/**
 * The last bytes of an answer wait until uWS holds nothing more, and serve as probes of a few bytes meanwhile: after
 * the end of an answer its timeout can no longer be reset, and a reader that pauses then loses what uWS still holds
 * (README U24).
 */
const END_BYTES = 256;
const END_PROBE_BYTES = 4;
const MIN_PROBE_MS = 4;
const MAX_PROBE_MS = 128;

export class ChunkedAnswer extends StreamedAnswer {
  /** uWS may still hold bytes that were written before its last onWritable. */
  #mayHoldBytes = false;
  /** uWS reports a corked write as taken, and may hold it all the same when the cork ends. */
  #wasLastWriteCorked = false;
  #largeBytes = MAX_LARGE_BYTES;
  #hasBodyEnded = false;
  #probeTimer: NodeJS.Timeout | undefined;
  #probeMs = MIN_PROBE_MS;

  constructor(
    res: UwsResponse,
    hooks: AnswerHooks,
    /** While it is not open, writes are never larger than PACKED_BYTES. */
    corkHolder: Pick<CorkHolder, 'isOpen' | 'runUncorked'>,
    /**
     * `end` may be called long after the last `write`. So whenever uWS may hold bytes, the last END_BYTES stay queued
     * even before `end`: there would be nothing else to probe with.
     */
    private readonly mayEndLate = false,
  ) {
    super(res, hooks, corkHolder);
  }

  writeNow(bytes: Uint8Array, isLast: boolean): number {
    if (this.state !== 'open' || !this.isWritable) return 0;
    const part = isLast ? bytes.subarray(0, -END_BYTES) : bytes.subarray();
    if (part.length === 0) return 0;
    this.queue.push(part);
    this.#writeQueued();
    return this.queue.withdraw(part);
  }

  end(): void {
    if (this.state !== 'open') return;
    this.state = 'ending';
    this.hooks.ending();
    this.scheduleFlush();
  }

  setBodyEnded(): void {
    this.#hasBodyEnded = true;
    if (!this.isWritable || this.#mayHoldBytes) this.keepResettingTimeout();
  }

  override setReadingStopped(isStopped: boolean): void {
    super.setReadingStopped(isStopped);
    if (this.state === 'over') return;
    clearTimeout(this.#probeTimer);
    if (!isStopped) this.#flushHeldBytes();
    else if (!this.isWritable) this.#probeLater();
  }

  protected socketWritable(): void {
    this.#flushHeldBytes();
    if (this.#hasBodyEnded) this.keepResettingTimeout();
  }

  protected flush(): void {
    this.#writeQueued();
    if (this.state === 'ending' && this.isWritable && this.#nextWriteBytes() === 0) this.#finish();
    else this.#notifyDrain();
  }

  protected override stop(): void {
    super.stop();
    clearTimeout(this.#probeTimer);
  }

  /**
   * uWS calls onWritable once and sends nothing of what it holds (README U22). An empty cork makes it send, and poll
   * for writability again if the socket does not take everything; but it does not report which. So the next write is a
   * probe.
   */
  #flushHeldBytes(): void {
    this.res.cork(() => {});
    if (this.isWritable) return;
    this.isWritable = true;
    this.#mayHoldBytes = true;
    this.scheduleFlush();
  }

  /**
   * Until the whole body is received, uWS's timeout is left alone: it closes a connection whose client does nothing.
   */
  #metBackpressure(): void {
    this.#largeBytes = Math.max(MIN_LARGE_BYTES, this.#largeBytes / 2);
    if (this.isReadingStopped) this.#probeLater();
    else if (this.#hasBodyEnded) this.keepResettingTimeout();
  }

  /**
   * A write that meets backpressure makes uWS read the body again; a second pause stops that, but then uWS does not
   * poll for writability either and never calls onWritable (README U26). Instead, a probe is written every few
   * milliseconds.
   */
  #probeLater(): void {
    this.res.pause();
    clearTimeout(this.#probeTimer);
    this.#probeTimer = setTimeout(() => this.hooks.guard(() => this.#probe()), this.#probeMs);
    this.#probeMs = Math.min(MAX_PROBE_MS, this.#probeMs * 2);
  }

  #probe(): void {
    if (this.isWritable || this.state === 'over') return;
    const isNearEnd = this.mayEndLate && this.queue.sizeBytes <= END_BYTES;
    if (this.queue.sizeBytes > 0) this.#write(isNearEnd ? END_PROBE_BYTES : PROBE_BYTES);
    else this.res.cork(() => {});
    if (this.isWritable) {
      this.#mayHoldBytes = false;
      this.#probeMs = MIN_PROBE_MS;
      this.progressMs = performance.now();
      this.scheduleFlush();
    } else {
      this.#probeLater();
      this.#notifyDrain();
    }
  }

  #writeQueued(): void {
    while (this.isWritable && this.state !== 'over') {
      const maxBytes = this.#nextWriteBytes();
      if (maxBytes === 0) return;
      this.#write(maxBytes);
      if (this.isWritable) {
        this.#mayHoldBytes = false;
        this.progressMs = performance.now();
      } else {
        this.#metBackpressure();
      }
    }
  }

  /** The most bytes of the next write; 0 if nothing is queued, or if what is queued goes out with the end. */
  #nextWriteBytes(): number {
    const queuedBytes = this.queue.sizeBytes;
    const mayBeLarge = this.hasBegun && this.corkHolder.isOpen;
    const maxBytes = this.#mayHoldBytes ? PROBE_BYTES : mayBeLarge ? this.#largeBytes : PACKED_BYTES;
    const isOpen = this.state === 'open';
    if (isOpen && !this.mayEndLate) return Math.min(maxBytes, queuedBytes);
    if (queuedBytes > END_BYTES) return Math.min(maxBytes, queuedBytes - END_BYTES);
    if (isOpen) return Math.min(this.#mayHoldBytes ? END_PROBE_BYTES : END_BYTES, queuedBytes);
    const mayHoldBytes = this.#mayHoldBytes || (this.#wasLastWriteCorked && this.corkHolder.isOpen);
    return mayHoldBytes ? Math.min(END_PROBE_BYTES, queuedBytes) : 0;
  }

  /**
   * Writes once, corked if the bytes fit the cork. Probes near the end are uncorked, because only an uncorked write
   * reports whether the socket took the write itself.
   */
  #write(maxBytes: number): void {
    const isEndProbe =
      this.hasBegun && this.state === 'ending' && this.queue.sizeBytes <= END_BYTES && this.corkHolder.isOpen;
    const part = this.queue.take(maxBytes);
    const write = (): void => {
      if (!this.hasBegun) this.hooks.writeHead();
      this.isWritable = this.res.write(part);
    };
    const isLarge = part.length > PACKED_BYTES;
    this.#wasLastWriteCorked = !isLarge && !isEndProbe;
    if (this.#wasLastWriteCorked) this.res.cork(write);
    else this.corkHolder.runUncorked(write);
    this.hasBegun = true;
    this.sentBytes += part.length;
    this.uwsHeldBytes = this.isWritable ? 0 : this.uwsHeldBytes + part.length;
    if (isLarge && this.isWritable) this.#largeBytes = Math.min(MAX_LARGE_BYTES, this.#largeBytes * 2);
    this.queue.callSent();
  }

  #finish(): void {
    const last = this.queue.sizeBytes > 0 ? this.queue.take(END_BYTES) : undefined;
    this.sentBytes += last?.length ?? 0;
    this.stop();
    this.res.cork(() => {
      if (!this.hasBegun) this.hooks.writeHead();
      if (last !== undefined) this.res.write(last);
      this.hooks.lastWrite();
      this.res.end();
    });
    this.queue.callSent();
    this.hooks.finished();
  }

  /** Called also while the socket takes nothing: with an empty queue, there is nothing to probe with until `write`. */
  #notifyDrain(): void {
    this.notifyDrain(this.mayEndLate ? END_BYTES : 0);
  }
}
