// How frames of the two subprotocols are answered: small ones by the kernel of this thread, large ones by the pool, in the
// turn of their key. Points over a limit of the key are refused before their work, and all others counted.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import { OPERATIONS } from '../../usage/operations.js';
import type { ByteSink } from '../../wire/bytes/byte-sink.js';
import {
  answerCounts,
  answerFrame,
  frameCount,
  framePoints,
  refusedFrame,
} from '../../wire/frames/answer-frame.js';
import { FRAME_OVER_LIMIT, FRAME_OVERLOADED } from '../../wire/frames/frame-layout.js';
import type { CountedAnswer } from '../../wire/rows/batch.js';
import { answerAllowed, overloadedJsonFrame } from '../../wire/rows/json-frame.js';
import type { KeyMeter } from '../limits/key-meter.js';
import { INLINE_JSON_BYTES, INLINE_POINTS, itemsAllowance } from '../offload.js';
import { type FrameAnswerer, OVER_QUOTA } from './frame-answerer.js';

const STREAM = OPERATIONS.indexOf('stream');

/** Is told how the points of each frame came out. */
export type CountPoints = (ok: number, failed: number) => void;

export function binaryAnswerer(
  kernel: Kernel,
  pool: Pool,
  keyId: string,
  meter: KeyMeter | undefined,
  count: CountPoints,
): FrameAnswerer {
  /** Reserves the points of a frame, or returns what answers it instead. */
  const refusalOf = (frame: Uint8Array): Uint8Array | typeof OVER_QUOTA | undefined => {
    if (meter === undefined || meter.isFree) return undefined;
    const points = framePoints(frame);
    const refusal = meter.admitPoints(points);
    if (refusal === undefined) return undefined;
    meter.refuse(STREAM, points);
    if (refusal.kind === 'quota') return OVER_QUOTA;
    return refusedFrame(frame, refusal.kind === 'rate' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED);
  };
  const settle = (reserved: number, answer: Uint8Array): void => {
    const { total, failed } = answerCounts(answer);
    count(total - failed, failed);
    meter?.settle(STREAM, reserved, total - failed, failed);
  };
  return {
    isBinary: true,
    isSmall: (frame) => frameCount(frame) <= INLINE_POINTS,
    // In the kernel's own memory: the socket copies what it cannot send at once.
    answerNow: (frame) => {
      const refusal = refusalOf(frame);
      if (refusal !== undefined) return refusal;
      const answer = answerFrame(kernel, frame, kernel.textOut);
      settle(framePoints(frame), answer);
      return answer;
    },
    answerLater: async (frame) => {
      const refusal = refusalOf(frame);
      if (refusal !== undefined) return refusal;
      const points = framePoints(frame);
      const overloaded = refusedFrame(frame, FRAME_OVERLOADED);
      const answer = await pool.answerFrame(frame, keyId).catch(() => overloaded);
      settle(points, answer);
      return answer;
    },
    giveBack: (answer) => pool.giveBack(answer),
  };
}

/** @param sink of all sessions: it is empty between two frames */
export function jsonAnswerer(
  kernel: Kernel,
  pool: Pool,
  keyId: string,
  meter: KeyMeter | undefined,
  count: CountPoints,
  sink: ByteSink,
): FrameAnswerer {
  const mostPoints = (): number => meter?.mostPoints() ?? Number.POSITIVE_INFINITY;
  /** Counts an answer, whose points are taken now: how many they are is known only after the frame is read. */
  const counted = ({ bytes, total, failed, refused }: CountedAnswer): Uint8Array | typeof OVER_QUOTA => {
    count(total - failed, failed);
    if (meter === undefined) return bytes;
    if (refused > 0) {
      meter.refuse(STREAM, refused);
      return meter.pointsRefusal(refused)?.kind === 'quota' ? OVER_QUOTA : bytes;
    }
    meter.reserve(total);
    meter.settle(STREAM, total, total - failed, failed);
    return bytes;
  };
  return {
    isBinary: false,
    isSmall: (frame) => frame.length <= INLINE_JSON_BYTES,
    answerNow: (frame) => {
      const answer = answerAllowed(kernel, frame, sink, itemsAllowance(), mostPoints());
      return answer && counted(answer);
    },
    answerLater: async (frame) =>
      pool.mayTakeBlock(keyId)
        ? counted(await pool.answerJsonFrame(frame, overloadedJsonFrame, keyId, mostPoints()))
        : overloadedJsonFrame(frame),
    giveBack: (answer) => pool.giveBack(answer),
  };
}
