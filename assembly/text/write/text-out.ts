// The answers that leave in TEXT_OUT: how far it is filled, and texts that are copied into it.

import { TEXT_OUT, TEXT_OUT_BYTES } from "../../memory";
import { rowEnd, rowStart } from "../row";

/** The first free byte of TEXT_OUT; the host moves it over what it writes itself. */
export let textEnd: usize = TEXT_OUT;

/** Besides the row's own text no answer is longer. */
const MAX_ANSWER_BYTES: u32 = 1024;

export function setTextEnd(at: usize): void {
  textEnd = at;
}

// @ts-ignore: decorator
@inline
export function hasRoom(p: usize, row: usize): bool {
  return p + rowEnd(row) - rowStart(row) + <usize>MAX_ANSWER_BYTES <= TEXT_OUT + <usize>TEXT_OUT_BYTES;
}

// @ts-ignore: decorator
@inline
export function stopAt(index: u32, p: usize): u32 {
  textEnd = p;
  return index;
}

/** Copies in steps of 16 bytes: what is behind `out` is free. */
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

// @ts-ignore: decorator
@inline
export function copyWord(word: usize, size: usize, out: usize): usize {
  v128.store(out, v128.load(word));
  if (size > 16) v128.store(out, v128.load(word, 16), 16);
  if (size > 32) v128.store(out, v128.load(word, 32), 32);
  return out + size;
}
