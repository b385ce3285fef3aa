// One connection of the stream, apart from its socket: answers frames in order, small ones by the kernel of this
// thread, large ones by the pool, one at a time. Frames queue while the pool is busy and under backpressure, so that
// uWS buffers little; the window (docs/stream.md) bounds the queue. A frame is unanswered until its answer has left
// the buffer of uWS.
import { MAX_FRAME_BYTES } from '../../hexcodes/wire/limits.js';
import { OVER_QUOTA_MESSAGE } from '../../hexcodes/wire/status-messages.js';
import { StreamCounts, type StreamTraffic } from '../metrics/stream-counts.js';
import { type FrameAnswerer, OVER_QUOTA } from './frame-answerer.js';
import { PeerClock, type StreamTimes } from './peer-clock.js';
import { FrameWindow, READY_FRAME, WINDOW_BYTES, WINDOW_FRAMES } from './window.js';

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

/** Counts what the session holds (server/budget): `hold` returns a reason if that is too much. */
export interface SessionAccount {
  hold(bytes: number): string | undefined;
}

export class StreamSession {
  readonly #peer: StreamPeer;
  readonly #answerer: FrameAnswerer;
  readonly #account: SessionAccount;
  readonly #onClose: () => void;
  /** Frames that wait, copied out of the memory of uWS. */
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** The pool answers a frame; those behind it wait. */
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

  constructor(
    peer: StreamPeer,
    answerer: FrameAnswerer,
    account: SessionAccount,
    nowMs: number,
    onClose: () => void,
    counts = new StreamCounts(),
  ) {
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
   * Takes a message of the peer, valid during this call only.
   * @param mustWait the peer has had its share of this turn of the event loop: the answer is left to the next
   */
  take(message: ArrayBuffer, isBinary: boolean, nowMs: number, mustWait = false): void {
    if (this.#isClosed || this.#isStopping || this.#isOverWindow) return;
    this.#clock.frame(nowMs);
    if (isBinary !== this.#answerer.isBinary) {
      const kind = this.#answerer.isBinary ? 'binary' : 'text';
      this.close(1003, `this subprotocol has ${kind} frames`);
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
   * Answers what waits, as far as it can be, in the next turn of the event loop. uWS does not call `drain` for bytes
   * that it sends at the end of a callback (transport/README U31).
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
    this.#queue = [];
    this.#onClose();
  }

  /** Frames whose answers have not been sent. */
  get #pending(): number {
    return this.#queue.length + (this.#isPoolBusy ? 1 : 0);
  }

  #enqueue(frame: Uint8Array): void {
    this.#queuedBytes += frame.length;
    if (this.#mayHold()) this.#queue.push(frame.slice());
  }

  /**
   * Says how many bytes are held: of frames that wait, and of answers that the socket has not taken. Closes the
   * connection if they are too many. A frame that has not come whole is in the memory of uWS and cannot be seen.
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
    }
    this.#mayHold();
    this.#closeIfStopped();
  }

  #send(message: string | Uint8Array, isBinary: boolean): void {
    const wasBuffered = this.#peer.getBufferedAmount();
    const outcome = this.#peer.send(message, isBinary);
    this.window.sent(message.length, typeof message !== 'string');
    this.#counts.addSent(this.traffic, message.length);
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

  /** Not while uWS holds bytes: nobody would see whether they leave. */
  #closeIfStopped(): void {
    if (!this.#isStopping || this.#isClosed || this.#pending > 0) return;
    if (this.#peer.getBufferedAmount() === 0) this.close(1012, 'restarting');
  }
}
