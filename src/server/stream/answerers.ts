// How frames of the two subprotocols are answered: small ones by the kernel of this thread, large ones by the pool.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import { ByteSink } from '../../wire/bytes/byte-sink.js';
import { answerFrame, frameCount, refusedFrame } from '../../wire/frames/answer-frame.js';
import { FRAME_OVERLOADED } from '../../wire/frames/frame-layout.js';
import { answerJsonFrame, overloadedJsonFrame } from '../../wire/rows/json-frame.js';
import { INLINE_JSON_BYTES, INLINE_POINTS } from '../offload.js';
import type { FrameAnswerer } from './session.js';

export function binaryAnswerer(kernel: Kernel, pool: Pool): FrameAnswerer {
  return {
    isBinary: true,
    isSmall: (frame) => frameCount(frame) <= INLINE_POINTS,
    // In the kernel's own memory: the socket copies what it cannot send at once.
    answerNow: (frame) => answerFrame(kernel, frame, kernel.textOut),
    answerLater: (frame) => pool.answerFrame(frame),
    giveBack: (answer) => pool.giveBack(answer),
    overloaded: (frame) => refusedFrame(frame, FRAME_OVERLOADED),
  };
}

export function jsonAnswerer(kernel: Kernel, pool: Pool): FrameAnswerer {
  const sink = new ByteSink();
  return {
    isBinary: false,
    isSmall: (frame) => frame.length <= INLINE_JSON_BYTES,
    answerNow: (frame) => answerJsonFrame(kernel, frame, sink),
    answerLater: (frame) => pool.answerJsonFrame(frame),
    giveBack: (answer) => pool.giveBack(answer),
    overloaded: overloadedJsonFrame,
  };
}
