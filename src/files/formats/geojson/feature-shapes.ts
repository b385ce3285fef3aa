// Features written by one program differ only in their values: the bytes between values are compared, and a value is
// read on demand. Any other feature is parsed, and may show another shape.

import { isUtf8 } from 'node:buffer';
import { numberIn } from '../../rows/text-rows.js';
import type { ColumnKind, JsonDocument } from '../table.js';
import type { MET_IN } from '../values/json-columns.js';

/** Most shapes that are known at once, and features that are tried for one. */
const MAX_SHAPES = 8;
const MAX_LOOKS = 64;
/** Longest feature that can show a shape, in characters. */
const MAX_LETTERS = 16 * 1024;
/** Digits of an integer that a double always holds. */
const MAX_DIGITS = 15;
/** Number of value ends in one array. */
const ENDS = 1 << 14;
/** Most bytes of a character that is cut off. */
const MAX_CUT = 3;
/** Bytes of such letters: the least of the first ones, and the upper bits of all others. */
const [BEGINS, CONTINUES] = [0xc0, 0x80] as const;
/** Approximate memory of a byte of a feature. */
const BYTE_WEIGHT = 4;
const [QUOTE, MINUS, POINT, ZERO, NINE] = [34, 45, 46, 48, 57] as const;
const [BACKSLASH, BLANK, TAB, MAX_ASCII] = [92, 32, 9, 127] as const;
const [COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [44, 58, 91, 93, 123, 125] as const;
/** Deepest nesting of lists and objects. */
const MAX_NESTED = 32;
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]));
const [TRUE, , NULL] = LITERALS.keys();
const LETTER_U = 117;
/** Letters of escapes, but for that of numbers, and digits of the latter. */
const ESCAPED: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\/bfnrt'));
const HEX: ReadonlySet<number | undefined> = new Set(Buffer.from('0123456789abcdefABCDEF'));
const TOKEN = /[ \t\r\n]*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{},:]|true|false|null)/y;

/** Positions of the values of features, and the bytes between them. */
export class FeatureShape {
  /** Bytes between values, one piece more than there are values: as in the file, and without blanks. */
  readonly pieces: Uint8Array[] = [];
  readonly compact: string[] = [];
  /** Names of properties, by value; null for the id and for coordinates. */
  readonly names: (string | null)[] = [];
  /** Index of the longitude, which precedes the latitude; and of the id, -1 if there is none. */
  lng = -1;
  id = -1;
  /** The first property, and the one after the last. */
  first = 0;
  after = 0;
  /**
   * Where the list of properties begins in the piece before the first one, and where it ends in the piece after the
   * last.
   */
  opens = 0;
  closes = 0;
  /** Whether a feature can be written from its values alone. */
  isCompact = false;
  /** Whether a feature is one line, without blanks before its end. */
  isLine = false;
  /** Names of the feature's members. */
  readonly members = new Set<string>();
  /** Bytes of each piece, and whether each value is a coordinate. */
  sizes = new Int32Array(0);
  areNumbers: readonly boolean[] = [];

  /** null for a feature without a shape, such as a line or an area */
  static of({ text, value, hasBigints }: JsonDocument): FeatureShape | null {
    const { geometry, properties } = value as { geometry?: Fields | null; properties?: Fields | null };
    const isPoint =
      geometry?.type === 'Point' &&
      Array.isArray(geometry.coordinates) &&
      geometry.coordinates.length >= 2 &&
      geometry.coordinates.every((each) => typeof each === 'number');
    if (!isPoint || value.type !== 'Feature' || typeof properties !== 'object' || properties === null)
      return null;
    if (Array.isArray(properties) || (typeof value.id === 'object' && value.id !== null)) return null;
    const hasTwoIds = value.id !== undefined && Object.hasOwn(properties, 'id');
    if (
      hasBigints ||
      text.length > MAX_LETTERS ||
      hasTwoIds ||
      value.crs !== undefined ||
      geometry.crs !== undefined
    )
      return null;
    const shape = new FeatureShape();
    const written = shape.#read(text);
    // Members that are given twice, and integer-like names, which come first in an object, are not where they stand.
    return written === JSON.stringify(value) ? shape : null;
  }

