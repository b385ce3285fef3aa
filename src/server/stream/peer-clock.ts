// When the peer of a stream last sent a frame, answered a ping and took bytes of its answers, and what is due after a
// while. A peer whose frame does not come whole cannot be told from one that rests, but it cannot answer a ping either:
// inside a frame its pong is payload (transport/README U34).

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

  /** Takes note of how many bytes of answers are buffered: fewer than before are progress. */
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
