// How frames of the two subprotocols are answered: small ones by the kernel of this thread, large ones by the pool, in
// the turn of their key. Points over a limit of the key are refused before their work, and all others counted.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import {
  answerCounts,
  answerFrame,
  frameCount,
  framePoints,
  refusedFrame,
} from '../../hexcodes/wire/frames/answer-frame.js';
import { FRAME_OVER_LIMIT, FRAME_OVERLOADED, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { MIN_ITEM_BYTES } from '../../hexcodes/wire/rows/batch.js';
import { answerAllowed, overloadedJsonFrame } from '../../hexcodes/wire/rows/json-frame.js';
import type { Pool } from '../../pool/pool.js';
import { INLINE_JSON_BYTES, isInlineFrame, itemsAllowance } from '../http/offload.js';
import type { Entry } from '../ledger/ledger.js';
import { type LimitRefusal, WAIT } from '../ledger/rates.js';
import { type FrameAnswerer, OVER_QUOTA } from './session.js';

export function binaryAnswerer(
  kernel: Kernel,
  pool: Pool,
  keyId: string,
  entry: Entry | undefined,
): FrameAnswerer {
  /** Answers a frame whose points are refused. */
  const refused = (
    frame: Uint8Array,
    points: number,
    { kind }: LimitRefusal,
  ): Uint8Array | typeof OVER_QUOTA => {
    entry?.refuse(points);
    if (kind === 'quota') return OVER_QUOTA;
    return refusedFrame(frame, kind === 'rate' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED);
  };
  const settle = (reserved: number, answer: Uint8Array): void => {
    const { total, failed } = answerCounts(answer);
    entry?.done(total - failed, failed, reserved);
  };
  return {
    isBinary: true,
    isSmall: (frame) => isInlineFrame(frameCount(frame)),
    // In the kernel's own memory: the socket copies what it cannot send at once.
    answerNow: (frame) => {
      const points = framePoints(frame);
      const refusal = entry?.admit(points);
      if (refusal === WAIT) return undefined;
      if (refusal !== undefined) return refused(frame, points, refusal);
      const answer = answerFrame(kernel, frame, kernel.textOut);
      settle(points, answer);
      return answer;
    },
    answerLater: async (given) => {
      const points = framePoints(given);
      let frame = given;
      let refusal = entry?.admit(points);
      if (refusal === WAIT) {
        frame = given.slice();
        refusal = await (entry as Entry).whenAdmitted(points);
      }
      if (refusal !== undefined) return refused(frame, points, refusal);
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
  entry: Entry | undefined,
  sink: ByteSink,
): FrameAnswerer {
  /** Answers by the pool, with as many points as are reserved; a frame that has more comes again with its count. */
  const answerByPool = async (
    frame: Uint8Array,
    reserved: number,
    isBound: boolean,
  ): Promise<Uint8Array | typeof OVER_QUOTA> => {
    const answer = await pool.answerJsonFrame(frame, overloadedJsonFrame, keyId, reserved);
    const { bytes, total, failed, refused } = answer;
    if (isBound) entry?.doneWithin(reserved, total - failed, failed);
    else entry?.done(total - failed, failed, reserved);
    if (refused === 0 || entry === undefined) return bytes;
    const refusal = await entry.whenAdmitted(refused);
    if (refusal === undefined) return answerByPool(frame, refused, false);
    entry.refuse(refused);
    return refusal.kind === 'quota' ? OVER_QUOTA : bytes;
  };
  return {
    isBinary: false,
    isSmall: (frame) => frame.length <= INLINE_JSON_BYTES,
    // How many points a frame has is known only after it is read, so a bound is reserved.
    answerNow: (frame) => {
      const bound = maxPoints(frame);
      const reserved = entry?.admitUpTo(bound) ?? bound;
      if (typeof reserved !== 'number') return undefined;
      const answer = answerAllowed(kernel, frame, sink, itemsAllowance(), reserved);
      const { total, failed, refused } = answer ?? { total: 0, failed: 0, refused: 0 };
      entry?.doneWithin(reserved, total - failed, failed);
      return refused > 0 ? undefined : answer?.bytes;
    },
    answerLater: async (given) => {
      if (!pool.mayTakeBlock(keyId)) return overloadedJsonFrame(given);
      const bound = maxPoints(given);
      const reserved = entry?.admitUpTo(bound) ?? bound;
      if (reserved === bound) return answerByPool(given, reserved, true);
      const frame = given.slice();
      if (typeof reserved === 'number') return answerByPool(frame, reserved, true);
      const outcome = reserved === WAIT ? await (entry as Entry).whenAdmittedUpTo(bound) : reserved;
      if (typeof outcome === 'number') return answerByPool(frame, outcome, true);
      // Its answer names the frame, and the number of its points is counted.
      const { bytes, refused } = await pool.answerJsonFrame(frame, overloadedJsonFrame, keyId, 0);
      entry?.refuse(refused);
      // A frame without points, or that cannot be read, is answered whatever is left.
      return outcome.kind === 'quota' && refused > 0 ? OVER_QUOTA : bytes;
    },
    giveBack: (answer) => pool.giveBack(answer),
  };
}

function maxPoints(frame: Uint8Array): number {
  return Math.min(MAX_FRAME_POINTS, Math.floor(frame.length / MIN_ITEM_BYTES));
}
