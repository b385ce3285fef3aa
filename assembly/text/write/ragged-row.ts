// A ragged row of CSV, written so that the answer stays rectangular: its first fields, as many as the header has,
// padded with empty ones; a quote that is not closed is closed.

import { QUOTE } from "../chars";
import { fieldsWanted, rowEnd, rowStart } from "../row";
import { copyText, hasSpaceFor } from "./text-out";

/** Writes the row without a line end; 0 if there is no room for it and the columns after it. */
export function writeRaggedRow(row: usize, out: usize, delimiter: u32): usize {
  const start = rowStart(row);
  const end = rowEnd(row);
  const fields = fieldsWanted(row);
  if (!hasSpaceFor(out, end - start + fields)) return 0;
  let p = start;
  let isOpen = false;
  let field: u32 = 1;
  for (; ; field++) {
    if (p < end && load<u8>(p) == QUOTE) {
      p = afterQuotes(p, end);
      isOpen = p > end;
    }
    while (p < end && load<u8>(p) != delimiter) p++;
    if (p >= end || field == fields) break;
    p++;
  }
  out = copyText(start, min(p, end), out);
  if (isOpen) store<u8>(out++, <u8>QUOTE);
  for (; field < fields; field++) store<u8>(out++, <u8>delimiter);
  return out;
}

/** After the closing quote of the field that starts at `p`; after `end` if it has none. */
function afterQuotes(p: usize, end: usize): usize {
  while (++p < end) {
    if (load<u8>(p) != QUOTE) continue;
    if (p + 1 == end || load<u8>(p + 1) != QUOTE) return p + 1;
    p++;
  }
  return end + 1;
}
