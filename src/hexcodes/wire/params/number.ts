// Decimal numbers in texts of requests, read exactly. Their grammar is `-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?`.

import type { Parameter } from './query.js';

// The resolution of a request, as text and by default. Resolutions are those of H3: 0 to 15.
/** The resolution of a request that names none: cells of about 48 m², with edges of about 4 m. */
export const DEFAULT_RESOLUTION = 13;

/** An integer of 0 to 15 without sign, point, exponent or leading zero; -1 for any other text. */
export function readResolution(text: string): number {
  const first = text.charCodeAt(0) - ZERO;
  if (text.length === 1) return first >= 0 && first <= 9 ? first : -1;
  if (text.length !== 2 || first !== 1) return -1;
  const second = text.charCodeAt(1) - ZERO;
  return second >= 0 && second <= 5 ? 10 + second : -1;
}

/** Reads a resolution from the text of a JSON number, where 9.0 is 9. */
export function readJsonResolution(text: string): number {
  const resolution = readResolution(text);
  if (resolution >= 0 || !/^\d.*[.eE]/.test(text)) return resolution;
  const value = readDecimal(text);
  return Number.isInteger(value) ? readResolution(String(value)) : -1;
}

/** The resolution of a parameter that may be absent, or the fault, as the end of a sentence. */
export function resolutionOf({ text, fault }: Parameter): number | string {
  if (fault !== undefined) return fault;
  const resolution = text === undefined ? DEFAULT_RESOLUTION : readResolution(text);
  return resolution === -1 ? 'must be an integer from 0 to 15' : resolution;
}

const ZERO = 48;
const NINE = 57;
const DOT = 46;
const MINUS = 45;
const PLUS = 43;

/** 10^0 … 10^22 are exact doubles, as is every integer of 15 digits; their quotient is rounded once, correctly. */
const POWERS = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));
const EXACT_DIGITS = 15;

/** The double nearest to the decimal text, possibly infinite; NaN for a text outside the grammar. */
export function readDecimal(text: string): number {
  const end = text.length;
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  const negative = at === 1;
  let mantissa = 0;
  let digits = 0;
  let decimals = 0;
  let point = false;
  for (; at < end; at++) {
    const c = text.charCodeAt(at);
    if (c >= ZERO && c <= NINE) {
      mantissa = mantissa * 10 + (c - ZERO);
      digits++;
      if (point) decimals++;
    } else if (c === DOT && !point) point = true;
    else break;
  }
  if (digits === 0) return Number.NaN;
  if (at < end) return isExponent(text, at) ? Number(text) : Number.NaN;
  if (digits > EXACT_DIGITS) return Number(text);
  const value = decimals === 0 ? mantissa : mantissa / (POWERS[decimals] as number);
  return negative ? -value : value;
}

function isExponent(text: string, from: number): boolean {
  let at = from;
  if ((text.charCodeAt(at++) | 32) !== 101) return false;
  const sign = text.charCodeAt(at);
  if (sign === PLUS || sign === MINUS) at++;
  if (at === text.length) return false;
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c < ZERO || c > NINE) return false;
  }
  return true;
}

/**
 * The text of String(value), without printing where possible: a plain decimal of at most 15 digits without needless
 * zeros is the shortest text of its double, because decimals of 15 digits map to doubles one to one.
 * @param text the text that `value` was read from
 */
export function decimalText(text: string, value: number): string {
  const first = text.charCodeAt(0) === MINUS ? 1 : 0;
  const end = text.length;
  // The text has a point inside, begins with 1 to 9 and does not end with 0: no zero is needless, and String uses no
  // exponent.
  const lead = text.charCodeAt(first);
  const last = text.charCodeAt(end - 1);
  if (lead <= ZERO || lead > NINE || last <= ZERO || last > NINE) return String(value);
  if (end - first > EXACT_DIGITS + 1) return String(value);
  let point = false;
  for (let at = first + 1; at < end; at++) {
    const c = text.charCodeAt(at);
    if (c === DOT) point = true;
    else if (c > NINE || c < ZERO) return String(value);
  }
  return point ? text : String(value);
}
