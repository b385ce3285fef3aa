// Writes lines of NDJSON with members added: each is copied up to its closing brace, and what LINE_PIECES holds comes
// behind. Lines that another road must convert stop it: those that would be trimmed, are blank, or long.

import { LINE_PIECE_BYTES, LINE_PIECES, OUTPUT } from "../../memory";
import { recordAt } from "../../output-layout";
import { CARRIAGE_RETURN, CLOSE_BRACE, OPEN_BRACE, SPACE } from "../chars";
import { ROW_OK, rowAt, rowEnd, rowStart } from "../row";
import { adminLetters, writeCode } from "./fields";
import { addStatus, encodedStatus } from "./statuses";
import { copyText, hasSpace, stopAt, textEnd } from "./text-out";

/** A longer line may be nested too deeply. */
const MAX_LINE_BYTES: usize = 1024;
/** The pieces of failed rows, by status. */
const FAILED: u32 = 3;

/**
 * Writes the encode answers of the scanned lines 0 to `count`, of which the first begins at `at`; returns the line
 * before which it stopped.
 */
export function writeLines(count: u32, at: usize): u32 {
  let p = textEnd;
  let expected = at;
  for (let index: u32 = 0; index < count; index++) {
    const row = rowAt(index);
    const start = rowStart(row);
    const feed = rowEnd(row);
    let close = feed - 1;
    if (load<u8>(close) == CARRIAGE_RETURN) close--;
    // Neither white space before the brace nor the last byte of a letter of several.
    const last: u32 = load<u8>(close - 1);
    const isUsual =
      start == expected && load<u8>(start) == OPEN_BRACE && load<u8>(close) == CLOSE_BRACE && last > SPACE && last < 128;
    if (!isUsual || close - start > MAX_LINE_BYTES || !hasSpace(p, row)) return stopAt(index, p);
    expected = feed + 1;
    const record = recordAt(OUTPUT, index);
    const status = encodedStatus(row, record, 0);
    p = copyText(start, close, p);
    if (status == ROW_OK) {
      p = writeCode(record, writePiece(0, p));
      p = writePiece(1, p);
      store<u32>(p, load<u32>(record));
      p = writePiece(2, p + adminLetters(record));
    } else {
      p = writePiece(FAILED + status, p);
    }
    addStatus(status, 1);
  }
  return stopAt(count, p);
}

// @ts-ignore: decorator
@inline
function writePiece(piece: u32, out: usize): usize {
  const text = LINE_PIECES + <usize>(piece * LINE_PIECE_BYTES);
  return copyText(text + 4, text + 4 + <usize>load<u32>(text), out);
}
