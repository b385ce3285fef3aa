// The layout of binary frames, for writers and readers (docs/stream.md defines it to the byte), and the limits of one
// frame and one batch: the service rejects more, and clients cut their requests accordingly.
import { RECORD_BYTES } from '../kernel/output-layout.js';

export * from '../kernel/output-layout.js';

//   0  u8  version                 4  u32 seq                  16  request: points or records
//   1  u8  operation               8  u32 count                    answer: as output-layout.ts has it
//   2  u8  resolution / status    12  u32 0 / failed points
//   3  u8  output
//
// All numbers are little-endian, as are typed arrays on every machine that runs today's JavaScript engines.

export const FRAME_HEADER_BYTES = 16;
export const FRAME_VERSION = 1;

/** Operations. */
export const FRAME_ENCODE = 1;
export const FRAME_DECODE = 2;

/** Outputs of encode. */
export const FRAME_TEXT = 0;
export const FRAME_CELLS = 1;

/** Statuses of an answer. */
export const FRAME_OK = 0;
export const FRAME_BAD = 1;
export const FRAME_OVER_LIMIT = 2;
export const FRAME_OVERLOADED = 3;

/** Items of a JSON batch. */
export const MAX_BATCH_ITEMS = 10_000;
/** Bytes of the body of a JSON batch. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** Points of a frame of the stream. */
export const MAX_FRAME_POINTS = 65_536;
/** Bytes of a frame: those of a decode request, whose points are the longest. */
export const MAX_FRAME_BYTES = FRAME_HEADER_BYTES + MAX_FRAME_POINTS * RECORD_BYTES;
