// One connection of the stream, apart from its socket: answers frames in order, small ones by the kernel of this
// thread, large ones by the pool, one at a time. Frames queue while the pool is busy and under backpressure, so that
// uWS buffers little; the window (docs/stream.md) bounds the queue. A frame is unanswered until its answer has left
// the buffer of uWS.

import { OVER_QUOTA_MESSAGE } from '../../hexcodes/wire/job.js';
import { MAX_FRAME_BYTES, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { StreamCounts, type StreamTraffic } from '../observe/metrics/request-counts.js';
import { keptMemory } from '../transport/request-body.js';

export interface StreamTimes {
  /** Time without a frame after which the connection is closed with 1001. */
  readonly idleMs: number;
  /** Time without a frame or a pong after which a ping is sent. */
  readonly pingMs: number;
  /**
   * Time without a pong after which the connection is closed with 1001: the largest frame at 20 kB a second takes less.
   */
  readonly pongMs: number;
  /** Time without a taken byte of buffered answers after which it is closed with 1013. */
  readonly noProgressMs: number;
}

export const STREAM_TIMES: StreamTimes = {
  idleMs: 600_000,
  pingMs: 30_000,
  pongMs: 70_000,
  noProgressMs: 30_000,
};

type Due = 'stalled' | 'idle' | 'hanging' | 'ping' | undefined;

/**
 * When the peer of a stream last sent a frame, answered a ping and accepted bytes of its answers, and the steps that
 * are due. A peer whose frame is incomplete cannot be told from an idle one, but it cannot answer a ping either:
 * inside a frame its pong is payload (transport/README U34).
 */
export class PeerClock {
  #frameMs: number;
  /** Time of the last frame or pong. */
  #heardMs: number;
  /** Time of a ping that has no pong. */
  #pingMs: number | undefined;
  #progressMs: number;
  #bufferedBytes = 0;

  constructor(nowMs: number) {
    this.#frameMs = nowMs;
    this.#heardMs = nowMs;
    this.#progressMs = nowMs;
  }

  /** A whole frame has come. */
  frame(nowMs: number): void {
    this.#frameMs = nowMs;
    this.pong(nowMs);
  }

  pong(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#pingMs = undefined;
  }

  /** Notes the number of buffered bytes of answers: fewer than before are progress. */
  buffered(bytes: number, nowMs: number): void {
    if (bytes < this.#bufferedBytes || this.#bufferedBytes === 0) this.#progressMs = nowMs;
    this.#bufferedBytes = bytes;
  }

  /**
   * The step that is due now; 'ping' once for each ping. While an answer is owed, or buffered, the peer may be silent.
   * @param isOwed frames wait for their answers
   */
  due(nowMs: number, isOwed: boolean, times: StreamTimes): Due {
    if (nowMs - this.#progressMs >= times.noProgressMs) return 'stalled';
    if (isOwed || this.#bufferedBytes > 0) return undefined;
    if (nowMs - this.#frameMs >= times.idleMs) return 'idle';
    if (this.#pingMs !== undefined) return nowMs - this.#pingMs >= times.pongMs ? 'hanging' : undefined;
    if (nowMs - this.#heardMs < times.pingMs) return undefined;
    this.#pingMs = nowMs;
    return 'ping';
  }
}

const WINDOW_FRAMES = 16;
export const WINDOW_BYTES = 4 * 1024 * 1024;

export const READY_FRAME = JSON.stringify({
  type: 'ready',
  format: 1,
  max_frame_bytes: MAX_FRAME_BYTES,
  max_points: MAX_FRAME_POINTS,
  window: WINDOW_FRAMES,
  window_bytes: WINDOW_BYTES,
});

/** Bytes of a WebSocket frame of the server, header included: it has no mask (RFC 6455, 5.2). */
function wireBytes(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

class FrameWindow {
  /** Oldest first: when each frame came, and its size. */
  readonly #arrivedMs: number[] = [];
  readonly #sizes: number[] = [];
  bytes = 0;
  /** Where each buffered answer ends, in bytes sent since the connection was opened. */
  readonly #bufferedEnds: number[] = [];
  #sentBytes = 0;

  /** @param answered called with the time from the arrival of a frame until its answer was sent */
  constructor(private readonly answered: (ms: number) => void) {}

  get frames(): number {
    return this.#sizes.length;
  }

  /** Takes a frame; false if more is unanswered than may be. One frame is always allowed. */
  take(sizeBytes: number, nowMs: number): boolean {
    this.#arrivedMs.push(nowMs);
    this.#sizes.push(sizeBytes);
    this.bytes += sizeBytes;
    return this.frames === 1 || (this.frames <= WINDOW_FRAMES && this.bytes <= WINDOW_BYTES);
  }

  /** Notes a message handed to the socket; `isAnswer`: to the oldest unanswered frame. */
  sent(sizeBytes: number, isAnswer: boolean): void {
    this.#sentBytes += wireBytes(sizeBytes);
    if (isAnswer) this.#bufferedEnds.push(this.#sentBytes);
  }

  /** Counts frames as answered whose answers are not among the bytes that the socket still holds. */
  settle(heldBytes: number): void {
    const leftBytes = this.#sentBytes - heldBytes;
    if (this.#bufferedEnds.length === 0 || this.#bufferedEnds[0]! > leftBytes) return;
    const nowMs = performance.now();
    while (this.#bufferedEnds.length > 0 && this.#bufferedEnds[0]! <= leftBytes) {
      this.#bufferedEnds.shift();
      this.bytes -= this.#sizes.shift()!;
      this.answered(nowMs - this.#arrivedMs.shift()!);
    }
  }
}

/** In place of an answer: the quota of the key does not cover the frame. */
export const OVER_QUOTA = Symbol('over quota');

/** Answers the frames of one subprotocol. */
export interface FrameAnswerer {
  readonly isBinary: boolean;
  /** Whether a frame is small enough to be answered in the uWS callback. */
  isSmall(frame: Uint8Array): boolean;
  /**
   * The answer to a small frame, valid until the next call; undefined if the frame is more work than its size
   * suggests.
   */
  answerNow(frame: Uint8Array): Uint8Array | typeof OVER_QUOTA | undefined;
  /**
   * The answer to any other frame, which is copied before this returns. If the pool is full, or workers die over the
   * frame, the answer asks the peer to send it again.
   */
  answerLater(frame: Uint8Array): Promise<Uint8Array | typeof OVER_QUOTA>;
  /** Takes back the answer to a large frame once it is sent: the socket has copied its unsent part. */
  giveBack(answer: Uint8Array): void;
}

/** After backpressure the next answer is sent once fewer bytes than these are buffered. */
const LOW_WATER_BYTES = 64 * 1024;

/** The socket, as far as a session uses it. */
export interface StreamPeer {
  /** 1 sent, 0 buffered: backpressure, 2 dropped. */
  send(message: string | Uint8Array, isBinary: boolean): 0 | 1 | 2;
  getBufferedAmount(): number;
  ping(): void;
  end(code: number, reason: string): void;
}

/**
 * Accounts for the bytes of the session (server/transport/limits.ts): `hold` returns a reason if they are too many.
 */
export interface SessionAccount {
  hold(bytes: number): string | undefined;
}

interface SessionParts {
  readonly peer: StreamPeer;
  readonly answerer: FrameAnswerer;
  readonly account: SessionAccount;
  readonly nowMs: number;
  readonly onClose: () => void;
  readonly counts?: StreamCounts;
}

export class StreamSession {
  readonly #peer: StreamPeer;
  readonly #answerer: FrameAnswerer;
  readonly #account: SessionAccount;
  readonly #onClose: () => void;
  /** Frames that wait, copied out of the memory of uWS. */
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** The pool answers a frame; those after it wait. */
  #isPoolBusy = false;
  /** An answer met backpressure, and the buffer is not yet below LOW_WATER_BYTES. */
  #hasBackpressure = false;
  #isCheckDue = false;
  /** More was unanswered than the window allows; the connection closes in the next turn. */
  #isOverWindow = false;
  #isStopping = false;
  #isClosed = false;

  /** Traffic of this connection. */
  readonly traffic: StreamTraffic = { frames: 0, bytesIn: 0, bytesOut: 0 };
  readonly window: FrameWindow;
  /** Code of the closing frame that was sent first, if the service closes the connection. */
  closeCode: number | undefined;
  readonly #counts: StreamCounts;
  readonly #clock: PeerClock;

  constructor({ peer, answerer, account, nowMs, onClose, counts = new StreamCounts() }: SessionParts) {
    this.#counts = counts;
    this.window = new FrameWindow((ms) => counts.latency.add(ms));
    this.#peer = peer;
    this.#answerer = answerer;
    this.#account = account;
    this.#onClose = onClose;
    this.#clock = new PeerClock(nowMs);
    this.#send(READY_FRAME, false);
  }

  /**
   * Handles a message of the peer, valid during this call only.
   * @param mustWait the peer has had its share of this turn of the event loop: the answer waits for the next turn
   */
  take(message: ArrayBuffer, isBinary: boolean, nowMs: number, mustWait = false): void {
    if (this.#isClosed || this.#isStopping || this.#isOverWindow) return;
    this.#clock.frame(nowMs);
    if (isBinary !== this.#answerer.isBinary) {
      const [own, other] = this.#answerer.isBinary ? ['binary', 'json'] : ['text', 'binary'];
      this.close(1003, `this subprotocol has ${own} frames; hexcodes.v1.${other} has the others`);
      return;
    }
    if (message.byteLength > MAX_FRAME_BYTES) {
      this.close(1009, `a frame has at most ${MAX_FRAME_BYTES} bytes`);
      return;
    }
    this.#settle();
    this.#counts.add(this.traffic, message.byteLength);
    if (!this.window.take(message.byteLength, nowMs)) {
      this.#closeOverWindow();
      return;
    }
    const frame = new Uint8Array(message);
    if (mustWait || this.#hasBackpressure) this.#checkSoon();
    const isBehindOthers = this.#isPoolBusy || this.#hasBackpressure || this.#queue.length > 0;
    if (mustWait || isBehindOthers) this.#enqueue(frame);
    else this.#answer(frame);
  }

  /** The socket has sent some or all of what was buffered. */
  drained(nowMs: number): void {
    if (this.#isClosed) return;
    this.#clock.buffered(this.#peer.getBufferedAmount(), nowMs);
    this.#settle();
    if (this.#hasBackpressure && this.#peer.getBufferedAmount() < LOW_WATER_BYTES) {
      this.#hasBackpressure = false;
      this.#answerQueued();
    }
    this.#closeIfStopped();
  }

  /**
   * Answers waiting frames in the next turn of the event loop. uWS does not call `drain` for bytes that it sends at
   * the end of a callback (transport/README U31).
   */
  #checkSoon(): void {
    if (this.#isCheckDue) return;
    this.#isCheckDue = true;
    setImmediate(() => {
      this.#isCheckDue = false;
      this.drained(performance.now());
      this.#answerQueued();
    });
  }

  /**
   * In the next turn: until then the transport counts what the peer goes on sending, and closes the socket of a flood.
   */
  #closeOverWindow(): void {
    this.#isOverWindow = true;
    setImmediate(() =>
      this.close(4003, `at most ${WINDOW_FRAMES} frames and ${WINDOW_BYTES} bytes may be unanswered`),
    );
  }

  /** The peer has answered a ping. */
  pong(nowMs: number): void {
    this.#clock.pong(nowMs);
  }

  /** Called every second or so: closes the connection if it is idle or stalled, and sends pings. */
  sweep(nowMs: number, times: StreamTimes): void {
    if (this.#hasBackpressure || this.#isStopping) this.drained(nowMs);
    if (this.#isClosed) return;
    this.#clock.buffered(this.#peer.getBufferedAmount(), nowMs);
    const due = this.#clock.due(nowMs, this.#pending > 0, times);
    if (due === 'stalled') this.close(1013, 'the answers are not taken');
    else if (due === 'idle') this.close(1001, 'no frame for too long');
    else if (due === 'hanging') this.close(1001, 'no answer to a ping');
    else if (due === 'ping') this.#peer.ping();
  }

  /** Takes no more frames, and closes with 1012 once the accepted ones are answered. */
  stop(): void {
    this.#isStopping = true;
    this.#checkSoon();
  }

  /** Closes the connection; frames that are unanswered stay so. */
  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.closeCode = code;
    this.gone();
    this.#peer.end(code, reason);
  }

  /** The socket is closed. */
  gone(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const frame of this.#queue) keptMemory.giveBack(frame);
    this.#queue = [];
    this.#onClose();
  }

  /** Frames whose answers have not been sent. */
  get #pending(): number {
    return this.#queue.length + (this.#isPoolBusy ? 1 : 0);
  }

  #enqueue(frame: Uint8Array): void {
    this.#queuedBytes += frame.length;
    if (this.#mayHold()) this.#queue.push(keptMemory.copyOf(frame));
  }

  /**
   * Reports the bytes held: of waiting frames, and of answers that the socket has not accepted. Closes the connection
   * if they are too many. An incomplete frame is in the memory of uWS and cannot be seen.
   */
  #mayHold(): boolean {
    if (this.#isClosed) return false;
    if (this.#account.hold(this.#queuedBytes + this.#peer.getBufferedAmount()) === undefined) return true;
    this.close(1013, 'too many bytes are held for this key or the service');
    return false;
  }

  #answer(frame: Uint8Array): void {
    const answerer = this.#answerer;
    const answer = answerer.isSmall(frame) ? answerer.answerNow(frame) : undefined;
    if (answer === OVER_QUOTA) this.#closeOverQuota();
    else if (answer !== undefined) this.#send(answer, answerer.isBinary);
    else {
      this.#isPoolBusy = true;
      void answerer.answerLater(frame).then((later) => this.#poolAnswered(later));
    }
  }

  #poolAnswered(answer: Uint8Array | typeof OVER_QUOTA): void {
    this.#isPoolBusy = false;
    if (this.#isClosed) return;
    if (answer === OVER_QUOTA) {
      this.#closeOverQuota();
      return;
    }
    this.#send(answer, this.#answerer.isBinary);
    this.#answerer.giveBack(answer);
    this.#answerQueued();
  }

  /** The answers to the frames before have been sent, and leave before the closing frame. */
  #closeOverQuota(): void {
    this.close(4002, OVER_QUOTA_MESSAGE);
  }

  #answerQueued(): void {
    while (!this.#isClosed && !this.#isPoolBusy && !this.#hasBackpressure && this.#queue.length > 0) {
      const frame = this.#queue.shift()!;
      this.#queuedBytes -= frame.length;
      this.#answer(frame);
      keptMemory.giveBack(frame);
    }
    this.#mayHold();
    this.#closeIfStopped();
  }

  #send(message: string | Uint8Array, isBinary: boolean): void {
    const wasBuffered = this.#peer.getBufferedAmount();
    const outcome = this.#peer.send(message, isBinary);
    // Text is the ready message, which answers no frame.
    const isAnswer = typeof message !== 'string';
    this.window.sent(message.length, isAnswer);
    if (isAnswer) this.#counts.addSent(this.traffic, message.length);
    if (outcome === 2) {
      // Never happens, as nothing is sent under backpressure; but a dropped answer must not pass for a sent one.
      this.close(1011, 'an answer was dropped');
      return;
    }
    if (outcome === 0) {
      this.#hasBackpressure = true;
      this.#checkSoon();
      const nowMs = performance.now();
      this.#clock.buffered(wasBuffered, nowMs);
      this.#clock.buffered(this.#peer.getBufferedAmount(), nowMs);
      this.#mayHold();
    }
    this.#settle();
  }

  /** Counts frames as answered whose answers have left the buffer. */
  #settle(): void {
    this.window.settle(this.#peer.getBufferedAmount());
  }

  /** Not while uWS holds bytes: nobody would see whether they are sent. */
  #closeIfStopped(): void {
    if (!this.#isStopping || this.#isClosed || this.#pending > 0) return;
    if (this.#peer.getBufferedAmount() === 0) this.close(1012, 'restarting');
  }
}
