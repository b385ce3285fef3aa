// The stream as a pair of Web Streams: points are written, their answers are read in the same order. Connections may
// be lost in between: conversions have no side effects, so unanswered frames are sent again, and every point is
// answered exactly once.

import { type ClientErrorCode, HexcodesClientError } from '../errors.js';
import { StreamCredit } from './credit.js';
import { loopOver, type RequestFrame, type StreamAnswers } from './frames.js';
import type { OpenSocket, StreamSocket } from './socket.js';

// The connections of one stream, one at a time. A connection is opened when a frame is to be sent, and again after a
// pause when it is lost, until too many in a row bring no answer. StreamCredit says which frames are sent; frames
// that a lost connection did not answer are sent again on the next.
interface ConnectionSettings {
  /** ws: or wss:, without the key. */
  readonly url: URL;
  readonly apiKey: string | undefined;
  readonly openSocket: OpenSocket;
  /** Consecutive connections without an answer after which the stream fails. */
  readonly maxAttempts: number;
  /** Timeout of the next answer while frames are unanswered: then the connection counts as lost. */
  readonly answerTimeoutMs: number;
}

interface ConnectionEvents {
  /** Called when the credit has processed an answer. */
  answered(): void;
  /** Called when no further connection will be opened. */
  failed(error: HexcodesClientError): void;
}

const FIRST_PAUSE_MS = 200;
/** Longest pause, after which a service that is back is found. */
const LONGEST_PAUSE_MS = 2000;

/** Multiple of the attempts for frames over a rate limit, which passes with time: some five minutes. */
const OVER_LIMIT_PATIENCE = 10;
/** Longest Retry-After that is waited for; a service whose quota of the day is used up asks for more. */
const LONGEST_RETRY_AFTER_SEC = 60;

/**
 * Pause before attempt `attempt`, from 1. It doubles up to a limit; half of it is random, so that clients do not all
 * reconnect at once.
 */
function pauseMs(attempt: number): number {
  const full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return full / 2 + Math.random() * (full / 2);
}

/** Close codes that every new connection would meet again, with their errors. */
const FINAL_CLOSES: ReadonlyMap<number, [ClientErrorCode, string]> = new Map([
  [1002, ['PROTOCOL', 'the service saw a breach of the WebSocket protocol']],
  [1003, ['PROTOCOL', 'the service does not take binary frames here']],
  [1009, ['PROTOCOL', 'a frame was larger than the service takes']],
  [4001, ['REQUEST_DENIED', 'the key was revoked or disabled']],
  [4002, ['OVER_QUERY_LIMIT', "the key's quota is used up"]],
  [4003, ['PROTOCOL', 'the service counted more unanswered frames than it allows']],
]);

