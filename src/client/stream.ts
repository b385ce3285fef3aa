// The bulk stream: a writable side that takes points, a readable side that gives their answers in the same
// order, and between them connections that may come and go. Conversions are pure, so after a lost connection
// what was not answered is simply sent again; nothing is lost and nothing is answered twice.
import { StreamCredit } from './credit.js';
import { type ClientErrorCode, HexcodesClientError } from './errors.js';
import type { Bytes, StreamAnswers } from './frames.js';
import type { OpenSocket, StreamSocket } from './socket.js';

export interface StreamSettings<In> {
  readonly url: URL;
  readonly apiKey: string | undefined;
  readonly openSocket: OpenSocket;
  /** Cuts one written chunk into request frames of at most `maxPoints` points, with their counts. */
  readonly frames: (chunk: In, maxPoints: number) => Iterable<{ frame: Bytes; points: number }>;
  readonly framePoints: number;
  /** Attempts in a row without one answer after which the stream gives up. */
  readonly maxAttempts: number;
  /** With frames unanswered and nothing heard for so long, the peer counts as gone. */
  readonly answerTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 15_000;

/** Doubling, half of it by chance, so that a fleet does not come back all at once. */
function pauseMs(attempt: number): number {
  const full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return full / 2 + Math.random() * (full / 2);
}

/** Close codes after which the same connection would only be closed again, and how that reads. */
const FINAL_CLOSES: ReadonlyMap<number, [ClientErrorCode, string]> = new Map([
  [1002, ['PROTOCOL', 'the service saw a breach of the WebSocket protocol']],
  [1003, ['PROTOCOL', 'the service does not take binary frames here']],
  [1009, ['PROTOCOL', 'a frame was larger than the service takes']],
  [4001, ['REQUEST_DENIED', 'the key was revoked or disabled']],
  [4002, ['OVER_QUERY_LIMIT', "the key's quota is used up"]],
  [4003, ['PROTOCOL', 'the service counted more unanswered frames than it allows']],
]);

export class HexcodesStream<In, Out extends StreamAnswers> implements AsyncIterable<Out> {
  /** Points in. A write resolves when the chunk has its place in the window: that is the back-pressure. */
  readonly writable: WritableStream<In>;
  /** Answers out, one chunk for each frame, in the order of the points. */
  readonly readable: ReadableStream<Out>;

  readonly #settings: StreamSettings<In>;
  readonly #credit = new StreamCredit();
  #socket: StreamSocket | undefined;
  #ready = false;
  #attempts = 0;
  #reconnections = -1;
  #ended = false;
  #failure: HexcodesClientError | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;
  #changed: (() => void)[] = [];
  #readableController!: ReadableStreamDefaultController<Out>;
  #writableController!: WritableStreamDefaultController;
  readonly #onAbort = (): void => this.#fail(new HexcodesClientError('ABORTED', 'the stream was aborted'));

