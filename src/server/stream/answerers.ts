// How frames of the two subprotocols are answered: small ones by the kernel of this thread, large ones by the pool, in the
// turn of their key.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import type { ByteSink } from '../../wire/bytes/byte-sink.js';
import { answerFrame, frameCount, refusedFrame } from '../../wire/frames/answer-frame.js';
import { FRAME_OVERLOADED } from '../../wire/frames/frame-layout.js';
import { answerAllowed, overloadedJsonFrame } from '../../wire/rows/json-frame.js';
import { INLINE_JSON_BYTES, INLINE_POINTS, itemsAllowance } from '../offload.js';
import type { FrameAnswerer } from './session.js';

export function binaryAnswerer(kernel: Kernel, pool: Pool, keyId: string): FrameAnswerer {
  return {
    isBinary: true,
    isSmall: (frame) => frameCount(frame) <= INLINE_POINTS,
    // In the kernel's own memory: the socket copies what it cannot send at once.
    answerNow: (frame) => answerFrame(kernel, frame, kernel.textOut),
    answerLater: (frame) => {
      const refusal = refusedFrame(frame, FRAME_OVERLOADED);
      return pool.answerFrame(frame, keyId).catch(() => refusal);
    },
    giveBack: (answer) => pool.giveBack(answer),
  };
}

/** @param sink of all sessions: it is empty between two frames */
export function jsonAnswerer(kernel: Kernel, pool: Pool, keyId: string, sink: ByteSink): FrameAnswerer {
  return {
    isBinary: false,
    isSmall: (frame) => frame.length <= INLINE_JSON_BYTES,
    answerNow: (frame) => answerAllowed(kernel, frame, sink, itemsAllowance()),
    answerLater: async (frame) =>
      pool.mayTakeBlock(keyId)
        ? pool.answerJsonFrame(frame, overloadedJsonFrame, keyId)
        : overloadedJsonFrame(frame),
    giveBack: (answer) => pool.giveBack(answer),
  };
}
