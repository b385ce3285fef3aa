// Lists and objects of JSON as parsing and printing them would give, from bytes to bytes: without blanks and needless
// escapes, with numbers as printed.

import { jsonText } from '../../../hexcodes/wire/params/json-grammar.js';
import { type GrowingBytes, numberIn, wasUsual } from '../../rows/text-rows.js';

// Texts of JSON without their escapes.

const LETTER_U = 117;

/** Letters after a backslash, and the characters they stand for, except `u`. */
const ESCAPES = new Uint8Array(256);
for (const [letter, means] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPES[letter!.charCodeAt(0)] = means!.charCodeAt(0);

/** The UTF-16 unit of four hexadecimal digits; -1 for invalid ones. */
function unitAt(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let p = at; p < at + 4; p++) {
    const byte = bytes[p]!;
    const digit =
      byte >= 48 && byte <= 57 ? byte - 48 : (byte | 32) >= 97 && (byte | 32) <= 102 ? (byte | 32) - 87 : -1;
    if (digit < 0) return -1;
    unit = 16 * unit + digit;
  }
  return unit;
}

/**
 * Writes a text without its escapes.
 * @param into has space for as many bytes at `to`
 * @returns the offset after its last byte; -1 for a lone surrogate
 */
export function unescaped(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
  to: number,
): number {
  let at = to;
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!;
    if (byte !== BACKSLASH) {
      into[at++] = byte;
      continue;
    }
    const letter = bytes[++p]!;
    if (letter !== LETTER_U) {
      into[at++] = ESCAPES[letter]!;
      continue;
    }
    let point = unitAt(bytes, p + 1);
    p += 4;
    if (point >= 0xd800 && point < 0xe000) {
      const isPair = point < 0xdc00 && bytes[p + 1] === BACKSLASH && bytes[p + 2] === LETTER_U;
      const low = isPair ? unitAt(bytes, p + 3) : -1;
      if (low < 0xdc00 || low > 0xdfff) return -1;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      p += 6;
    }
    if (point < 0x80) into[at++] = point;
    else {
      if (point < 0x800) into[at++] = 0xc0 | (point >> 6);
      else {
        if (point < 0x10000) into[at++] = 0xe0 | (point >> 12);
        else {
          into[at++] = 0xf0 | (point >> 18);
          into[at++] = 0x80 | ((point >> 12) & 63);
        }
        into[at++] = 0x80 | ((point >> 6) & 63);
      }
      into[at++] = 0x80 | (point & 63);
    }
  }
  return at;
}

const [SPACE, QUOTE, PLUS, MINUS, POINT, ZERO, BACKSLASH] = [
  0x20, 0x22, 0x2b, 0x2d, 0x2e, 0x30, 0x5c,
] as const;
const [OPEN, CLOSE, COLON, LOWER_E] = [0x7b, 0x7d, 0x3a, 0x65] as const;
/** Most names of an object: each is compared with all names before it. */
const MAX_NAMES = 32;
/** Longest integer in bytes: a double holds any of them. */
const MAX_INTEGER_BYTES = 300;
/** Integer names up to this one come first in an object, in the order of their values. */
const MAX_INDEX = 2 ** 32 - 2;
/** Bytes that are reserved for a byte of JSON: 1e20 is printed with 21 digits, of which each reserves three bytes. */
const GROWTH = 16;

const isDigit = (byte: number): boolean => byte >= ZERO && byte < ZERO + 10;
const isInNumber = (byte: number): boolean =>
  isDigit(byte) || byte === POINT || (byte | 0x20) === LOWER_E || byte === PLUS || byte === MINUS;

/** The names of the open objects, as printed. */
class Names {
  #count = 0;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /**
   * Number of names before those of each open object, and the value of its last integer name; infinite after a word.
   */
  readonly #firsts: number[] = [];
  readonly #indexes: number[] = [];

  clear(): void {
    this.#count = this.#firsts.length = this.#indexes.length = 0;
  }

  open(): void {
    this.#firsts.push(this.#count);
    this.#indexes.push(-1);
  }

  close(): void {
    this.#count = this.#firsts.pop()!;
    this.#indexes.pop();
  }

