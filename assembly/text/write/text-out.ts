// TEXT_OUT: how far it is filled, whether an answer fits, and how texts are copied into it.

import { TEXT_OUT, TEXT_OUT_BYTES } from "../../memory";
import { rowEnd, rowStart } from "../row";

/** The first free byte of TEXT_OUT; the host moves it over what it writes itself. */
export let textEnd: usize = TEXT_OUT;

/** No answer is longer, apart from the row's own text in it. */
const MAX_ANSWER_BYTES: u32 = 1024;

export function setTextEnd(at: usize): void {
  textEnd = at;
}

// @ts-ignore: decorator
@inline
export function hasSpace(p: usize, row: usize): bool {
  return hasSpaceFor(p, rowEnd(row) - rowStart(row));
}

/** Whether an answer fits that holds `sizeBytes` of the row's own text. */
// @ts-ignore: decorator
@inline
export function hasSpaceFor(p: usize, sizeBytes: usize): bool {
  return p + sizeBytes + <usize>MAX_ANSWER_BYTES <= TEXT_OUT + <usize>TEXT_OUT_BYTES;
}

/** Ends a writer's call before row `index`: sets textEnd to `p` and returns the row. */
// @ts-ignore: decorator
@inline
export function stopAt(index: u32, p: usize): u32 {
  textEnd = p;
  return index;
}

/** Copies in steps of 16 bytes: up to 15 bytes after the text are overwritten. */
// @ts-ignore: decorator
@inline
export function copyText(from: usize, to: usize, out: usize): usize {
  const end = out + (to - from);
  while (out < end) {
    v128.store(out, v128.load(from));
    from += 16;
    out += 16;
  }
  return end;
}

/** Copies a piece of write-json.ts, of at most 48 bytes, in whole vectors. */
// @ts-ignore: decorator
@inline
export function copyWord(word: usize, size: usize, out: usize): usize {
  v128.store(out, v128.load(word));
  if (size > 16) v128.store(out, v128.load(word, 16), 16);
  if (size > 32) v128.store(out, v128.load(word, 32), 32);
  return out + size;
}
