// A line of NDJSON by its members: where each value of a known name is, and of which kind. A line that it is not
// certain of is left to a reader of JSON.

import { numberIn, wasUsual } from './text-rows.js';

const [CR, SPACE, QUOTE, COMMA, MINUS, POINT, ZERO] = [13, 32, 34, 44, 45, 46, 48] as const;
const [COLON, BACKSLASH, OPEN, CLOSE, LETTER_U] = [58, 92, 123, 125, 117] as const;
const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A longer text of a number is left. */
const MOST_NUMBER = 40;
/** Names that are looked at for a member that is not where it was, in one line. */
const MOST_TRIES = 256;

/** Kinds of values. A text that is ESCAPED has backslashes. */
export const [ABSENT, TEXT, ESCAPED, INTEGER, FRACTION, BOOLEAN, NULL] = [0, 1, 2, 3, 4, 5, 6] as const;

/** Letters behind a backslash, and what they stand for; `u` apart. */
const ESCAPES = new Uint8Array(256);
for (const [letter, means] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPES[letter!.charCodeAt(0)] = means!.charCodeAt(0);

export class LineScanner {
  readonly #names: readonly Uint8Array[];
  /** Kinds of values by name, and where the values are; those of texts without their quotes. */
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** The values of numbers, and whether they are written as `String` writes them. */
  readonly numbers: Float64Array;
  readonly usual: Uint8Array;

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(JSON.stringify(name)));
    this.kinds = new Uint8Array(names.length);
    this.starts = new Int32Array(names.length);
    this.ends = new Int32Array(names.length);
    this.numbers = new Float64Array(names.length);
    this.usual = new Uint8Array(names.length);
  }

  /**
   * @param bytes of UTF-8 without NUL
   * @param lineEnd where its line feed is
   * @returns false for a line that is left
   */
  scan(bytes: Uint8Array, start: number, lineEnd: number): boolean {
    const { kinds } = this;
    kinds.fill(ABSENT);
    const end = bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (end - start < 2 || bytes[start] !== OPEN || bytes[end - 1] !== CLOSE) return false;
    const names = this.#names;
    const last = end - 1;
    let tries = MOST_TRIES;
    let column = -1;
    for (let at = start + 1; at < last; ) {
      // Members come in the order of the line before, mostly; some are left out.
      const first = column;
      do {
        column = column + 1 >= names.length ? 0 : column + 1;
        if (tries-- === 0 || names.length === 0) return false;
      } while (!startsWith(bytes, at, names[column]!) && (column !== first || first < 0));
      // The last one counts of two members of one name.
      if (column === first || kinds[column] !== ABSENT) return false;
      at += names[column]!.length;
      if (bytes[at++] !== COLON) return false;
      if (bytes[at] === SPACE) at++;
      if (at >= last) return false;
      at = this.#value(bytes, at, last, column);
      if (at < 0) return false;
      if (at === last) return true;
      if (bytes[at++] !== COMMA) return false;
      if (bytes[at] === SPACE) at++;
      if (at >= last) return false;
    }
    return true;
  }

  /** @returns behind the value; -1 for one that is left */
  #value(bytes: Uint8Array, from: number, last: number, column: number): number {
    const first = bytes[from]!;
    if (first === QUOTE) return this.#text(bytes, from + 1, last, column);
    let at = from;
    while (at < last && bytes[at] !== COMMA && bytes[at] !== SPACE) at++;
    this.starts[column] = from;
    this.ends[column] = at;
    if (first <= 57) return this.#number(bytes, from, at, column) ? at : -1;
    const word = WORDS.findIndex((each) => each.length === at - from && startsWith(bytes, from, each));
    if (word < 0) return -1;
    this.kinds[column] = word === 2 ? NULL : BOOLEAN;
    return at;
  }

  #text(bytes: Uint8Array, from: number, last: number, column: number): number {
    let kind: number = TEXT;
    let at = from;
    for (; ; at++) {
      const byte = bytes[at]!;
      if (at >= last || byte < 32) return -1;
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) continue;
      kind = ESCAPED;
      const letter = bytes[++at]!;
      if (letter === LETTER_U) {
        if (unitAt(bytes, at + 1) < 0) return -1;
        at += 4;
      } else if (ESCAPES[letter] === 0) return -1;
    }
    this.kinds[column] = kind;
    this.starts[column] = from;
    this.ends[column] = at;
    return at + 1;
  }

  /** @returns false for what is no number of JSON, or one that a double may not hold */
  #number(bytes: Uint8Array, from: number, end: number, column: number): boolean {
    let value = numberIn(bytes, from, end);
    let kind: number = INTEGER;
    if (!Number.isNaN(value)) {
      const digits = bytes[from] === MINUS ? from + 1 : from;
      // A zero before other digits.
      if (bytes[digits] === ZERO && end > digits + 1 && bytes[digits + 1] !== POINT) return false;
      for (let p = digits + 1; p < end; p++) if (bytes[p] === POINT) kind = FRACTION;
      this.usual[column] = wasUsual() ? 1 : 0;
    } else {
      if (end - from > MOST_NUMBER) return false;
      const text = latin1(bytes, from, end);
      if (!NUMBER.test(text)) return false;
      value = Number(text);
      if (/[eE]/.test(text)) kind = FRACTION;
      // A fraction that rounds to an integer may be surveyed as one.
      else if (text.includes('.')) kind = Number.isInteger(value) ? ABSENT : FRACTION;
      if (kind === ABSENT || !Number.isFinite(value)) return false;
      if (kind === INTEGER && !Number.isSafeInteger(value)) return false;
      this.usual[column] = String(value) === text ? 1 : 0;
    }
    this.kinds[column] = kind;
    this.numbers[column] = value;
    return true;
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let p = start; p < end; p++) text += String.fromCharCode(bytes[p]!);
  return text;
}

function startsWith(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

/** The unit of UTF-16 that four digits say; -1 for others. */
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
 * Writes a text that is ESCAPED without its escapes.
 * @param into has room for as many bytes at `to`
 * @returns behind its last byte; -1 for half of a pair of UTF-16
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
