// The layout of binary frames, for both who writes and who reads them:
//
//   0  u8  version                 4  u32 seq                  16  request: points or records
//   1  u8  operation               8  u32 count                    answer: what the kernel answers (output-layout.ts)
//   2  u8  resolution / status    12  u32 0 / failed points
//   3  u8  output
//
// Little-endian, as every machine that runs a JavaScript engine of today.
export * from '../../kernel/output-layout.js';

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