  /** @returns the text as JSON.stringify would write it; null if it has no shape */
  #read(text: string): string | null {
    const open: { readonly isObject: boolean; key: string | null }[] = [];
    let written = '';
    let compact = '';
    let from = 0;
    for (let at = 0; at < text.length; ) {
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(text)?.[1];
      if (found === undefined) return null;
      at = TOKEN.lastIndex;
      const inner = open.at(-1);
      const [{ key: member = null } = {}, { key = null } = {}] = open;
      const isProperty = member === 'properties' && open.length === 2;
      const isNested = isProperty && (found === '{' || found === '[');
      const start = at - found.length;
      for (let depth = isNested ? 1 : 0; depth > 0; at = TOKEN.lastIndex) {
        const next = TOKEN.exec(text)?.[1];
        if (next === undefined) return null;
        depth += next === '{' || next === '[' ? 1 : next === '}' || next === ']' ? -1 : 0;
      }
      const token = text.slice(start, at);
      if (!isNested && (token === '{' || token === '[')) {
        open.push({ isObject: token === '{', key: null });
        if (member === 'properties') {
          this.first = this.names.length;
          this.opens = compact.length + 1;
        }
      } else if (token === '}' || token === ']') {
        if (isProperty) {
          this.after = this.names.length;
          this.closes = compact.length;
        }
        open.pop();
      } else if (token === ',' && inner?.isObject === true) inner.key = null;
      else if (token !== ',' && token !== ':' && inner?.isObject === true && inner.key === null) {
        inner.key = JSON.parse(token) as string;
        if (open.length === 1) this.members.add(inner.key);
      } else if (token !== ',' && token !== ':') {
        const isId = open.length === 1 && member === 'id';
        const isCoordinate = open.length === 3 && member === 'geometry' && key === 'coordinates';
        if (isProperty || isId || isCoordinate) {
          if (isId) this.id = this.names.length;
          if (isCoordinate && this.lng < 0) this.lng = this.names.length;
          this.names.push(isProperty ? key : null);
          this.#add(text.slice(from, at - token.length), compact);
          written += compact + JSON.stringify(JSON.parse(token));
          compact = '';
          from = at;
          continue;
        }
      }
      compact += token[0] === '"' ? JSON.stringify(JSON.parse(token)) : token;
    }
    this.#add(text.slice(from), compact);
    this.sizes = Int32Array.from(this.pieces, ({ length }) => length);
    this.areNumbers = this.names.map((name, n) => name === null && n !== this.id);
    this.isLine = !/[\r\n]|\s\}$/.test(text);
    this.isCompact = this.pieces.every((piece, i) => Buffer.from(this.compact[i]!).equals(piece));
    return written + compact;
  }

  #add(piece: string, compact: string): void {
    this.pieces.push(Buffer.from(piece));
    this.compact.push(compact);
  }
}

/** The text of a feature up to the end of its properties, and the rest. */
export type Sides = readonly [before: string | Buffer, after: string | Buffer];

type Fields = Readonly<Record<string, unknown>>;

/** A feature of a known shape. Its text and its value are made on demand. */
export class ShapedFeature implements JsonDocument {
  readonly end: number;
  /** Whether each number is certainly written as `String` writes it. */
  readonly isUsual: boolean;
  /** Whether a string has escapes. */
  readonly hasEscapes: boolean;
  /** Ends of the values of many features, and the index of this feature's first. */
  readonly #ends: Int32Array;
  readonly #at: number;

  constructor(
    readonly shape: FeatureShape,

    /** The bytes that contain it, and its bounds. */
    readonly bytes: Buffer,
    readonly start: number,
    { ends, at, end, isUsual, hasEscapes }: Scan,
  ) {
    this.end = end;
    this.isUsual = isUsual;
    this.hasEscapes = hasEscapes;
    this.#ends = ends;
    this.#at = at;
  }

  get hasBigints(): false {
    return false;
  }

  get givesOnce(): true {
    return true;
  }

  get weight(): number {
    return BYTE_WEIGHT * (this.end - this.start);
  }

  get text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  get featureText(): string {
    return this.text;
  }