  constructor(settings: StreamSettings<In>) {
    this.#settings = settings;
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
      close: () => this.#finish(),
      abort: () => this.#fail(new HexcodesClientError('ABORTED', 'the writer left the stream')),
    });
    if (settings.signal?.aborted) this.#onAbort();
    else settings.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** How often a connection was lost and made again. */
  get reconnections(): number {
    return Math.max(0, this.#reconnections);
  }

  /** Writes every chunk of a source and ends the stream after it; errors surface at the readable side. */
  async pump(source: Iterable<In> | AsyncIterable<In>): Promise<void> {
    const writer = this.writable.getWriter();
    // Its news is the readable side's.
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

  async *[Symbol.asyncIterator](): AsyncGenerator<Out, void, undefined> {
    const reader = this.readable.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      // A loop that was left early ends the stream.
      await reader.cancel().catch(() => {});
      reader.releaseLock();
    }
  }

  async #write(chunk: In): Promise<void> {
    const maxPoints = Math.min(this.#settings.framePoints, this.#credit.limits.maxPoints);
    for (const { frame, points } of this.#settings.frames(chunk, maxPoints)) {
      while (!this.#failure && !this.#credit.hasRoom(frame.length)) await this.#change();
      if (this.#failure) throw this.#failure;
      this.#credit.write(frame, points);
      this.#flush();
    }
  }

  async #pull(): Promise<void> {
    for (;;) {
      // After a failure the controller is in error and nothing may follow.
      if (this.#failure) return;
      const answers = this.#credit.take();
      if (answers !== undefined) {
        this.#notify();
        this.#readableController.enqueue(answers as Out);
        return;
      }
      if (this.#ended && this.#credit.pending === 0) {
        this.#leave();
        this.#readableController.close();
        return;
      }
      await this.#change();
    }
  }

  // Everything is written; wait for the answers, so that a closed writable means answered points.
  async #finish(): Promise<void> {
    this.#ended = true;
    this.#notify();
    while (!this.#failure && this.#credit.unanswered > 0) await this.#change();
    if (this.#failure) throw this.#failure;
  }

  /** Sends what may be sent now, connecting first if need be. */
  #flush(): void {
    if (this.#failure) return;
    if (this.#socket === undefined) {
      if (this.#credit.unanswered > 0 && this.#retryTimer === undefined) this.#connect();
      return;
    }
    if (!this.#ready) return;
    for (let frame = this.#credit.send(Date.now()); frame; frame = this.#credit.send(Date.now())) {
      this.#socket.send(frame);
      this.#watchSilence();
    }
    const pausedUntilMs = this.#credit.pausedUntilMs();
    if (pausedUntilMs !== undefined) this.#retryAfter(pausedUntilMs - Date.now());
  }

  #connect(): void {
    const credit = this.#credit;
    this.#ready = false;
    this.#reconnections++;
    this.#socket = this.#settings.openSocket(this.#settings.url, this.#settings.apiKey, {
      text: (data) =>
        this.#guard(() => {
          if (this.#ready)
            throw new HexcodesClientError('PROTOCOL', 'the service sent text among the answers');
          credit.open(data);
          this.#ready = true;
          this.#flush();
        }),
      binary: (data) =>
        this.#guard(() => {
          this.#watchSilence();
          credit.answer(data, Date.now(), (refusals) =>
            refusals >= this.#settings.maxAttempts ? undefined : pauseMs(refusals),
          );
          this.#attempts = 0;
          this.#notify();
          this.#flush();
        }),
      closed: (code, reason) => this.#closed(code, reason),
      refused: (error) => {
        const passing =
          error.code === 'NETWORK' || error.code === 'UNAVAILABLE' || error.code === 'OVER_QUERY_LIMIT';
        this.#lost(error, passing, error.retryAfterSec);
      },
    });
    this.#watchSilence();
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

  #lost(error: HexcodesClientError, passing: boolean, retryAfterSec?: number): void {
    clearTimeout(this.#silenceTimer);
    this.#socket = undefined;
    this.#ready = false;
    this.#credit.lose();
    if (this.#failure) return;
    // Nobody waits: an idle connection that ends is no news. The next frame opens a new one.
    if (passing && this.#credit.unanswered === 0) return;
    this.#attempts++;
    if (!passing || this.#attempts >= this.#settings.maxAttempts) {
      this.#fail(error);
      return;
    }
    this.#retryAfter(Math.max(pauseMs(this.#attempts), (retryAfterSec ?? 0) * 1000));
  }

  #retryAfter(delayMs: number): void {
    if (this.#retryTimer !== undefined) return;
    this.#retryTimer = setTimeout(
      () => {
        this.#retryTimer = undefined;
        this.#guard(() => this.#flush());
      },
      Math.max(1, delayMs),
    );
  }

  #watchSilence(): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => {
      if (this.#socket === undefined || (this.#ready && this.#credit.sent === 0)) return;
      this.#socket.drop();
      const ms = this.#settings.answerTimeoutMs;
      this.#lost(new HexcodesClientError('TIMEOUT', `no answer from the service for ${ms} ms`), true);
    }, this.#settings.answerTimeoutMs);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.#fail(
        cause instanceof HexcodesClientError
          ? cause
          : new HexcodesClientError('PROTOCOL', 'the stream could not be read', { cause }),
      );
    }
  }

  #fail(error: HexcodesClientError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#leave();
    this.#notify();
    try {
      this.#readableController.error(error);
    } catch {
      // Already closed: the last answer was taken.
    }
    this.#writableController.error(error);
  }

  /** Ends timers and connection, with a goodbye where one is open. */
  #leave(): void {
    this.#settings.signal?.removeEventListener('abort', this.#onAbort);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    if (this.#socket === undefined) return;
    if (this.#ready) this.#socket.close(1000);
    else this.#socket.drop();
    this.#socket = undefined;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #notify(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const resolve of waiting) resolve();
  }
}