  /**
   * @returns whether parsing keeps the name in its position: it is neither a duplicate, nor an integer after a larger
   * one or a word
   */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    const last = this.#indexes.length - 1;
    const index = indexIn(bytes, start, end);
    if (index >= 0 && index <= this.#indexes[last]!) return false;
    this.#indexes[last] = index >= 0 ? index : Number.POSITIVE_INFINITY;
    if (index >= 0) return true;
    const first = this.#firsts[last]!;
    if (this.#count - first === MAX_NAMES) return false;
    for (let i = first; i < this.#count; i++) {
      const other = this.#starts[i]!;
      if (this.#ends[i]! - other !== end - start) continue;
      let at = start;
      while (at < end && bytes[at] === bytes[other + at - start]) at++;
      if (at === end) return false;
    }
    this.#starts[this.#count] = start;
    this.#ends[this.#count++] = end;
    return true;
  }
}

/** The value of a name that objects sort as an integer; else -1. */
function indexIn(bytes: Uint8Array, start: number, end: number): number {
  if (start === end || end - start > 10 || (bytes[start] === ZERO && end - start > 1)) return -1;
  let index = 0;
  for (let at = start; at < end; at++) {
    if (!isDigit(bytes[at]!)) return -1;
    index = 10 * index + bytes[at]! - ZERO;
  }
  return index <= MAX_INDEX ? index : -1;
}

const names = new Names();

/**
 * Adds a list or an object as `jsonText` prints its value.
 * @param text holds it as valid JSON between two offsets
 * @returns false, and adds nothing, for one with a duplicate name, names in another order than parsing gives them,
 * more than 32 names, or a number beyond all doubles
 */
export function addNested(text: GrowingBytes, start: number, end: number): boolean {
  text.reserve(GROWTH * (end - start));
  const { bytes, at } = text;
  names.clear();
  for (let p = start; p < end; ) {
    const byte = bytes[p]!;
    if (byte === QUOTE) {
      const from = text.at;
      p = addString(text, p);
      while (bytes[p]! <= SPACE) p++;
      // Only names are followed by a colon.
      if (bytes[p] !== COLON || names.add(bytes, from + 1, text.at - 1)) continue;
    } else if (byte === MINUS || isDigit(byte)) {
      const from = p;
      while (isInNumber(bytes[p]!)) p++;
      if (addNumber(text, from, p)) continue;
    } else {
      p++;
      if (byte > SPACE) bytes[text.at++] = byte;
      if (byte === OPEN) names.open();
      else if (byte === CLOSE) names.close();
      continue;
    }
    text.at = at;
    return false;
  }
  return true;
}

/** Adds the string whose opening quote is at `open`. @returns after its closing quote */
function addString(text: GrowingBytes, open: number): number {
  const { bytes, at } = text;
  let to = at;
  let p = open;
  let byte: number = QUOTE;
  do {
    bytes[to++] = byte;
    byte = bytes[++p]!;
  } while (byte !== QUOTE && byte !== BACKSLASH);
  if (byte === QUOTE) {
    bytes[to] = QUOTE;
    text.at = to + 1;
    return p + 1;
  }
  for (; bytes[p] !== QUOTE; p++) if (bytes[p] === BACKSLASH) p++;
  const end = unescaped(bytes, open + 1, p, bytes, at + 1);
  to = at + 1;
  while (to < end && bytes[to]! >= SPACE && bytes[to] !== QUOTE && bytes[to] !== BACKSLASH) to++;
  if (to === end) {
    bytes[to] = QUOTE;
    text.at = to + 1;
  } else {
    text.addText(jsonText(JSON.parse(textIn(bytes, open, p + 1))));
  }
  return p + 1;
}

/** @returns false for a number beyond all doubles */
function addNumber(text: GrowingBytes, start: number, end: number): boolean {
  const { bytes } = text;
  const isPrinted =
    isInteger(bytes, start, end) || (!Number.isNaN(numberIn(bytes, start, end)) && wasUsual());
  if (isPrinted) {
    for (let p = start; p < end; p++) bytes[text.at++] = bytes[p]!;
    return true;
  }
  const value = Number(textIn(bytes, start, end));
  if (Number.isFinite(value)) text.addText(jsonText(value));
  return Number.isFinite(value);
}

/** Whether a number is written as an integer, which keeps all its digits. */
function isInteger(bytes: Uint8Array, start: number, end: number): boolean {
  for (let p = start + 1; p < end; p++) if (!isDigit(bytes[p]!)) return false;
  return end - start <= MAX_INTEGER_BYTES;
}

const textIn = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