  get value(): Record<string, unknown> {
    return JSON.parse(this.text) as Record<string, unknown>;
  }

  startOf(n: number): number {
    return (n === 0 ? this.start : this.endOf(n - 1)) + this.shape.sizes[n]!;
  }

  endOf(n: number): number {
    return this.#ends[this.#at + n]!;
  }

  /** A value as JSON.parse gives it. */
  at(n: number): unknown {
    const [start, end] = [this.startOf(n), this.endOf(n)];
    const first = this.bytes[start]!;
    if (first === QUOTE)
      return this.isEscaped(n)
        ? (JSON.parse(this.bytes.toString('utf8', start, end)) as string)
        : this.bytes.toString('utf8', start + 1, end - 1);
    if (LITERALS.has(first)) return first === NULL ? null : first === TRUE;
    return isOpen(first) ? JSON.parse(this.bytes.toString('utf8', start, end)) : this.numberAt(n);
  }

  isEscaped(n: number): boolean {
    if (!this.hasEscapes) return false;
    const end = this.endOf(n);
    for (let at = this.startOf(n); at < end; at++) if (this.bytes[at] === BACKSLASH) return true;
    return false;
  }

  numberAt(n: number): number {
    const [start, end] = [this.startOf(n), this.endOf(n)];
    const number = numberIn(this.bytes, start, end);
    return Number.isNaN(number) ? Number(this.bytes.toString('latin1', start, end)) : number;
  }

  /** Writes latitude and longitude. */
  readPosition(latLngDeg: Float64Array, at: number): void {
    const { lng } = this.shape;
    latLngDeg[at] = this.numberAt(lng + 1);
    latLngDeg[at + 1] = this.numberAt(lng);
  }

  /** The kind of a value, as it is written. */
  kindAt(n: number): keyof typeof MET_IN | null {
    const start = this.startOf(n);
    const first = this.bytes[start]!;
    if (first === QUOTE) return 'text';
    if (LITERALS.has(first)) return first === NULL ? null : 'boolean';
    if (isOpen(first)) return 'nested';
    for (let at = start; at < this.endOf(n); at++) if (this.bytes[at] === POINT) return 'fraction';
    return 'integer';
  }

  /** Whether a value certainly belongs in a column of the kind. */
  isOf(n: number, kind: ColumnKind): boolean {
    const first = this.bytes[this.startOf(n)]!;
    if (first === NULL || kind === 'json') return true;
    if (kind === 'text') return first === QUOTE;
    if (kind === 'boolean') return LITERALS.has(first);
    return kind === 'double'
      ? first !== QUOTE && !LITERALS.has(first) && !isOpen(first)
      : kind === 'long' && this.kindAt(n) === 'integer';
  }

