// The most that one batch and one frame may hold: the service refuses more, and clients cut what they send by it.
import { FRAME_HEADER_BYTES, RECORD_BYTES } from './frames/frame-layout.js';

/** Items of a JSON batch. */
export const MAX_BATCH_ITEMS = 10_000;
/** Bytes of the body of a JSON batch. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** Points of a frame of the stream. */
export const MAX_FRAME_POINTS = 65_536;
/** Bytes of a frame: those of a decode request, whose points are the longest. */
export const MAX_FRAME_BYTES = FRAME_HEADER_BYTES + MAX_FRAME_POINTS * RECORD_BYTES;
