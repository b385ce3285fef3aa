// Rows of a block whose values are ranges of bytes, as CSV writes them without quotes. Readers of any format fill
// them, writers of any format copy them, and no value is made for a field.

/** Ranges of the values of a column in the bytes of the rows; a start of -1 for null. */
export interface ValueRanges {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Offset of eight bytes for each row, including nulls; absent where values are not contiguous. */
  readonly numbersAt?: number;
  /** Whether each row is known to have a value. */
  readonly isWhole?: boolean;
}

export const rangesOf = (rows: number): ValueRanges => ({
  starts: new Int32Array(rows),
  ends: new Int32Array(rows),
});

/** Most columns of a source: each has its ranges. */
export const MAX_COLUMNS = 1000;
/** Powers of ten that doubles hold exactly. */
const TENS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const [MINUS, POINT, ZERO] = [45, 46, 48] as const;
const MAX_ASCII = 127;
/** Longest text that is written byte by byte. */
const SHORT = 24;
/** Digits up to which an integer is exact and prints as it was read. */
const MAX_DIGITS = 15;
/** Digits after the point that are tried. */
const DECIMALS = 9;
const SCALE = 10 ** DECIMALS;
const LEAST = 1e-6;
const MAX_SMALL = 999_999_999;
const MOST = 1e6;
const HIGH = 2 ** 32;
/** The upper half of an integer of 64 bits that is exact as a double. */
const MAX_HIGH = 2 ** 21;

/** Whether the last number of `numberIn` was written as `String` writes it. */
let isUsual = false;
export const wasUsual = (): boolean => isUsual;

/**
 * A number written in at most 15 digits, with a point or without. One division of two exact numbers rounds once, so
 * that it is the double nearest to the text.
 * @returns NaN for any other text, also for numbers in other spellings
 */
export function numberIn(bytes: Uint8Array, start: number, end: number): number {
  isUsual = false;
  const isNegative = bytes[start] === MINUS;
  const first = isNegative ? start + 1 : start;
  if (first >= end || end - first > MAX_DIGITS + 1) return Number.NaN;
  let whole = 0;
  let point = -1;
  for (let p = first; p < end; p++) {
    const digit = bytes[p]! - ZERO;
    if (digit >= 0 && digit <= 9) whole = whole * 10 + digit;
    else if (digit === POINT - ZERO && point < 0 && p > first && p < end - 1) point = p;
    else return Number.NaN;
  }
  if (point < 0 && end - first > MAX_DIGITS) return Number.NaN;
  const value = point < 0 ? whole : whole / TENS[end - 1 - point]!;
  const hasLead = bytes[first] === ZERO && end > first + 1 && point !== first + 1;
  const isPrinted = point < 0 ? value !== 0 || !isNegative : bytes[end - 1] !== ZERO && value >= LEAST;
  isUsual = isPrinted && !hasLead;
  return isNegative ? -value : value;
}

/** The first byte of a surrogate, whose second is FIRST_OF_HALF or more. */
export const HALF = 0xed;
export const FIRST_OF_HALF = 0xa0;
const HALVES = /\p{Surrogate}/u;

/** A growing buffer, with the offset of the next byte. */
export class GrowingBytes implements Area {
  bytes: Uint8Array;
  view: DataView;
  at = 0;
  /** How often they were emptied. */
  turns = 0;

  constructor(sizeBytes: number) {
    this.bytes = new Uint8Array(sizeBytes);
    this.view = new DataView(this.bytes.buffer);
  }

  empty(): void {
    this.at = 0;
    this.turns++;
  }

  reserve(more: number): void {
    if (this.at + more <= this.bytes.length) return;
    const larger = new Uint8Array(2 * (this.at + more));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }

  /** Adds a text in UTF-8. */
  addText(text: string): void {
    this.reserve(3 * text.length);
    if (text.length <= SHORT && this.#addAscii(text)) return;
    this.at += Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length).write(text, this.at);
  }

