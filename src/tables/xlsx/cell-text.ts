// Numbers of cells as texts: with the digits that the workbook has, dates and times as ISO 8601 without a zone.

// The kind of a number by the format of its cell: a number, a date, a time of day, both, or a duration.

/** `moment`: a date with a time; `elapsed`: a duration, whose hours go on after 24. */
export type Shown = 'number' | 'date' | 'time' | 'moment' | 'elapsed';

/** Formats that a workbook names by number alone (ECMA-376, 18.8.30), where they are dates. */
const BUILT_IN: Readonly<Record<number, Shown>> = {
  ...Object.fromEntries([14, 15, 16, 17].map((id) => [id, 'date'])),
  ...Object.fromEntries([18, 19, 20, 21, 45, 47].map((id) => [id, 'time'])),
  22: 'moment',
  46: 'elapsed',
  // In Chinese, Japanese and Korean some of these are dates and some times, by the language of the program that shows
  // them: the value tells.
  ...Object.fromEntries([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'date'])),
  ...Object.fromEntries([32, 33, 34, 35, 55, 56].map((id) => [id, 'moment'])),
  // In Thai.
  ...Object.fromEntries([71, 72, 73, 74, 81].map((id) => [id, 'date'])),
  ...Object.fromEntries([75, 76, 78, 80].map((id) => [id, 'time'])),
  77: 'moment',
  79: 'elapsed',
};

/** The kind of every format without a date or a time. */
export const NUMBER_FORMAT: NumberFormat = { shownOf: () => 'number' };

export interface NumberFormat {
  /** How a value is shown. A format may have sections for positive, negative and other values. */
  shownOf(value: number): Shown;
}

/** The format with a number that the workbook does not define. */
export function builtInFormat(id: number): NumberFormat {
  const shown = BUILT_IN[id];
  return shown === undefined ? NUMBER_FORMAT : { shownOf: () => shown };
}

interface Section {
  readonly shown: Shown;
  /** In brackets, `[>=100]`. */
  readonly condition: ((value: number) => boolean) | null;
}

/** @param code as in a cell's properties: `[$-409]d/m/yyyy h:mm AM/PM;@` */
export function numberFormat(code: string): NumberFormat {
  const sections = new CodeReader(code).sections();
  if (sections.every(({ shown }) => shown === 'number')) return NUMBER_FORMAT;
  return { shownOf: (value) => sectionFor(sections, value).shown };
}

function sectionFor(sections: readonly Section[], value: number): Section {
  // The fourth is for texts.
  const [first, second = first, third] = sections as [Section, Section?, Section?];
  if (sections.length === 1) return first;
  if (first.condition?.(value) ?? (third === undefined ? value >= 0 : value > 0)) return first;
  if (third === undefined) return second;
  return (second.condition?.(value) ?? value < 0) ? second : third;
}

const CONDITION = /^(<=|>=|<>|<|>|=)(-?[\d.]+)$/;
const COMPARED: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
  '=': (value, bound) => value === bound,
  '<>': (value, bound) => value !== bound,
};
const ELAPSED = /^(?:h+|m+|s+)$/i;
const HALF_OF_DAY = /AM\/PM|A\/P/iy;
const GENERAL = /general/iy;

/** Reads a code letter by letter. */
class CodeReader {
  readonly #sections: Section[] = [];
  #at = 0;
  #condition: Section['condition'] = null;
  #hasDate = false;
  #hasTime = false;
  #isElapsed = false;
  /** The last letter of a date or a time: after `h` an `m` is minutes. */
  #unit = '';
  /** An `m` that is minutes if seconds follow, else the month. */
  #isOpen = false;

  constructor(private readonly code: string) {}

  sections(): readonly Section[] {
    while (this.#at < this.code.length) this.#step(this.code[this.#at]!);
    this.#end();
    return this.#sections;
  }

  #step(sign: string): void {
    if (sign === '"') this.#at = this.#after('"');
    else if (sign === '[') this.#bracket();
    else if (sign === ';') {
      this.#end();
      this.#at++;
    }
    // A literal character, a blank as wide as a character, a repeated character.
    else if (sign === '\\' || sign === '_' || sign === '*') this.#at += 2;
    else if (!this.#skipped(GENERAL)) {
      if (this.#skipped(HALF_OF_DAY)) this.#hasTime = true;
      else this.#letters(sign.toLowerCase());
    }
  }

  #letters(letter: string): void {
    const start = this.#at;
    while (this.code[this.#at]?.toLowerCase() === letter) this.#at++;
    const next = this.code[this.#at] ?? '';
    if (letter === 'e' && (next === '+' || next === '-')) return;
    // `B1` and `B2` name a calendar.
    if (letter === 'b' && (next === '1' || next === '2')) return;
    if (letter === 'm' && this.#at - start < 3) {
      if (this.#unit === 'h') this.#hasTime = true;
      else this.#isOpen = true;
    } else if (letter === 'h' || letter === 's') {
      this.#close(letter === 's');
      this.#hasTime = true;
    } else if ('ymdegb'.includes(letter)) {
      this.#close(false);
      this.#hasDate = true;
    } else return;
    this.#unit = letter;
  }

  #close(isMinutes: boolean): void {
    if (this.#isOpen && isMinutes) this.#hasTime = true;
    else if (this.#isOpen) this.#hasDate = true;
    this.#isOpen = false;
  }

  #bracket(): void {
    const start = this.#at + 1;
    this.#at = this.#after(']');
    const inner = this.code.slice(start, this.#at - 1);
    const condition = CONDITION.exec(inner);
    if (condition !== null) {
      const bound = Number(condition[2]);
      this.#condition = (value) => COMPARED[condition[1]!]!(value, bound);
    } else if (ELAPSED.test(inner)) {
      this.#isElapsed = true;
      this.#unit = inner[0]!.toLowerCase();
    }
  }

  #end(): void {
    this.#close(false);
    const shown = this.#isElapsed
      ? 'elapsed'
      : this.#hasDate
        ? this.#hasTime
          ? 'moment'
          : 'date'
        : this.#hasTime
          ? 'time'
          : 'number';
    this.#sections.push({ shown, condition: this.#condition });
    this.#condition = null;
    this.#hasDate = false;
    this.#hasTime = false;
    this.#isElapsed = false;
    this.#unit = '';
  }

  #after(end: string): number {
    const at = this.code.indexOf(end, this.#at + 1);
    return at < 0 ? this.code.length : at + 1;
  }

  #skipped(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.code)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }
}

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
