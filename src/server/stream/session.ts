// One connection of the bulk stream, without its socket: takes frames, answers each of them in order, and keeps the
// peer to its window. A frame is unanswered until its answer has left the server's buffer.
//
//   message ─► small, nothing waits ─► kernel ─► send                     in the same tick
//          └─► queue ─► pool, one frame at a time ─► send ─► drain …      otherwise
//
// While the socket pushes back nothing more is converted: at most one answer lies in its buffer, and the frames
// behind it lie in the queue, which the window bounds.

import { MAX_FRAME_BYTES, MAX_FRAME_POINTS } from '../../wire/frames/answer-frame.js';

export const WINDOW_FRAMES = 16;
export const WINDOW_BYTES = 4 * 1024 * 1024;

export const READY_FRAME = JSON.stringify({
  type: 'ready',
  format: 1,
  max_frame_bytes: MAX_FRAME_BYTES,
  max_points: MAX_FRAME_POINTS,
  window: WINDOW_FRAMES,
  window_bytes: WINDOW_BYTES,
});

/** Buffered bytes below which a socket that pushed back is given more. */
const LOW_WATER_BYTES = 64 * 1024;

/** The socket as a session sees it. */
export interface StreamPeer {
  /** 1 sent, 0 buffered, 2 dropped. */
  send(message: string | Uint8Array, isBinary: boolean): 0 | 1 | 2;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
}

/** How frames are answered; one for each subprotocol. */
export interface FrameAnswerer {
  readonly isBinary: boolean;
  /** Whether this frame is small enough for the callback. */
  isSmall(frame: Uint8Array): boolean;
  /** The answer of a small frame; the frame is valid during the call only. */
  answerNow(frame: Uint8Array): Uint8Array;
  /** The answer of a large frame; it has copied the frame when it returns. Rejects when it cannot be answered. */
  answerLater(frame: Uint8Array): Promise<Uint8Array>;
  /** Takes back a large answer that was sent: the socket has its own copy of what it could not send. */
  giveBack(answer: Uint8Array): void;
  /** The answer that says "overloaded, send it again". */
  overloaded(frame: Uint8Array): Uint8Array;
}

export interface StreamTimes {
  /** No frame for so long: 1001. */
  readonly idleMs: number;
  /** Answers waiting and none taken for so long: 1013. */
  readonly noProgressMs: number;
}

export const STREAM_TIMES: StreamTimes = { idleMs: 600_000, noProgressMs: 30_000 };

