// Finds where rows of CSV end, in bytes that come piece by piece: the grammar of scan-csv.ts without its fields.

import { LINE_FEED, QUOTE } from "../chars";

/** States between two pieces: a following quote opens a field, or continues it after a quote inside. */
const OPENS: u32 = 0;
/** A following quote is an ordinary character. */
const PLAIN: u32 = 1;
const QUOTED: u32 = 2;

/** Bytes that one call reads, written by the host. */
export const CSV_PIECE_BYTES: u32 = 8192;
export const CSV_PIECE: usize = memory.data(8192 + 16, 16);

/**
 * Reads the first bytes of CSV_PIECE. Returns the state after them, plus 4 × the bytes up to the end of the last row
 * that ends in them.
 */
export function csvRows(sizeBytes: u32, delimiter: u32, state: u32): u32 {
  const end = CSV_PIECE + <usize>sizeBytes;
  const delimiters = i8x16.splat(<i8>delimiter);
  const quotes = i8x16.splat(<i8>QUOTE);
  const feeds = i8x16.splat(<i8>LINE_FEED);
  let isQuoted = state == QUOTED;
  /** Where a quote opens a field. */
  let opens: usize = state == OPENS ? CSV_PIECE : 0;
  let rowsEnd: usize = CSV_PIECE;
  for (let chunk: usize = CSV_PIECE; chunk < end; chunk += 16) {
    const bytes = v128.load(chunk);
    const marks = v128.or(v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, feeds)), i8x16.eq(bytes, quotes));
    let mask = <u32>i8x16.bitmask(marks);
    if (end - chunk < 16) mask &= (1 << <u32>(end - chunk)) - 1;
    while (mask) {
      const byteAt = chunk + <usize>ctz(mask);
      mask &= mask - 1;
      const mark: u32 = load<u8>(byteAt);
      if (mark == QUOTE) {
        if (isQuoted) {
          isQuoted = false;
          opens = byteAt + 1;
        } else if (byteAt == opens) {
          isQuoted = true;
        }
      } else if (!isQuoted) {
        opens = byteAt + 1;
        if (mark == LINE_FEED) rowsEnd = opens;
      }
    }
  }
  return (<u32>(rowsEnd - CSV_PIECE) << 2) | (isQuoted ? QUOTED : opens == end ? OPENS : PLAIN);
}
