// The stream's protocol without sockets and timers: the frames that wait, are sent, are answered, in the order of the
// points, and the number that the service allows to be unanswered (docs/stream.md). The caller brings the time.
//
//   write → [ waiting | sent | answered ] → take        one queue, in the order of the points
//                        └─ lost connection, overload: back to waiting, to be sent again

import {
  FRAME_OK,
  FRAME_OVER_LIMIT,
  FRAME_OVERLOADED,
  MAX_FRAME_BYTES,
  MAX_FRAME_POINTS,
} from '../../wire/limits.js';
import { HexcodesClientError } from '../errors.js';
import { answersOf, type Bytes, readAnswer, type StreamAnswers, setSeq } from './frames.js';

/** The limits in the ready frame, which is the first on every connection. */
export interface StreamLimits {
  readonly maxFrameBytes: number;
  readonly maxPoints: number;
  readonly windowFrames: number;
  readonly windowBytes: number;
}

/** The limits of today's service, assumed until the first ready frame has come. */
export const USUAL_LIMITS: StreamLimits = {
  maxFrameBytes: MAX_FRAME_BYTES,
  maxPoints: MAX_FRAME_POINTS,
  windowFrames: 16,
  windowBytes: 4_194_304,
};

interface Entry {
  readonly seq: number;
  readonly frame: Bytes;
  readonly firstIndex: number;
  state: 'waiting' | 'sent' | 'answered';
  answers: StreamAnswers | undefined;
  /** Consecutive refusals (overloaded, over limit) of this frame. */
  refusals: number;
  /** Time before which a refused frame is not sent again. */
  notBeforeMs: number;
}

export class StreamCredit {
  limits: StreamLimits = USUAL_LIMITS;
  #queue: Entry[] = [];
  /**
   * Frames sent on the current connection and not answered, in the order in which they were sent, which is the order
   * of answers.
   */
  #sent: Entry[] = [];
  #queueBytes = 0;
  #sentBytes = 0;
  #nextSeq = 0;
  #nextIndex = 0;
  /** Time until which a limit of the key forbids sending. */
  #limitedUntilMs = 0;

  /**
   * Reads the ready frame of a connection.
   * @throws HexcodesClientError PROTOCOL where the peer is not a hexcodes service of this format
   */
  open(readyText: string): void {
    let ready: Record<string, unknown> = {};
    try {
      ready = JSON.parse(readyText) as Record<string, unknown>;
    } catch {
      // The check below rejects the empty object.
    }
    const numbers = ['max_frame_bytes', 'max_points', 'window', 'window_bytes'].map((name) => ready[name]);
    if (ready.type !== 'ready' || !numbers.every((n) => Number.isSafeInteger(n) && (n as number) > 0)) {
      throw new HexcodesClientError('PROTOCOL', 'the stream did not begin with a ready frame');
    }
    if (ready.format !== 1) {
      throw new HexcodesClientError(
        'PROTOCOL',
        `the service speaks format ${String(ready.format)}, this client 1`,
      );
    }
    const [maxFrameBytes, maxPoints, windowFrames, windowBytes] = numbers as number[];
    this.limits = {
      maxFrameBytes: maxFrameBytes!,
      maxPoints: maxPoints!,
      windowFrames: windowFrames!,
      windowBytes: windowBytes!,
    };
  }

  /** Handles a lost connection: its unanswered frames wait again, for the next connection. */
  lose(): void {
    for (const entry of this.#sent) entry.state = 'waiting';
    this.#sent = [];
    this.#sentBytes = 0;
  }

  /** Whether the window has space for a frame of this size; a frame leaves the window when its answers are taken. */
  hasSpace(frameBytes: number): boolean {
    return (
      this.#queue.length === 0 ||
      (this.#queue.length < this.limits.windowFrames &&
        this.#queueBytes + frameBytes <= this.limits.windowBytes)
    );
  }

  /** Queues a request frame; its seq is written here. */
  write(frame: Bytes, points: number): void {
    const seq = this.#nextSeq;
    this.#nextSeq = (seq + 1) >>> 0;
    setSeq(frame, seq);
    this.#queue.push({
      seq,
      frame,
      firstIndex: this.#nextIndex,
      state: 'waiting',
      answers: undefined,
      refusals: 0,
      notBeforeMs: 0,
    });
    this.#nextIndex += points;
    this.#queueBytes += frame.length;
  }