  /** Adds a text for `jsonAt`: lone surrogates, which UTF-8 does not have, as three bytes each. */
  addUnits(text: string): void {
    if (!HALVES.test(text)) this.addText(text);
    else
      for (const each of text) {
        const unit = each.charCodeAt(0);
        if (!HALVES.test(each)) this.addText(each);
        else this.add(Uint8Array.of(HALF, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)));
      }
  }

  /** @returns false for a text that is not ASCII */
  #addAscii(text: string): boolean {
    const { bytes, at } = this;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > MAX_ASCII) return false;
      bytes[at + i] = unit;
    }
    this.at = at + text.length;
    return true;
  }

  add(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /**
   * Adds a number as `String` prints it, -0 with its sign. A number of at most nine decimals is the quotient of two
   * exact numbers, and its digits are those of the first: no other decimal of 15 digits is nearer to it.
   */
  addNumber(value: number): void {
    const size = Math.abs(value);
    const scaled = Math.round(size * SCALE);
    if (!(size >= LEAST && size < MOST && scaled / SCALE === size)) {
      this.addText(Object.is(value, -0) ? '-0' : String(value));
      return;
    }
    this.reserve(20);
    const { bytes } = this;
    let at = this.at;
    if (value < 0) bytes[at++] = MINUS;
    const whole = Math.floor(scaled / SCALE);
    at = digitsAt(bytes, at, whole);
    // An integer of 32 bits: division of doubles is slow.
    let rest = (scaled - whole * SCALE) | 0;
    if (rest > 0) {
      bytes[at++] = POINT;
      let decimals = DECIMALS;
      while (rest % 1000 === 0) {
        rest = (rest / 1000) | 0;
        decimals -= 3;
      }
      while (rest % 10 === 0) {
        rest = (rest / 10) | 0;
        decimals--;
      }
      at = lowDigitsAt(bytes, at, rest, decimals);
    }
    this.at = at;
  }

  /**
   * Adds an integer of 64 bits by its halves.
   * @param high half, with the sign
   */
  addLong(low: number, high: number): void {
    if (high >= -MAX_HIGH && high < MAX_HIGH) this.addInteger(high * HIGH + low);
    else this.addText(String((BigInt(high) << 32n) | BigInt(low)));
  }

  /** Adds an integer that is exact. */
  addInteger(value: number): void {
    this.reserve(20);
    if (value < 0) this.bytes[this.at++] = MINUS;
    this.at = digitsAt(this.bytes, this.at, Math.abs(value));
  }
}

/** Adds a value that is not null. @throws Error for one that the column's type does not hold */
export type ValueAdder = (into: GrowingBytes, value: unknown) => void;

/** Adds the value of a row, or notes that it has none. */
export function addValue(
  text: GrowingBytes,
  { starts, ends }: ValueRanges,
  row: number,
  value: unknown,
  add: ValueAdder,
): void {
  if (value === null || value === undefined) {
    starts[row] = -1;
    return;
  }
  starts[row] = text.at;
  add(text, value);
  ends[row] = text.at;
}

/** Writes a whole number below 2^53. @returns after its last digit */
function digitsAt(bytes: Uint8Array, start: number, value: number): number {
  if (value > MAX_SMALL) {
    const high = Math.floor(value / SCALE);
    const at = digitsAt(bytes, start, high);
    return lowDigitsAt(bytes, at, (value - high * SCALE) | 0, DECIMALS);
  }
  const small = value | 0;
  let size = 1;
  for (let most = 10; small >= most && size < 10; most *= 10) size++;
  return lowDigitsAt(bytes, start, small, size);
}

/** Writes the last digits of a number of 31 bits. */
function lowDigitsAt(bytes: Uint8Array, start: number, value: number, size: number): number {
  let left = value;
  for (let p = start + size - 1; p >= start; p--) {
    const next = (left / 10) | 0;
    bytes[p] = ZERO + left - 10 * next;
    left = next;
  }
  return start + size;
}

/** Bytes, and the same for words. */
export interface Area {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export function areaOf(bytes: Uint8Array): Area {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

export interface TextRows {
  readonly text: GrowingBytes;
  readonly rowCount: number;
  /** Ranges of each column of the source; columns that are neither kept nor read may be empty. */
  readonly columns: readonly ValueRanges[];
  /** lat and lng of each row, NaN where there is none. */
  readonly latLngDeg: Float64Array;
  /** 1 for each row that has a latitude, and a longitude; null where all rows do. For positions without text. */
  readonly defined?: readonly (Uint8Array | null)[];
  /** Why the position of a row is not read, by the number of the row from 0. */
  readonly unread?: ReadonlyMap<number, string>;
  /** Each row's own resolution, as it was understood; absent where rows have none. */
  readonly resolutions?: Uint8Array;
  /** A value of the source, of rows that have values. */
  readonly valueAt?: (column: number, row: number) => unknown;
  /** The failed rows for a file of another format. @param records of the rows */
  readonly rejected?: ((records: Uint8Array) => Pick<TextRows, 'text' | 'columns'>) | undefined;
}

const shared = new TextDecoder('utf-8', { ignoreBOM: true });

/** The value of a row as a text; empty where there is none. */
export function textAt({ text, columns }: TextRows, column: number, row: number): string {
  const { starts, ends } = columns[column]!;
  return starts[row]! < 0 ? '' : shared.decode(text.bytes.subarray(starts[row]!, ends[row]!));
}
