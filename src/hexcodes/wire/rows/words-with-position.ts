// Finds a position among other words: `toạ độ 21°01'43.7"N 105°51'09"E nhé`, `vĩ độ 21.0288, kinh độ 105.8525`. The
// text is cut into runs of numbers, marks and hemispheres; a run is read as a whole or not at all, so that a part of
// an angle is never taken for the angle.

import { parseAngle } from './angle-text.js';
import { type Position, parseWritten } from './written-position.js';

export interface FoundAmongWords extends Position {
  /**
   * Whether names show that it is a position, or marks and hemispheres in a text without other numbers. Two bare
   * numbers may be anything, and in `20.5N / 105°E, Đ2` the district is not a longitude.
   */
  readonly isSure: boolean;
}

interface Run {
  readonly text: string;
  /** The name in front of the run. */
  readonly label: 'lat' | 'lng' | null;
  readonly start: number;
  readonly end: number;
  /** Whether a sign touches the run that may be part of its numbers: then its meaning is unknown. */
  readonly isTouched: boolean;
}

const LABELS = {
  lat: '(?:vĩ|vi) ?(?:độ|do|tuyến)|latitude|lat|vđ|vd',
  lng: '(?:kinh) ?(?:độ|do|tuyến)|longitude|long|lng|lon|kđ|kd',
} as const;
/** `vĩ độ bắc`, `kinh Đông`: only the hemisphere is read. */
const LONG_SIDES = /(?<!\p{L})(?:vĩ|kinh)(?: ?(?:độ|tuyến))? (?=(?:bắc|nam|đông|tây)(?!\p{L}))/giu;
const SIDE = 'north|south|east|west|bắc|nam|đông|tây|[nsewbđ]';
const UNIT = `(?:degrees?|deg|độ|do|minutes?|min|phút|phut|seconds?|sec|giây|giay|[dms])(?:${SIDE})?`;
/** One token: a label, a number with the marks and hemispheres that touch it, or anything else. */
const TOKEN = new RegExp(
  [
    `(?<lat>(?<!\\p{L})(?:${LABELS.lat})(?!\\p{L}))`,
    `(?<lng>(?<!\\p{L})(?:${LABELS.lng})(?!\\p{L}))`,
    '(?<number>\\d+(?:[.,]\\d+)*)',
    `(?<side>(?<!\\p{L})(?:${SIDE})(?!\\p{L}))`,
    `(?<unit>(?<!\\p{L})(?:${UNIT})(?!\\p{L}))`,
    `(?<sign>[ ,;°'"+()-])`,
    '(?<other>\\p{L}+|.)',
  ].join('|'),
  'giuy',
);
/** Characters that may touch a position: blanks, marks of sentences, brackets, pictures. Others may be part of it. */
const BESIDE = '\\s.,;:!?()[\\]{}<>"\'|/+…–—、。，；：（）「」【】\\p{So}\\p{M}-';
const ODD_BEFORE = new RegExp(`[^=@${BESIDE}]$`, 'u');
const ODD_BEHIND = new RegExp(`^(?:[^${BESIDE}]| [^\\p{L}\\p{N}${BESIDE}])`, 'u');
/** A sign between two runs that may be a mark within one angle. */
const SIGN_BETWEEN = /^ ?[^\s\p{L}] ?$/u;
/** Characters between two numbers of one angle: in `21o 01.7` the second number is not degrees. */
const MAX_INSIDE = 3;
/** South or west apart from its number, `20.5: S`: the number alone is not a position. */
const SIDE_APART =
  /\d[-. ]{0,2}: ?\(?(?:s|w|south|west|nam|tây)(?!\p{L})|(?<!\p{L})(?:s|w|south|west|nam|tây) ?[:=] ?\d|\d\.\(?[sw](?!\p{L})/iu;
/** A dash that touches a number and follows no word: perhaps a minus. */
const DASH_BEFORE = /(?:^|[^\p{L}\p{N}])[–—]$/u;
/** A hemisphere that a full stop separates from its number: `N.21,0288`, `S. 14.91°`, `109°.E`. */
const SIDE_BEFORE = new RegExp(`(?:^|\\P{L})(?:${SIDE})\\. ?$`, 'iu');
const SIDE_BEHIND = new RegExp(`^\\.(?:${SIDE})(?!\\p{L})`, 'iu');
/** Texts between a name and its number. */
const LABEL_LINK = /^(?:là|la|is)$|^[:=]$/i;

/** The runs of a text, from left to right. */
function runsOf(text: string): Run[] {
  const runs: Run[] = [];
  let label: Run['label'] = null;
  let start = -1;
  let end = 0;
  /** End of the last run that cannot be read. */
  let oddEnd = -1;
  const close = (): void => {
    if (start < 0) return;
    const bare = text.slice(start, end);
    if (/\d/.test(bare)) {
      // Letters that touch a number may be its unit; the end of an escape (`&#39;`, `%27`) is not a number.
      const isPart = oddEnd >= 0 && start - oddEnd <= MAX_INSIDE;
      const isOdd =
        isPart || ODD_BEFORE.test(text.slice(0, start)) || ODD_BEHIND.test(text.slice(end, end + 2));
      if (isOdd) oddEnd = end;
      const before = text.slice(Math.max(0, start - 3), start);
      const isDashed = DASH_BEFORE.test(text.slice(0, start));
      const isTouched =
        isOdd ||
        isDashed ||
        /\d:$/.test(before) ||
        /^:\d/.test(text.slice(end, end + 2)) ||
        (label === null && SIDE_BEFORE.test(before)) ||
        SIDE_BEHIND.test(text.slice(end, end + 7));
      runs.push({ text: isOdd ? '' : bare, label, start, end, isTouched });
      label = null;
    }
    start = -1;
  };
  for (const match of text.matchAll(TOKEN)) {
    const { lat, lng, number, side, unit, sign } = match.groups!;
    const stop = match.index + match[0].length;
    if (lat !== undefined || lng !== undefined) {
      close();
      label = lat === undefined ? 'lng' : 'lat';
    } else if (number !== undefined || side !== undefined || (unit !== undefined && start >= 0)) {
      if (start < 0) start = match.index;
      end = stop;
    } else if (sign !== undefined) {
      if (start < 0 && /[+-]/.test(sign)) start = match.index;
      if (start >= 0 && /[°'"]/.test(sign)) end = stop;
    } else {
      close();
      if (!LABEL_LINK.test(match[0])) label = null;
    }
  }
  close();
  return runs.map((run, i) => {
    const [before, after] = [runs[i - 1], runs[i + 1]];
    const isJoined =
      (before !== undefined && isBetween(text.slice(before.end, run.start))) ||
      (after !== undefined && isBetween(text.slice(run.end, after.start)));
    return isJoined ? { ...run, isTouched: true } : run;
  });
}

/** `1: ` is the number of a list item. */
const isBetween = (gap: string): boolean => SIGN_BETWEEN.test(gap) && gap !== ': ' && !gap.includes('/');

/**
 * The positions in a text, from left to right.
 * @param folded by `foldSigns`
 * @returns nothing if no run of the text is a position; null where numbers that cannot be read may be another one.
 * Bare numbers are a position if each has three decimals and one has four, because prices have three; beside another
 * position, one decimal each suffices
 */
export function positionsAmongWords(folded: string): FoundAmongWords[] | null {
  if (SIDE_APART.test(folded)) return [];
  const text = folded.replace(LONG_SIDES, '');
  const runs = runsOf(text);
  const labelled = runs.filter(({ label }) => label !== null);
  const [lat, lng] = (['lat', 'lng'] as const).map((axis) => {
    const named = runs.filter(({ label }) => label === axis);
    return named.length === 1 && !named[0]!.isTouched ? degreesOf(named[0]!.text, axis) : null;
  });
  const isNamed = lat !== null && lat !== undefined && lng !== null && lng !== undefined;
  // `lat/lng: 21.0288, 105.8525` has one name. Two names whose numbers cannot be read do not name other numbers.
  if (!isNamed && labelled.length > 1) return [];
  const found: (FoundAmongWords & { start: number; isWeak: boolean })[] = [];
  if (isNamed)
    found.push({ latDeg: lat, lngDeg: lng, isSure: true, start: labelled[0]!.start, isWeak: false });
  const others: Run[] = [];
  const unread = new Set(isNamed ? runs.filter(({ label }) => label === null) : runs);
  for (const run of unread) {
    if (run.isTouched) continue;
    const bare = bareOf(run.text);
    // `21.0288, 105.8525 e nhé`: a small letter between blanks is a word, unless it is a hemisphere.
    const written = parseWritten(bare) ?? parseWritten(bare.replace(/ [enbđdm]$/u, ''));
    const isMarked = /[°'"]|[\p{L}]/u.test(bare.replace(/ [enbđdm]$/u, ''));
    const decimals = isMarked ? 4 : decimalsIn(run.text);
    if (written === null || decimals === 0) {
      others.push(run);
      continue;
    }
    const isSure = isMarked && runs.length === 1;
    found.push({ ...written, isSure, start: run.start, isWeak: decimals < 4 });
    unread.delete(run);
  }
  // `21.0288 và 105.8525`, `số 5, 21.0288 105.8525`
  const numbers = others.flatMap(loneNumbers);
  const used: LoneNumber[] = [];
  for (let i = 0; i + 1 < numbers.length; i++) {
    const [first, second] = [numbers[i]!, numbers[i + 1]!];
    if (second.start - first.end > MAX_BETWEEN || Math.max(first.decimals, second.decimals) < 4) continue;
    const { start } = first;
    found.push({ latDeg: first.value, lngDeg: second.value, isSure: false, start, isWeak: false });
    i++;
    used.push(first, second);
  }
  const isUnclear = [...unread].some(({ start, end }) => {
    const inside = used.filter((each) => each.start >= start && each.end <= end);
    const ends = [start, ...inside.map((each) => each.end)];
    return ends.some((from, i) => LIKE_DEGREES.test(text.slice(from, inside[i]?.start ?? end)));
  });
  if (isUnclear) return null;
  if (found.every(({ isWeak }) => isWeak)) return [];
  return found
    .sort((a, b) => a.start - b.start)
    .map(({ latDeg, lngDeg, isSure, middleOf, errorDeg }) => ({
      latDeg,
      lngDeg,
      isSure,
      ...(middleOf === undefined ? {} : { middleOf }),
      ...(errorDeg === undefined ? {} : { errorDeg }),
    }));
}

/** Degrees as programs write them, or an angle; other numbers have fewer decimals. */
const LIKE_DEGREES = /\d[.,]\d{4}|° ?\d/;

/** Characters between two numbers that belong together. */
const MAX_BETWEEN = 12;

/** A run without the separators around it. */
const bareOf = (text: string): string =>
  text
    .trim()
    .replace(/^[-+] /, '')
    .replace(/ [-+]$/, '');

function degreesOf(text: string, axis: 'lat' | 'lng'): number | null {
  const bare = bareOf(text);
  return /^[-+]?\d+(?:[.,]\d+)?$/.test(bare) ? Number(bare.replace(',', '.')) : parseAngle(bare, axis);
}

/**
 * The fewer decimals of two bare numbers; 4 where one has three and the other more, 0 where they are not two numbers
 * with decimals.
 */
function decimalsIn(text: string): number {
  const decimals = [...text.matchAll(/(?<!\d)\d+[.,](\d+)/g)].map(([, digits]) => digits!.length);
  if (decimals.length !== 2) return 0;
  return Math.min(...decimals) === 3 && Math.max(...decimals) > 3 ? 4 : Math.min(...decimals);
}

interface LoneNumber {
  readonly value: number;
  readonly decimals: number;
  readonly start: number;
  readonly end: number;
}

/** The numbers with three or more decimals in a run without marks; none next to other numbers, as minutes are. */
function loneNumbers({ text, start }: Run): LoneNumber[] {
  if (/[°'"\p{L}]/u.test(text)) return [];
  return [...text.matchAll(/(?:[^,;()]|(?<=\d)(?<!\.\d{3,}),(?=\d))+/g)].flatMap(({ 0: piece, index }) => {
    const numbers = [...piece.matchAll(/[^ ]+/g)];
    if (!numbers.every(([number]) => /^-?\d{1,3}[.,]\d{3,}$|^[-+]$/.test(number))) return [];
    return numbers
      .filter(([number]) => number.length > 1)
      .map(({ 0: number, index: at }) => ({
        value: Number(number.replace(',', '.')),
        decimals: number.split(/[.,]/)[1]!.length,
        start: start + index + at,
        end: start + index + at + number.length,
      }));
  });
}
