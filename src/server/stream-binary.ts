// Binary frames of the stream: small ones by the kernel of this thread, large ones by the pool.
import type { Kernel } from '../kernel/kernel.js';
import type { Pool } from '../pool/pool.js';
import { answerFrame, FRAME_OVERLOADED, frameCount, refusedFrame } from '../wire/stream-frames.js';
import { INLINE_POINTS } from './inline.js';
import type { FrameAnswerer } from './stream-session.js';

/** Room for the largest answer of a small frame: header and 20 bytes a point. */
const ROOM_BYTES = 16 + INLINE_POINTS * 20;

export class BinaryFrames implements FrameAnswerer {
  readonly isBinary = true;
  readonly #kernel: Kernel;
  readonly #pool: Pool;
  /** Used for every small answer: the socket copies what it cannot send at once. */
  readonly #room = new Uint8Array(ROOM_BYTES);

  constructor(kernel: Kernel, pool: Pool) {
    this.#kernel = kernel;
    this.#pool = pool;
  }

  isSmall(frame: Uint8Array): boolean {
    return frameCount(frame) <= INLINE_POINTS;
  }

  answerNow(frame: Uint8Array): Uint8Array {
    return answerFrame(this.#kernel, frame, this.#room);
  }

  answerLater(frame: Uint8Array): Promise<Uint8Array> {
    return this.#pool.answerFrame(frame);
  }

  giveBack(answer: Uint8Array): void {
    this.#pool.giveBack(answer);
  }

  overloaded(frame: Uint8Array): Uint8Array {
    return refusedFrame(frame, FRAME_OVERLOADED);
  }
}
