// JSON frames of the stream: small ones by the kernel of this thread, large ones by the pool.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import { answerJsonFrame, overloadedJsonFrame } from '../../wire/rows/json-frame.js';
import { INLINE_JSON_BYTES } from '../offload.js';
import type { FrameAnswerer } from './session.js';

export class JsonFrames implements FrameAnswerer {
  readonly isBinary = false;
  readonly #kernel: Kernel;
  readonly #pool: Pool;

  constructor(kernel: Kernel, pool: Pool) {
    this.#kernel = kernel;
    this.#pool = pool;
  }

  isSmall(frame: Uint8Array): boolean {
    return frame.length <= INLINE_JSON_BYTES;
  }

  answerNow(frame: Uint8Array): Uint8Array {
    return answerJsonFrame(this.#kernel, frame);
  }

  answerLater(frame: Uint8Array): Promise<Uint8Array> {
    return this.#pool.answerJsonFrame(frame);
  }

  giveBack(answer: Uint8Array): void {
    this.#pool.giveBack(answer);
  }

  overloaded(frame: Uint8Array): Uint8Array {
    return overloadedJsonFrame(frame);
  }
}
