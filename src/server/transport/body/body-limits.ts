// How the body of one request may come. uWS hands bytes on as long as the peer fills its receive buffer, also after
// `pause` (README U28), so a peer that sends without regard for others can only be cut off.
import type { Turns } from '../turns.js';

/**
 * Chunks of one body in one turn of the event loop. A receive buffer of 512 KiB holds 87,381 chunks of one byte; so
 * only a peer whose bytes fill the buffer at least twice in a row passes this.
 */
const CHUNKS_PER_TURN = 100_000;

export class BodyLimits {
  #turn = -1;
  #chunks = 0;
  #pastStopBytes = 0;

  constructor(
    private readonly turns: Turns,
    /** Bytes that may come while the reading is stopped. */
    private readonly maxPastStopBytes: number,
  ) {}

  /** Counts a chunk. Returns why the peer must be cut off, or undefined. */
  faultOf(sizeBytes: number, isReadingStopped: boolean): string | undefined {
    const turn = this.turns.number;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#chunks = 0;
    }
    if (++this.#chunks > CHUNKS_PER_TURN) return 'too many chunks of a body in one turn of the event loop';
    this.#pastStopBytes = isReadingStopped ? this.#pastStopBytes + sizeBytes : 0;
    return this.#pastStopBytes > this.maxPastStopBytes
      ? `the body brought ${this.#pastStopBytes} bytes while its reading was stopped`
      : undefined;
  }
}