  /** The next frame to send, which counts as sent; undefined where none waits or the window is full. */
  send(nowMs: number): Bytes | undefined {
    if (nowMs < this.#limitedUntilMs) return undefined;
    const entry = this.#queue.find((e) => e.state === 'waiting' && e.notBeforeMs <= nowMs);
    if (entry === undefined) return undefined;
    const { windowFrames, windowBytes } = this.limits;
    const allowed =
      this.#sent.length === 0 ||
      (this.#sent.length < windowFrames && this.#sentBytes + entry.frame.length <= windowBytes);
    if (!allowed) return undefined;
    entry.state = 'sent';
    this.#sent.push(entry);
    this.#sentBytes += entry.frame.length;
    return entry.frame;
  }

  /** The earliest time at which a rejected frame may be sent again; undefined if none waits for a time. */
  pausedUntilMs(): number | undefined {
    const times = this.#queue.filter((e) => e.state === 'waiting' && e.notBeforeMs > 0);
    if (times.length === 0) return undefined;
    return Math.max(this.#limitedUntilMs, Math.min(...times.map((e) => e.notBeforeMs)));
  }

  /**
   * Processes an answer. A rejected frame keeps its position in the queue and is sent again after a pause. Over a
   * limit of the key the other frames wait as well, because they would be rejected, too.
   * @param pauseMs the pause after a number of consecutive rejections; undefined: no further attempt
   * @throws HexcodesClientError where the answer breaks the protocol, or the frame gets no further attempt
   */
  answer(
    bytes: Uint8Array,
    nowMs: number,
    pauseMs: (refusals: number, overLimit: boolean) => number | undefined,
  ): void {
    const header = readAnswer(bytes);
    const entry = this.#sent.shift();
    if (entry === undefined || entry.seq !== header.seq) {
      throw new HexcodesClientError(
        'PROTOCOL',
        `an answer names frame ${header.seq}, ${entry === undefined ? 'none' : `frame ${entry.seq}`} was due`,
      );
    }
    this.#sentBytes -= entry.frame.length;
    if (header.frameStatus === FRAME_OK) {
      const isShaped = header.operation === entry.frame[1] && header.output === entry.frame[3];
      if (!isShaped || header.count !== countOf(entry.frame)) {
        throw new HexcodesClientError('PROTOCOL', `the answer of frame ${entry.seq} is of another shape`);
      }
      entry.state = 'answered';
      entry.answers = answersOf(bytes, header, entry.firstIndex);
      return;
    }
    const overLimit = header.frameStatus === FRAME_OVER_LIMIT;
    if (!overLimit && header.frameStatus !== FRAME_OVERLOADED) {
      throw new HexcodesClientError('PROTOCOL', `the service calls frame ${entry.seq} malformed`);
    }
    entry.refusals++;
    const pause = pauseMs(entry.refusals, overLimit);
    if (pause === undefined) {
      throw overLimit
        ? new HexcodesClientError('OVER_QUERY_LIMIT', "the key's points limit is reached and stays reached")
        : new HexcodesClientError('UNAVAILABLE', 'the service is overloaded and stays overloaded');
    }
    entry.state = 'waiting';
    entry.notBeforeMs = nowMs + pause;
    if (overLimit) this.#limitedUntilMs = Math.max(this.#limitedUntilMs, entry.notBeforeMs);
  }

  /** The next answers in the order of the points; undefined until they have come. */
  take(): StreamAnswers | undefined {
    const head = this.#queue[0];
    if (head?.state !== 'answered') return undefined;
    this.#queue.shift();
    this.#queueBytes -= head.frame.length;
    return head.answers;
  }

  /** Frames whose answers are not taken yet. */
  get pending(): number {
    return this.#queue.length;
  }
  /** Frames that have no answer yet, sent or not. */
  get unanswered(): number {
    return this.#queue.reduce((n, e) => (e.state === 'answered' ? n : n + 1), 0);
  }
  /** Frames sent on the current connection and not answered. */
  get sent(): number {
    return this.#sent.length;
  }
}

function countOf(frame: Bytes): number {
  return new DataView(frame.buffer, frame.byteOffset).getUint32(8, true);
}