class StreamConnection {
  readonly #settings: ConnectionSettings;
  readonly #credit: StreamCredit;
  readonly #events: ConnectionEvents;
  #socket: StreamSocket | undefined;
  /** Whether the ready frame of the current connection has come. */
  #isReady = false;
  /** Consecutive connections without an answer. */
  #attempts = 0;
  #opened = 0;
  #hasEnded = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #answerTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(settings: ConnectionSettings, credit: StreamCredit, events: ConnectionEvents) {
    this.#settings = settings;
    this.#credit = credit;
    this.#events = events;
  }

  /** Number of reconnections. */
  get reconnections(): number {
    return Math.max(0, this.#opened - 1);
  }

  /** Sends the frames that the credit allows now; connects first if needed. */
  flush(): void {
    if (this.#hasEnded) return;
    if (this.#socket === undefined) {
      if (this.#credit.unanswered > 0 && this.#retryTimer === undefined) this.#connect();
      return;
    }
    if (!this.#isReady) return;
    for (
      let frame = this.#credit.send(performance.now());
      frame;
      frame = this.#credit.send(performance.now())
    ) {
      this.#socket.send(frame);
      this.#restartAnswerTimer();
    }
    const pausedUntilMs = this.#credit.pausedUntilMs();
    if (pausedUntilMs !== undefined) this.#flushAfter(pausedUntilMs - performance.now());
  }

  /** Ends timers and connection: with a close handshake after the ready frame, otherwise at once. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#answerTimer);
    if (this.#socket === undefined) return;
    if (this.#isReady) this.#socket.close(1000);
    else this.#socket.drop();
    this.#socket = undefined;
  }

  #connect(): void {
    const credit = this.#credit;
    this.#isReady = false;
    this.#opened++;
    this.#socket = this.#settings.openSocket(this.#settings.url, this.#settings.apiKey, {
      text: (data) =>
        this.#guard(() => {
          if (this.#isReady)
            throw new HexcodesClientError('PROTOCOL', 'the service sent text among the answers');
          credit.open(data);
          this.#isReady = true;
          this.flush();
        }),
      binary: (data) =>
        this.#guard(() => {
          this.#restartAnswerTimer();
          credit.answer(data, performance.now(), (refusals, overLimit) => {
            const most = this.#settings.maxAttempts * (overLimit ? OVER_LIMIT_PATIENCE : 1);
            return refusals >= most ? undefined : pauseMs(refusals);
          });
          this.#attempts = 0;
          this.#events.answered();
          this.flush();
        }),
      closed: (code, reason) => this.#closed(code, reason),
      refused: (error) => {
        const mayPass =
          error.code === 'NETWORK' || error.code === 'UNAVAILABLE' || error.code === 'OVER_QUERY_LIMIT';
        const isSoon = (error.retryAfterSec ?? 0) <= LONGEST_RETRY_AFTER_SEC;
        this.#lost(error, mayPass && isSoon, error.retryAfterSec);
      },
    });
    this.#restartAnswerTimer();
  }

  #closed(code: number, reason: string): void {
    const final = FINAL_CLOSES.get(code);
    if (final !== undefined) {
      const message = reason === '' ? final[1] : `${final[1]}: ${reason}`;
      this.#lost(new HexcodesClientError(final[0], message, { closeCode: code }), false);
      return;
    }
    const error = new HexcodesClientError('NETWORK', `the stream was closed (${code} ${reason})`.trim(), {
      closeCode: code,
    });
    this.#lost(error, true);
  }

  /** @param mayPass whether another connection may succeed */
  #lost(error: HexcodesClientError, mayPass: boolean, retryAfterSec?: number): void {
    clearTimeout(this.#answerTimer);
    this.#socket = undefined;
    this.#isReady = false;
    this.#credit.lose();
    if (this.#hasEnded) return;
    // An idle connection may end: the next frame opens a new one.
    if (mayPass && this.#credit.unanswered === 0) return;
    this.#attempts++;
    if (!mayPass || this.#attempts >= this.#settings.maxAttempts) {
      this.#events.failed(error);
      return;
    }
    this.#flushAfter(Math.max(pauseMs(this.#attempts), (retryAfterSec ?? 0) * 1000));
  }

  #flushAfter(delayMs: number): void {
    if (this.#retryTimer !== undefined) return;
    this.#retryTimer = setTimeout(
      () => {
        this.#retryTimer = undefined;
        this.#guard(() => this.flush());
      },
      Math.max(1, delayMs),
    );
  }

  #restartAnswerTimer(): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = setTimeout(() => {
      if (this.#socket === undefined || (this.#isReady && this.#credit.sent === 0)) return;
      this.#socket.drop();
      const ms = this.#settings.answerTimeoutMs;
      this.#lost(new HexcodesClientError('TIMEOUT', `no answer from the service for ${ms} ms`), true);
    }, this.#settings.answerTimeoutMs);
  }

  /** Errors thrown in callbacks of sockets and timers end the stream; otherwise they would be lost. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.#events.failed(
        cause instanceof HexcodesClientError
          ? cause
          : new HexcodesClientError('PROTOCOL', 'the stream could not be read', { cause }),
      );
    }
  }
}

export interface StreamSettings<In> extends ConnectionSettings {
  /** Cuts one written chunk into request frames of at most `maxPoints` points. */
  readonly frames: (chunk: In, maxPoints: number) => Iterable<RequestFrame>;
  readonly framePoints: number;
  readonly signal: AbortSignal | undefined;
}

export class HexcodesStream<In, Out extends StreamAnswers> implements AsyncIterable<Out> {
  /**
   * The writable side for points. A write resolves once the service's window has space for its frames: this is the
   * backpressure.
   */
  readonly writable: WritableStream<In>;
  /** The readable side for answers, one chunk a frame, in the order of the points. */
  readonly readable: ReadableStream<Out>;

  readonly #settings: StreamSettings<In>;
  readonly #credit = new StreamCredit();
  readonly #connection: StreamConnection;
  /** The writer has closed. */
  #hasLastFrame = false;
  #failure: HexcodesClientError | undefined;
  /** Wakes all waiters of `#change`. */
  #waiting: (() => void)[] = [];
  #readableController!: ReadableStreamDefaultController<Out>;
  #writableController!: WritableStreamDefaultController;
  readonly #onAbort = (): void => this.#fail(new HexcodesClientError('ABORTED', 'the stream was aborted'));

  constructor(settings: StreamSettings<In>) {
    this.#settings = settings;
    this.#connection = new StreamConnection(settings, this.#credit, {
      answered: () => this.#notify(),
      failed: (error) => this.#fail(error),
    });
    this.readable = new ReadableStream<Out>(
      {
        start: (controller) => {
          this.#readableController = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#fail(new HexcodesClientError('ABORTED', 'the reader left the stream')),
      },
      { highWaterMark: 0 },
    );
    this.writable = new WritableStream<In>({
      start: (controller) => {
        this.#writableController = controller;
      },
      write: (chunk) => this.#write(chunk),
      close: () => this.#close(),
      abort: () => this.#fail(new HexcodesClientError('ABORTED', 'the writer left the stream')),
    });
    if (settings.signal?.aborted) this.#onAbort();
    else settings.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Number of reconnections. */
  get reconnections(): number {
    return this.#connection.reconnections;
  }

  /** Writes every chunk of a source and then closes the writable side; errors surface at the readable side. */
  async pump(source: Iterable<In> | AsyncIterable<In>): Promise<void> {
    const writer = this.writable.getWriter();
    // The readable side reports the same error; unhandled here, it would end the process.
    writer.closed.catch(() => {});
    try {
      for await (const chunk of source) await writer.write(chunk);
      await writer.close();
    } catch (cause) {
      const error =
        cause instanceof HexcodesClientError
          ? cause
          : new HexcodesClientError('ABORTED', 'the source of points failed', { cause });
      this.#fail(error);
    } finally {
      writer.releaseLock();
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<Out, void, undefined> {
    return loopOver(this.readable);
  }

  async #write(chunk: In): Promise<void> {
    const maxPoints = Math.min(this.#settings.framePoints, this.#credit.limits.maxPoints);
    for (const { frame, points } of this.#settings.frames(chunk, maxPoints)) {
      while (!this.#failure && !this.#credit.hasSpace(frame.length)) await this.#change();
      if (this.#failure) throw this.#failure;
      this.#credit.write(frame, points);
      this.#connection.flush();
    }
  }

  async #pull(): Promise<void> {
    for (;;) {
      // A controller in error accepts no chunk.
      if (this.#failure) return;
      const answers = this.#credit.take();
      if (answers !== undefined) {
        this.#notify();
        this.#readableController.enqueue(answers as Out);
        return;
      }
      if (this.#hasLastFrame && this.#credit.pending === 0) {
        this.#end();
        this.#readableController.close();
        return;
      }
      await this.#change();
    }
  }

  /** Resolves when every frame is answered, so that closing the writable side waits for all answers. */
  async #close(): Promise<void> {
    this.#hasLastFrame = true;
    this.#notify();
    while (!this.#failure && this.#credit.unanswered > 0) await this.#change();
    if (this.#failure) throw this.#failure;
  }

  #fail(error: HexcodesClientError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#end();
    this.#notify();
    try {
      this.#readableController.error(error);
    } catch {
      // Closed before, when the last answer was taken.
    }
    this.#writableController.error(error);
  }

  #end(): void {
    this.#settings.signal?.removeEventListener('abort', this.#onAbort);
    this.#connection.end();
  }

  /**
   * Resolves at the next `#notify`: an answer has come or was taken, the writer has closed, or the stream has failed.
   */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
