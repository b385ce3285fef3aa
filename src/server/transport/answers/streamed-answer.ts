// An answer that is written piece by piece: the queue, the turns in which it is written, and uWS's timeout, for answers
// of unknown length (chunked-answer.ts) and of known length (sized-answer.ts).

import type { UwsResponse } from '../load-uws.js';
import { PieceQueue } from './piece-queue.js';

/** Calls of an answer into its exchange. */
export interface AnswerHooks {
  /** Writes status line and headers; called in the cork of the first write. */
  readonly writeHead: () => void;
  /** `end` was called, perhaps before the whole body was received: if the reading of it is stopped, it may go on. */
  readonly ending: () => void;
  /** The next write is the end of an answer of unknown length. */
  readonly lastWrite: () => void;
  /** The answer is complete. */
  readonly finished: () => void;
  /** Runs callbacks of timers and turns of the event loop, and handles what they throw. */
  readonly guard: (work: () => void) => void;
}

/** Queued bytes from which `write` asks its caller to wait. */
const HIGH_WATER_BYTES = 256 * 1024;

/** Well below uWS's timeout, which is ten seconds or more, counted in steps of four (README U24). */
const TIMEOUT_RESET_MS = 4000;

export abstract class StreamedAnswer {
  /** Called when everything queued is written, but for bytes that are kept back, if `write` had returned false. */
  onDrain: (() => void) | undefined;
  /** When the socket last took bytes or became writable, by performance.now(). */
  progressMs = performance.now();

  /** Bytes of the body that uWS has taken. */
  sentBytes = 0;

  protected readonly queue = new PieceQueue();
  protected state: 'open' | 'ending' | 'over' = 'open';
  /** The head of the answer is written. */
  protected hasBegun = false;
  /** False from a write that met backpressure until the socket is writable again. */
  protected isWritable = true;
  /** The most that uWS may hold while `isWritable` is false. */
  protected uwsHeldBytes = 0;
  protected isReadingStopped = false;
  #isFlushDue = false;
  #isDrainAwaited = false;
  #timeoutTimer: NodeJS.Timeout | undefined;

  protected constructor(
    protected readonly res: UwsResponse,
    protected readonly hooks: AnswerHooks,
  ) {
    res.onWritable(() => {
      if (this.state !== 'over') {
        this.progressMs = performance.now();
        this.socketWritable();
      }
      return true;
    });
  }

  /** Bytes that wait to be written. */
  get queuedBytes(): number {
    return this.queue.sizeBytes;
  }

  /** Bytes of memory that the answer holds, uWS's own included. */
  get heldBytes(): number {
    return this.queue.heldBytes + (this.isWritable ? 0 : this.uwsHeldBytes);
  }

  /**
   * Queues bytes, which must not change until `sent` is called (uWS has its own copy then of what the socket did not
   * take). Returns false to ask the caller to wait for `onDrain`, and for an answer that takes no more bytes.
   */
  write(bytes: Uint8Array, sent?: () => void): boolean {
    if (this.state !== 'open') return false;
    if (bytes.length > 0) {
      this.queue.push(bytes, sent);
      this.scheduleFlush();
    }
    if (this.queue.sizeBytes < HIGH_WATER_BYTES) return true;
    this.#isDrainAwaited = true;
    return false;
  }

  /**
   * Writes at once as much as the socket takes of bytes that are valid during the call only. Not to be called from a
   * uWS callback. `isLast`: the answer ends with these bytes. Returns how many bytes are written; the rest is for
   * `write`.
   */
  abstract writeNow(bytes: Uint8Array, isLast: boolean): number;

  /** Ends the answer once everything queued is written. */
  abstract end(): void;

  /** To be called when the last byte of the request's body has been received. */
  abstract setBodyEnded(): void;

  /** To be called when the reading of the body is stopped, and when it goes on. */
  setReadingStopped(isStopped: boolean): void {
    this.isReadingStopped = isStopped;
  }

  /** Discards what is queued: the connection is closed. */
  drop(): void {
    this.stop();
    this.queue.clear();
    this.onDrain = undefined;
  }

  /** uWS has called onWritable: the socket takes bytes again. */
  protected abstract socketWritable(): void;

  /**
   * Writes what is queued, as far as the socket takes it. Called in a turn of the event loop, never in a uWS callback.
   */
  protected abstract flush(): void;

  protected scheduleFlush(): void {
    if (this.#isFlushDue || !this.isWritable || this.state === 'over') return;
    this.#isFlushDue = true;
    setImmediate(() =>
      this.hooks.guard(() => {
        this.#isFlushDue = false;
        this.flush();
      }),
    );
  }

  /** Calls `onDrain` if a caller waits for it and no more than `keptBackBytes` are queued. */
  protected notifyDrain(keptBackBytes: number): void {
    if (!this.#isDrainAwaited || this.queue.sizeBytes > keptBackBytes) return;
    this.#isDrainAwaited = false;
    this.onDrain?.();
  }

  /**
   * Restarts uWS's timeout now and every few seconds until the answer is over, so that a slow reader is not cut off.
   */
  protected keepResettingTimeout(): void {
    if (this.#timeoutTimer === undefined) this.#resetTimeout();
  }

  /** `resume` restarts the timeout (README U24). Which events uWS polls the socket for does not change. */
  #resetTimeout(): void {
    if (this.state === 'over') return;
    if (!this.isReadingStopped) {
      this.res.pause();
      this.res.resume();
    }
    this.#timeoutTimer = setTimeout(() => this.hooks.guard(() => this.#resetTimeout()), TIMEOUT_RESET_MS);
  }

  /** The answer is complete or its connection closed: nothing is written any more. */
  protected stop(): void {
    this.state = 'over';
    clearTimeout(this.#timeoutTimer);
  }
}
