// The window of one connection (docs/stream.md): the frames that are unanswered, from their arrival until their answers
// have left the buffer of uWS. Says when the peer has passed it, and how long the answers took.
import { MAX_FRAME_BYTES, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';

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

/** Bytes of a WebSocket frame of the server, header included: it has no mask (RFC 6455, 5.2). */
function wireBytes(payloadBytes: number): number {
  return payloadBytes + (payloadBytes < 126 ? 2 : payloadBytes < 65_536 ? 4 : 10);
}

export class FrameWindow {
  /** Oldest first: when each frame came, and its size. */
  readonly #arrivedMs: number[] = [];
  readonly #sizes: number[] = [];
  #bytes = 0;
  /** Where each buffered answer ends, in bytes sent since the connection was opened. */
  readonly #bufferedEnds: number[] = [];
  #sentBytes = 0;

  /** @param answered called with the time from the arrival of a frame until its answer has left */
  constructor(private readonly answered: (ms: number) => void) {}

  get frames(): number {
    return this.#sizes.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a frame; false if more is unanswered than may be. One frame is always allowed. */
  take(sizeBytes: number, nowMs: number): boolean {
    this.#arrivedMs.push(nowMs);
    this.#sizes.push(sizeBytes);
    this.#bytes += sizeBytes;
    return this.frames === 1 || (this.frames <= WINDOW_FRAMES && this.#bytes <= WINDOW_BYTES);
  }

  /** A message was handed to the socket; `isAnswer`: to the oldest frame that has none. */
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
      this.#bytes -= this.#sizes.shift()!;
      this.answered(nowMs - this.#arrivedMs.shift()!);
    }
  }
}
