// Packs pages as Snappy (format_description.txt of google/snappy): fragments of 64 KiB, each with its own table of
// offsets where four bytes were met last.

import { type Area, areaOf, type GrowingBytes } from '../../rows/text-rows.js';

const FRAGMENT_BYTES = 65_536;
const TABLE_BITS = 14;
const SHIFT = 32 - TABLE_BITS;
const WORD = 4;
const MULTIPLIER = 0x1e35a7bd;
/** Bytes before the end of a fragment that are literal: words of four bytes are read there. */
const MARGIN = 15;
/** Misses after which every second, third, … offset is tried. */
const PATIENCE = 5;
const [MAX_SHORT_LITERAL, MAX_COPY] = [60, 64] as const;

const table = new Uint16Array(1 << TABLE_BITS);

/** Adds the packed form of some bytes, its size before it. */
export function addSnappy(bytes: Uint8Array, packed: GrowingBytes): void {
  const size = bytes.length;
  packed.reserve(Math.ceil(size * 1.2) + 64);
  let left = size;
  for (; left > 127; left = Math.floor(left / 128)) packed.bytes[packed.at++] = (left & 127) | 128;
  packed.bytes[packed.at++] = left;
  const out = areaOf(packed.bytes);
  const source = areaOf(bytes);
  for (let at = 0; at < size; at += FRAGMENT_BYTES)
    packed.at = fragmentAt(out, packed.at, source, at, Math.min(size, at + FRAGMENT_BYTES));
}

/** Packs up to 64 KiB. @returns after the last byte written */
function fragmentAt(out: Area, outAt: number, source: Area, start: number, end: number): number {
  const { bytes, view } = source;
  table.fill(0);
  let at = outAt;
  let written = start;
  const limit = end - MARGIN;
  for (let from = start + 1; from < limit; ) {
    let misses = 1 << PATIENCE;
    let word = 0;
    let other = 0;
    for (let next = from; ; ) {
      from = next;
      next = from + (misses++ >> PATIENCE);
      if (next > limit) return literalAt(out, at, source, written, end);
      word = view.getInt32(from, true);
      const key = Math.imul(word, MULTIPLIER) >>> SHIFT;
      other = start + table[key]!;
      table[key] = from - start;
      if (view.getInt32(other, true) === word) break;
    }
    at = literalAt(out, at, source, written, from);
    do {
      const distance = from - other;
      let same = 4;
      while (from + same < limit && view.getInt32(from + same, true) === view.getInt32(other + same, true))
        same += 4;
      while (from + same < end && bytes[from + same] === bytes[other + same]) same++;
      from += same;
      at = copyAt(out.bytes, at, distance, same);
      written = from;
      if (from >= limit) break;
      const before = view.getInt32(from - 1, true);
      table[Math.imul(before, MULTIPLIER) >>> SHIFT] = from - 1 - start;
      word = view.getInt32(from, true);
      const key = Math.imul(word, MULTIPLIER) >>> SHIFT;
      other = start + table[key]!;
      table[key] = from - start;
    } while (view.getInt32(other, true) === word);
    from++;
  }
  return literalAt(out, at, source, written, end);
}

function literalAt(
  { bytes: out, view: outView }: Area,
  outAt: number,
  { bytes, view }: Area,
  start: number,
  end: number,
): number {
  const size = end - start;
  if (size === 0) return outAt;
  let at = outAt;
  if (size <= MAX_SHORT_LITERAL) {
    out[at++] = (size - 1) << 2;
    if (end + WORD <= bytes.length)
      for (let p = start, to = at; p < end; p += WORD, to += WORD)
        outView.setInt32(to, view.getInt32(p, true), true);
    else for (let p = start, to = at; p < end; p++, to++) out[to] = bytes[p]!;
    return at + size;
  }
  if (size <= 256) out[at++] = 60 << 2;
  else out[at++] = 61 << 2;
  out[at++] = size - 1;
  if (size > 256) out[at++] = (size - 1) >> 8;
  out.set(bytes.subarray(start, end), at);
  return at + size;
}

function copyAt(out: Uint8Array, outAt: number, distance: number, size: number): number {
  let at = outAt;
  let left = size;
  for (; left >= MAX_COPY + 4; left -= MAX_COPY) {
    out[at++] = 2 | ((MAX_COPY - 1) << 2);
    out[at++] = distance;
    out[at++] = distance >> 8;
  }
  if (left > MAX_COPY) {
    out[at++] = 2 | ((MAX_SHORT_LITERAL - 1) << 2);
    out[at++] = distance;
    out[at++] = distance >> 8;
    left -= MAX_SHORT_LITERAL;
  }
  if (left < 12 && distance < 2048) {
    out[at++] = 1 | ((left - 4) << 2) | ((distance >> 8) << 5);
    out[at++] = distance;
    return at;
  }
  out[at++] = 2 | ((left - 1) << 2);
  out[at++] = distance;
  out[at++] = distance >> 8;
  return at;
}
