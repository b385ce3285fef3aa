// Numbers of cells as texts: with the digits that the workbook has, dates and times as ISO 8601 without a zone.

import type { Shown } from './number-format.js';

const DAY_MS = 86_400_000;
/** Digits that a number of 64 bits keeps, and digits that tell all of them apart. */
const SURE_DIGITS = 15;
const TELLING_DIGITS = 17;
const MAX_DIGITS = 40;
const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** The first day of each system. Excel's 1900 has a 29 February: its days before that are counted from another. */
const FIRST_OF_1904_MS = Date.UTC(1904, 0, 1);
const DAY_0_MS = Date.UTC(1899, 11, 30);
const EARLY_DAY_0_MS = Date.UTC(1899, 11, 31);
const LEAP_DAY = 60;
const END_MS = Date.UTC(10_000, 0, 1);

/**
 * A number with its digits: all of an integer, and all of a fraction of more than 17 digits; else the shortest that is
 * the same number of 64 bits, as Excel's `0.10000000000000001` is 0.1.
 * @returns null for a text that is not a number
 */
export function numberText(text: string): string | null {
  if (isPlain(text)) return text;
  const value = Number(text);
  if (Number.isNaN(value)) return null;
  const short = String(value);
  if (short === text && Number.isFinite(value)) return text;
  const [, sign = '', whole = '', part = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === '' && part === '') return null;
  if (whole.length + part.length <= SURE_DIGITS && Number.isFinite(value)) return short;
  let digits = (whole + part).replace(/^0+/, '');
  const all = digits.length;
  digits = withoutZeros(digits);
  const zeros = Number(exponent) - part.length + (all - digits.length);
  if (digits.length <= SURE_DIGITS && Number.isFinite(value)) return short;
  const minus = sign === '-' ? '-' : '';
  if (zeros >= 0 && digits.length + zeros <= MAX_DIGITS) return `${minus}${digits}${'0'.repeat(zeros)}`;
  return digits.length <= TELLING_DIGITS && Number.isFinite(value) ? short : text;
}

const [ZERO, NINE, POINT, MINUS] = [48, 57, 46, 45] as const;

/** Whether a text is what a number of at most 15 digits from 0.001 on is written as. */
function isPlain(text: string): boolean {
  const start = text.charCodeAt(0) === MINUS ? 1 : 0;
  const size = text.length - start;
  if (size < 1 || size > SURE_DIGITS) return false;
  let point = -1;
  for (let at = start; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === POINT && point < 0 && at > start) point = at;
    else if (sign < ZERO || sign > NINE) return false;
  }
  const hasZeroFirst = text.charCodeAt(start) === ZERO;
  if (point < 0) return size === 1 ? start === 0 || !hasZeroFirst : !hasZeroFirst;
  return text.charCodeAt(text.length - 1) > ZERO && (!hasZeroFirst || (point === start + 1 && size < 6));
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/**
 * A day number as `2026-01-02`, `2026-01-02T23:30:00`, `23:30:00` or, for a duration, `PT26H5M0S`, exact to the
 * millisecond, which is left out where it is 0.
 * @returns null where the format has no date for the value: days below 0, day 0 of 1900, years from 10000 on
 */
export function momentText(value: number, shown: Shown, is1904: boolean): string | null {
  const ms = Math.round(value * DAY_MS);
  if (!Number.isSafeInteger(ms)) return null;
  if (shown === 'elapsed') return durationText(ms);
  if (value < 0) return null;
  const timeMs = ms % DAY_MS;
  const day = (ms - timeMs) / DAY_MS;
  if (value < 1 && (shown === 'time' || !is1904))
    return shown === 'date' || day > 0 ? null : timeText(timeMs);
  const date = dateText(day, is1904);
  if (date === null || (shown === 'date' && timeMs === 0)) return date;
  return `${date}T${timeText(timeMs)}`;
}

let lastDay = -1;
let lastWas1904 = false;
let lastText = '';

function dateText(day: number, is1904: boolean): string | null {
  if (day === lastDay && is1904 === lastWas1904) return lastText;
  // Excel shows a day that never was: it is as Excel shows it.
  if (day === LEAP_DAY && !is1904) return '1900-02-29';
  const firstMs = is1904 ? FIRST_OF_1904_MS : day < LEAP_DAY ? EARLY_DAY_0_MS : DAY_0_MS;
  const ms = firstMs + day * DAY_MS;
  if (ms >= END_MS) return null;
  lastText = new Date(ms).toISOString().slice(0, 10);
  lastDay = day;
  lastWas1904 = is1904;
  return lastText;
}

function timeText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${two(hour)}:${two(minute)}:${two(seconds % 60)}${fraction(ms % 1000)}`;
}

function durationText(ms: number): string {
  const all = Math.abs(ms);
  const seconds = Math.floor(all / 1000);
  const hours = `${Math.floor(seconds / 3600)}H${Math.floor(seconds / 60) % 60}M`;
  return `${ms < 0 ? '-' : ''}PT${hours}${seconds % 60}${fraction(all % 1000)}S`;
}

const two = (number: number): string => (number < 10 ? `0${number}` : String(number));
const fraction = (ms: number): string => (ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`);

const ZONED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d\d:\d\d:\d\d)(?:\.0+|(\.\d+))?Z?$/;

/** A date that is in the cell as ISO 8601. Its `Z` says nothing: a workbook has no zones. */
export const isoText = (text: string): string => text.trim().replace(ZONED, '$1$2');

const ESCAPED = /_x([0-9A-Fa-f]{4})_/g;

/** A text with what XML has no form for: `_x0001_` (ECMA-376, 22.9.2.19). */
export function textOf(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