  /** End of the properties in a feature that is written as JSON.stringify would; -1 for any other. */
  get split(): number {
    const { isCompact, after, closes } = this.shape;
    if (!isCompact || this.hasEscapes || !(this.isUsual || this.#isAsPrinted())) return -1;
    return (after === 0 ? this.start : this.endOf(after - 1)) + closes;
  }

  /**
   * The feature as JSON.stringify would write it, in two parts: up to the end of its properties, and the rest.
   * @param isKept whether a property is written; null for all
   */
  around(isKept: ((name: string) => boolean) | null): Sides {
    const { compact, names, first, after, opens, closes } = this.shape;
    const split = isKept === null ? this.split : -1;
    if (split >= 0) return [this.bytes.subarray(this.start, split), this.bytes.subarray(split, this.end)];
    const parts: string[] = [];
    for (let n = 0; n < first; n++) parts.push(compact[n]!, this.#textOf(n));
    parts.push(compact[first]!.slice(0, opens));
    let lead = '';
    for (let n = first; n < after; n++) {
      if (isKept?.(names[n]!) === false) continue;
      parts.push(lead, JSON.stringify(names[n]), ':', this.#textOf(n));
      lead = ',';
    }
    const rest = [compact[after]!.slice(closes)];
    for (let n = after; n < names.length; n++) rest.push(this.#textOf(n), compact[n + 1]!);
    return [parts.join(''), rest.join('')];
  }

  #isAsPrinted(): boolean {
    return this.shape.names.every((_, n) => {
      const [start, end] = [this.startOf(n), this.endOf(n)];
      const first = this.bytes[start]!;
      return (
        first === QUOTE || LITERALS.has(first) || this.#textOf(n) === this.bytes.toString('utf8', start, end)
      );
    });
  }

  #textOf(n: number): string {
    const start = this.startOf(n);
    if (isOpen(this.bytes[start]!)) return JSON.stringify(this.at(n));
    if (this.bytes[start] !== QUOTE) return String(this.at(n));
    return this.isEscaped(n) ? JSON.stringify(this.at(n)) : this.bytes.toString('utf8', start, this.endOf(n));
  }
}

/** The shapes seen in the features of a file. */
export class FeatureShapes {
  readonly #shapes: FeatureShape[] = [];
  readonly #scan = new Scan();
  #looks = 0;
  /** The chunk that was checked last, and whether it is UTF-8 as a whole. */
  #checked: Buffer | null = null;
  #isUtf8 = false;

  /** @returns the feature that begins at a byte; null for a feature of no known shape, or one that is cut off */
  featureAt(bytes: Buffer, start: number): ShapedFeature | null {
    const scan = this.#scan;
    for (const shape of this.#shapes) {
      if (!scan.read(shape, bytes, start)) continue;
      if (scan.highest > MAX_ASCII && !this.#areLetters(bytes, start, scan.end)) return null;
      return scan.taken(shape, bytes, start);
    }
    return null;
  }

  /** Whether a part of a chunk is UTF-8. Usually the whole chunk is, except for characters cut at its ends. */
  #areLetters(bytes: Buffer, start: number, end: number): boolean {
    if (this.#checked !== bytes) {
      this.#checked = bytes;
      let [first, last] = [0, bytes.length];
      while (first < MAX_CUT && (bytes[first]! & 0xc0) === CONTINUES) first++;
      for (let cut = 1; cut <= MAX_CUT && bytes[last - 1]! > MAX_ASCII; cut++)
        if (bytes[bytes.length - cut]! >= BEGINS) last = bytes.length - cut;
      this.#isUtf8 = isUtf8(bytes.subarray(first, last));
    }
    return this.#isUtf8 || isUtf8(bytes.subarray(start, end));
  }

  /** Learns the shape of a feature of no known shape. */
  learn(document: JsonDocument): void {
    if (this.#looks++ >= MAX_LOOKS) return;
    const shape = FeatureShape.of(document);
    // A feature of a shape that is known was cut by the end of a chunk.
    if (shape === null || this.featureAt(Buffer.from(document.text), 0) !== null) return;
    if (this.#shapes.length === MAX_SHAPES) this.#shapes.pop();
    this.#shapes.unshift(shape);
  }
}

/** The values of the feature that was read last. */
class Scan {
  ends = new Int32Array(0);
  /** Index of its values among all ends. */
  at = 0;
  end = 0;
  isUsual = true;
  hasEscapes = false;
  highest = 0;
  #bytes: Buffer = Buffer.alloc(0);

  /** @returns false for a feature of another shape */
  read({ pieces, areNumbers }: FeatureShape, bytes: Buffer, start: number): boolean {
    const count = areNumbers.length;
    // Features in use keep the earlier ends.
    if (this.at + count > this.ends.length) {
      this.ends = new Int32Array(Math.max(ENDS, count));
      this.at = 0;
    }
    this.#bytes = bytes;
    this.isUsual = true;
    this.hasEscapes = false;
    this.highest = 0;
    let at = start;
    for (let n = 0; n <= count; n++) {
      const piece = pieces[n]!;
      if (at + piece.length > bytes.length) return false;
      for (let i = 0; i < piece.length; i++) if (bytes[at + i] !== piece[i]) return false;
      at += piece.length;
      if (n === count) break;
      at = this.#valueEnd(at, areNumbers[n]!);
      if (at < 0) return false;
      this.ends[this.at + n] = at;
    }
    this.end = at;
    return true;
  }

  taken(shape: FeatureShape, bytes: Buffer, start: number): ShapedFeature {
    const feature = new ShapedFeature(shape, bytes, start, this);
    this.at += shape.names.length;
    return feature;
  }

  /** @param depth number of open lists and objects in a property */
  #valueEnd(start: number, isNumber: boolean, depth = 0): number {
    const bytes = this.#bytes;
    if (start >= bytes.length) return -1;
    const first = bytes[start]!;
    if (first === MINUS || (first >= ZERO && first <= NINE)) return this.#numberEnd(start);
    if (isNumber) return -1;
    if (isOpen(first)) return this.#nestedEnd(start, depth + 1);
    if (first === QUOTE) {
      for (let at = start + 1; at < bytes.length; at++) {
        const byte = bytes[at]!;
        if (byte === QUOTE) return at + 1;
        if (byte < BLANK) return -1;
        if (byte > this.highest) this.highest = byte;
        if (byte === BACKSLASH) {
          this.hasEscapes = true;
          at = this.#escapeEnd(at + 1) - 1;
          if (at < 0) return -1;
        }
      }
      return -1;
    }
    const word = LITERALS.get(first);
    if (word === undefined || start + word.length > bytes.length) return -1;
    for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return -1;
    return start + word.length;
  }

  /** The end of a list or an object on one line; -1 for invalid JSON, and for nesting that is too deep. */
  #nestedEnd(start: number, depth: number): number {
    const bytes = this.#bytes;
    const isList = bytes[start] === OPEN_LIST;
    const close = isList ? CLOSE_LIST : CLOSE;
    // Its printed form is checked where it matters.
    this.isUsual = false;
    let at = this.#afterBlanks(start + 1);
    if (bytes[at] === close) return at + 1;
    while (depth <= MAX_NESTED) {
      if (!isList) {
        if (bytes[at] !== QUOTE) return -1;
        at = this.#valueEnd(at, false);
        if (at < 0) return -1;
        at = this.#afterBlanks(at);
        if (bytes[at] !== COLON) return -1;
        at = this.#afterBlanks(at + 1);
      }
      at = this.#valueEnd(at, false, depth);
      if (at < 0) return -1;
      at = this.#afterBlanks(at);
      if (bytes[at] === close) return at + 1;
      if (bytes[at] !== COMMA) return -1;
      at = this.#afterBlanks(at + 1);
    }
    return -1;
  }

  #afterBlanks(start: number): number {
    let at = start;
    while (this.#bytes[at] === BLANK || this.#bytes[at] === TAB) at++;
    return at;
  }

  /** The end of an escape whose letter is at a byte; -1 for an invalid one. */
  #escapeEnd(letter: number): number {
    const byte = this.#bytes[letter];
    if (byte !== LETTER_U) return ESCAPED.has(byte) ? letter + 1 : -1;
    for (let at = letter + 1; at <= letter + 4; at++) if (!HEX.has(this.#bytes[at])) return -1;
    return letter + 5;
  }

  /** The end of a number without an exponent that a double holds; -1 for others, and for a zero with a sign. */
  #numberEnd(start: number): number {
    const whole = this.#bytes[start] === MINUS ? start + 1 : start;
    let at = this.#digitsEnd(whole);
    if (at === whole || at > whole + MAX_DIGITS) return -1;
    const isBelowOne = this.#bytes[whole] === ZERO;
    if (isBelowOne && at > whole + 1) return -1;
    if (at < this.#bytes.length && this.#bytes[at] === POINT) {
      const point = at;
      at = this.#digitsEnd(point + 1);
      if (at === point + 1) return -1;
      // Small numbers are printed with an exponent, and of many digits perhaps others.
      if (this.#bytes[at - 1] === ZERO || at > whole + MAX_DIGITS || isBelowOne) this.isUsual = false;
    }
    return whole > start && isBelowOne && Number(this.#bytes.toString('latin1', start, at)) === 0 ? -1 : at;
  }

  #digitsEnd(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    while (at < bytes.length && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
    return at;
  }
}

export const isOpen = (byte: number): boolean => byte === OPEN || byte === OPEN_LIST;

export function hasMember(document: JsonDocument, name: string): boolean {
  return document instanceof ShapedFeature ? document.shape.members.has(name) : name in document.value;
}
