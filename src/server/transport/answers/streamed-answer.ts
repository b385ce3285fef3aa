// An answer that is written piece by piece: the queue, the turns in which it is written, uncorked writes, and uWS's
// timeout, for answers of unknown length (chunked-answer.ts) and of known length (streamed-answer.ts).

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Uws, UwsApp, UwsResponse } from '../load-uws.js';

/**
 * Most bytes that `take` puts together from small pieces. With the head of the answer they fit uWS's cork (README U20).
 */
export const PACKED_BYTES = 15_000;

/** Small pieces are put together here. One buffer for all answers: uWS has copied its bytes when a write returns. */
const packed = Buffer.allocUnsafeSlow(PACKED_BYTES);

interface Piece {
  readonly bytes: Uint8Array;
  readonly sent: (() => void) | undefined;
}

/** The bytes of an answer that are not written yet, in the pieces in which they were queued. */
class PieceQueue {
  #pieces: Piece[] = [];
  /** How much of the first piece is taken. */
  #offsetBytes = 0;
  /** Bytes not taken yet. */
  sizeBytes = 0;
  /** Bytes of memory that the queue keeps: whole buffers, of which a piece may be a small part. */
  heldBytes = 0;
  /** Callbacks of pieces whose last byte is taken. */
  #sent: (() => void)[] = [];

