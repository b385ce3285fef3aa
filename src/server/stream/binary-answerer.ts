// Binary frames of the stream: small ones by the kernel of this thread, large ones by the pool.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import { answerFrame, FRAME_OVERLOADED, frameCount, refusedFrame } from '../../wire/frames/answer-frame.js';
import { INLINE_POINTS } from '../offload.js';
import type { FrameAnswerer } from './session.js';

export class BinaryFrames implements FrameAnswerer {
  readonly isBinary = true;
  readonly #kernel: Kernel;
  readonly #pool: Pool;

  constructor(kernel: Kernel, pool: Pool) {
    this.#kernel = kernel;
    this.#pool = pool;
  }

  isSmall(frame: Uint8Array): boolean {
    return frameCount(frame) <= INLINE_POINTS;
  }

  answerNow(frame: Uint8Array): Uint8Array {
    // In the kernel's own memory: the socket copies what it cannot send at once.
    return answerFrame(this.#kernel, frame, this.#kernel.textOut);
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
