// Decimal numbers as texts of requests, read exactly. Their grammar is `-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?`.

const ZERO = 48;
const NINE = 57;
const DOT = 46;
const MINUS = 45;
const PLUS = 43;

/** 10^0 … 10^22 are exact doubles, as is every integer of 15 digits: their quotient is rounded only once, correctly. */
const POWERS = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));
const EXACT_DIGITS = 15;

/** The double nearest to the decimal text, possibly infinite; NaN where the text is not of the grammar. */
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
 * The same text as String(value), without printing where that is not needed: a plain decimal of at most 15 digits
 * without needless zeros is already the shortest text of its double, because decimals of 15 digits map to doubles one
 * to one.
 * @param text the text that `value` was read from
 */
export function decimalText(text: string, value: number): string {
  const first = text.charCodeAt(0) === MINUS ? 1 : 0;
  const end = text.length;
  // First 1 to 9, last neither zero nor point, and a point between: no zero is needless, and String uses no exponent.
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