/** Bytes of a frame on the wire, from the server: header without mask, then the payload. */
function wireBytes(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

export class StreamSession {
  readonly #peer: StreamPeer;
  readonly #answerer: FrameAnswerer;
  readonly #onClose: () => void;
  /** Frames that wait, copied out of the socket's memory. */
  #queue: Uint8Array[] = [];
  /** A frame is in the pool; those behind it wait. */
  #busy = false;
  /** The socket pushed back and has not drained yet. */
  #stalled = false;
  #isLookDue = false;
  #stopping = false;
  #closed = false;

  /** Frames not answered yet, or answered into the buffer: their sizes, oldest first. */
  #unanswered: number[] = [];
  #unansweredBytes = 0;
  /** Where the answers that lie in the buffer end, counted in bytes sent since the connection began. */
  #buffered: number[] = [];
  #sentBytes = 0;

  #lastFrameMs: number;
  #lastProgressMs = 0;
  #lastBufferedBytes = 0;

  constructor(peer: StreamPeer, answerer: FrameAnswerer, nowMs: number, onClose: () => void) {
    this.#peer = peer;
    this.#answerer = answerer;
    this.#onClose = onClose;
    this.#lastFrameMs = nowMs;
    this.#send(READY_FRAME, false);
  }

  /** A message from the peer; its bytes are valid during the call only. */
  take(message: ArrayBuffer, isBinary: boolean, nowMs: number): void {
    if (this.#closed || this.#stopping) return;
    this.#lastFrameMs = nowMs;
    if (isBinary !== this.#answerer.isBinary) {
      const due = this.#answerer.isBinary ? 'binary' : 'text';
      this.close(1003, `this subprotocol has ${due} frames`);
      return;
    }
    if (message.byteLength > MAX_FRAME_BYTES) {
      this.close(1009, `a frame has at most ${MAX_FRAME_BYTES} bytes`);
      return;
    }
    this.#settle();
    this.#unanswered.push(message.byteLength);
    this.#unansweredBytes += message.byteLength;
    const frames = this.#unanswered.length;
    if (frames > 1 && (frames > WINDOW_FRAMES || this.#unansweredBytes > WINDOW_BYTES)) {
      this.close(4003, `at most ${WINDOW_FRAMES} frames and ${WINDOW_BYTES} bytes may be unanswered`);
      return;
    }
    const frame = new Uint8Array(message);
    if (this.#stalled) this.#lookSoon();
    if (this.#busy || this.#stalled || this.#queue.length > 0) this.#queue.push(frame.slice());
    else this.#answer(frame);
  }

  /** The socket has room again, or at least less in its buffer. */
  drained(nowMs: number): void {
    if (this.#closed) return;
    this.#noteProgress(nowMs);
    this.#settle();
    if (this.#stalled && this.#peer.getBufferedAmount() < LOW_WATER_BYTES) {
      this.#stalled = false;
      this.#goOn();
    }
  }

  /** What the binary sends at the end of a callback of its own it tells nobody: `drained` may never be called for it. */
  #lookSoon(): void {
    if (this.#isLookDue) return;
    this.#isLookDue = true;
    setImmediate(() => {
      this.#isLookDue = false;
      this.drained(performance.now());
    });
  }

  /** Called every second or so: ends what is idle or does not get on. */
  sweep(nowMs: number, times: StreamTimes): void {
    if (this.#stalled) this.drained(nowMs);
    if (this.#closed) return;
    const bufferedBytes = this.#peer.getBufferedAmount();
    if (bufferedBytes === 0) this.#lastProgressMs = nowMs;
    else this.#noteProgress(nowMs);
    if (nowMs - this.#lastProgressMs >= times.noProgressMs) {
      this.close(1013, 'the answers are not taken');
    } else if (this.#pending === 0 && bufferedBytes === 0 && nowMs - this.#lastFrameMs >= times.idleMs) {
      this.close(1001, 'no frame for too long');
    }
  }

  /** Takes no more frames, and closes with 1012 once those accepted are answered. */
  stop(): void {
    this.#stopping = true;
    this.#closeIfStopped();
  }

  /** Ends the connection; what is unanswered stays so, and the code says why. */
  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.gone();
    this.#peer.end(code, reason);
  }

  /** The socket is closed. */
  gone(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue = [];
    this.#onClose();
  }

  /** Frames accepted and not yet handed to the socket. */
  get #pending(): number {
    return this.#queue.length + (this.#busy ? 1 : 0);
  }

  #answer(frame: Uint8Array): void {
    const answerer = this.#answerer;
    if (answerer.isSmall(frame)) {
      this.#send(answerer.answerNow(frame), answerer.isBinary);
      return;
    }
    this.#busy = true;
    const refusal = answerer.overloaded(frame);
    answerer.answerLater(frame).then(
      (answer) => this.#answered(answer),
      // The pool is full, or workers died over this frame: either way the peer may send it again.
      () => this.#answered(refusal),
    );
  }

  #answered(answer: Uint8Array): void {
    this.#busy = false;
    if (this.#closed) return;
    this.#send(answer, this.#answerer.isBinary);
    this.#answerer.giveBack(answer);
    this.#goOn();
  }

  #goOn(): void {
    while (!this.#closed && !this.#busy && !this.#stalled && this.#queue.length > 0) {
      this.#answer(this.#queue.shift()!);
    }
    this.#closeIfStopped();
  }

  #send(message: string | Uint8Array, isBinary: boolean): void {
    const before = this.#peer.getBufferedAmount();
    const outcome = this.#peer.send(message, isBinary);
    this.#sentBytes += wireBytes(message.length);
    if (typeof message !== 'string') this.#buffered.push(this.#sentBytes);
    if (outcome === 2) {
      // Cannot happen while we stop at 0; a lost answer must never pass for a sent one.
      this.close(1011, 'an answer was dropped');
      return;
    }
    if (outcome === 0) {
      this.#stalled = true;
      this.#lookSoon();
      if (before === 0) this.#lastProgressMs = performance.now();
      this.#lastBufferedBytes = this.#peer.getBufferedAmount();
    }
    this.#settle();
  }

  /** Counts as answered what has left the buffer. */
  #settle(): void {
    const leftBytes = this.#sentBytes - this.#peer.getBufferedAmount();
    while (this.#buffered.length > 0 && this.#buffered[0]! <= leftBytes) {
      this.#buffered.shift();
      this.#unansweredBytes -= this.#unanswered.shift()!;
    }
  }

  #noteProgress(nowMs: number): void {
    const bufferedBytes = this.#peer.getBufferedAmount();
    if (bufferedBytes < this.#lastBufferedBytes) this.#lastProgressMs = nowMs;
    this.#lastBufferedBytes = bufferedBytes;
  }

  #closeIfStopped(): void {
    if (this.#stopping && this.#pending === 0) this.close(1012, 'restarting');
  }
}
