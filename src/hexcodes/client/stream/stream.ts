// The stream as a pair of Web Streams: points are written, their answers are read in the same order. The
// connections between (connection.ts) may come and go: conversions are pure, so frames that a lost connection
// left unanswered are sent again, and every point is answered exactly once.

import { HexcodesClientError } from '../errors.js';
import { loopOver } from '../loop-over.js';
import { type ConnectionSettings, StreamConnection } from './connection.js';
import { StreamCredit } from './credit.js';
import type { RequestFrame, StreamAnswers } from './frames.js';

export interface StreamSettings<In> extends ConnectionSettings {
  /** Cuts one written chunk into request frames of at most `maxPoints` points. */
  readonly frames: (chunk: In, maxPoints: number) => Iterable<RequestFrame>;
  readonly framePoints: number;
  readonly signal: AbortSignal | undefined;
}

export class HexcodesStream<In, Out extends StreamAnswers> implements AsyncIterable<Out> {
  /** Points in. A write resolves once the service's window has room for its frames: this is the backpressure. */
  readonly writable: WritableStream<In>;
  /** Answers out, one chunk a frame, in the order of the points. */
  readonly readable: ReadableStream<Out>;

  readonly #settings: StreamSettings<In>;
  readonly #credit = new StreamCredit();
  readonly #connection: StreamConnection;
  /** The writer has closed. */
  #hasLastFrame = false;
  #failure: HexcodesClientError | undefined;
  /** Wakes everybody who waits in `#change`. */
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

  /** How often a connection was lost and opened again. */
  get reconnections(): number {
    return this.#connection.reconnections;
  }

  /** Writes every chunk of a source and then closes the writable side; errors surface at the readable side. */
  async pump(source: Iterable<In> | AsyncIterable<In>): Promise<void> {
    const writer = this.writable.getWriter();
    // The readable side reports the same error; unhandled here it would end the process.
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
      // A controller in error takes no further chunk.
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

  /** Resolves when every frame is answered, so that a closed writable side means answered points. */
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
      // Already closed: the last answer was taken.
    }
    this.#writableController.error(error);
  }

  #end(): void {
    this.#settings.signal?.removeEventListener('abort', this.#onAbort);
    this.#connection.end();
  }

  /** Resolves at the next `#notify`: an answer came or was taken, the writer closed, or the stream failed. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