  /** Adds bytes, which must not change until they are taken or `sent` is called. */
  push(bytes: Uint8Array, sent?: () => void): void {
    // Pieces of one buffer are queued one after the other.
    if (this.#pieces.at(-1)?.bytes.buffer !== bytes.buffer) this.heldBytes += bytes.buffer.byteLength;
    this.#pieces.push({ bytes, sent });
    this.sizeBytes += bytes.length;
  }

  /** The rest of the first piece. The queue must not be empty. */
  get first(): Uint8Array {
    return (this.#pieces[0] as Piece).bytes.subarray(this.#offsetBytes);
  }

  /**
   * Takes the next bytes, at least one and `maxBytes` at most: a part of a large piece where it lies, or a copy of
   * small pieces put together, valid until the next call.
   */
  take(maxBytes: number): Uint8Array {
    const { first } = this;
    const maxPackedBytes = Math.min(maxBytes, PACKED_BYTES);
    if (first.length >= maxPackedBytes) {
      const part = first.subarray(0, maxBytes);
      this.skip(part.length);
      return part;
    }
    let sizeBytes = 0;
    while (this.sizeBytes > 0 && sizeBytes < maxPackedBytes) {
      const part = this.first.subarray(0, maxPackedBytes - sizeBytes);
      packed.set(part, sizeBytes);
      sizeBytes += part.length;
      this.skip(part.length);
    }
    return packed.subarray(0, sizeBytes);
  }

  /** Takes that many bytes of the first piece. */
  skip(sizeBytes: number): void {
    const { bytes, sent } = this.#pieces[0] as Piece;
    this.sizeBytes -= sizeBytes;
    this.#offsetBytes += sizeBytes;
    if (this.#offsetBytes < bytes.length) return;
    this.#pieces.shift();
    if (this.#pieces[0]?.bytes.buffer !== bytes.buffer) this.heldBytes -= bytes.buffer.byteLength;
    this.#offsetBytes = 0;
    if (sent !== undefined) this.#sent.push(sent);
  }

  /** Removes the rest of these bytes, which were pushed last. Returns how many of them had been taken. */
  withdraw(bytes: Uint8Array): number {
    if (this.#pieces.at(-1)?.bytes !== bytes) return bytes.length;
    this.#pieces.pop();
    if (this.#pieces.at(-1)?.bytes.buffer !== bytes.buffer) this.heldBytes -= bytes.buffer.byteLength;
    const isFirst = this.#pieces.length === 0;
    const takenBytes = isFirst ? this.#offsetBytes : 0;
    if (isFirst) this.#offsetBytes = 0;
    this.sizeBytes -= bytes.length - takenBytes;
    return takenBytes;
  }

  /** Calls the callbacks of pieces that are taken entirely. Call it when the bytes taken last are written. */
  callSent(): void {
    for (const sent of this.#sent.splice(0)) sent();
  }

  clear(): void {
    this.#pieces = [];
    this.#offsetBytes = 0;
    this.sizeBytes = 0;
    this.heldBytes = 0;
  }
}

const HOST = '127.0.0.1';
const OPEN_TIMEOUT_MS = 2000;

/**
 * Makes uncorked writes possible: large ones must not go through uWS's cork, which may lose a part of them (README
 * U20), but uWS prints a warning for each write while no response is corked. Any response will do (README U21). So the
 * process opens a connection to itself with a request that is never answered, and corks that response while it writes
 * to others.
 */
export class CorkHolder {
  #app: UwsApp | undefined;
  #client: Socket | undefined;
  #res: UwsResponse | undefined;

  /** False before `open`, after `close`, and if the connection could not be made or is lost. */
  get isOpen(): boolean {
    return this.#res !== undefined;
  }

  /**
   * Makes the connection, over a port of 127.0.0.1 that is closed again once the connection is made or has failed.
   * Never rejects, and resolves within OPEN_TIMEOUT_MS: answers can do without it.
   */
  async open(uws: Uws): Promise<void> {
    const path = `/${randomBytes(16).toString('hex')}`;
    const app = uws.App();
    this.#app = app;
    await new Promise<void>((resolve) => {
      app.listen(HOST, 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listener) => {
        if (listener === false) {
          resolve();
          return;
        }
        let isDone = false;
        const done = (): void => {
          if (isDone) return;
          isDone = true;
          clearTimeout(timer);
          // Not earlier: closing the port closes connections that are not accepted yet.
          uws.us_listen_socket_close(listener);
          resolve();
        };
        const timer = setTimeout(done, OPEN_TIMEOUT_MS);
        app.get(path, (res) => {
          res.onAborted(() => {
            this.#res = undefined;
          });
          this.#res = res;
          done();
        });
        const client = connect(uws.us_socket_local_port(listener), HOST);
        this.#client = client;
        client.unref();
        client.on('connect', () => client.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`));
        client.on('error', done);
      });
    });
  }

  /** Runs `work`, in which writes to other responses are uncorked. Only while open, and never in a uWS callback. */
  runUncorked(work: () => void): void {
    if (this.#res === undefined) throw new Error('there is no connection whose response could be corked');
    this.#res.cork(work);
  }

  close(): void {
    this.#res = undefined;
    this.#client?.destroy();
    this.#app?.close();
    this.#app = undefined;
  }
}

/** Callbacks by which an answer informs its exchange. */
export interface AnswerHooks {
  /** Writes status line and headers; called in the cork of the first write. */
  readonly writeHead: () => void;
  /** `end` was called, perhaps before the whole body was received: if reading is stopped, it may resume. */
  readonly ending: () => void;
  /** The next write is the end of the answer, if the socket takes all of it. */
  readonly lastWrite: () => void;
  /** The socket has not taken all of the last write: another follows. */
  readonly notLastWrite: () => void;
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
    /** While it is not open, all writes are corked. */
    protected readonly corkHolder: Pick<CorkHolder, 'isOpen' | 'runUncorked'>,
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

  /** Call it when the last byte of the request's body has been received. */
  abstract setBodyEnded(): void;

  /** Call it when the reading of the body is stopped, and when it goes on. */
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

// Answer whose length is known before its first byte, because the whole body has been received: it has a Content-Length
// and no chunk headers. Outside a cork uWS buffers nothing of a write and reports how much the socket took; inside one
// it may report bytes as taken that it still buffers (README U23). So only the first write, with the head, is corked,
// and only if its bytes cannot stay in the cork's buffer; when the answer is complete, the socket has taken all of it.

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
