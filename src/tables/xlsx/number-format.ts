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
