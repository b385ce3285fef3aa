// Angles as people write them, in degrees, degrees and minutes, or degrees, minutes and seconds: `21°01'43.7"N`,
// `N21 01.728`. The unit of a number follows from its order alone; a mark may confirm the unit and never changes it. A
// text that can be read in two ways is refused.

/** An angle, and the axis that its hemisphere names. */
interface Angle {
  readonly deg: number;
  readonly axis: Axis | null;
  /** Numbers of the angle: 1 to 3. */
  readonly parts: number;
  /** Marks of its numbers: null for none, '' for a sign, else the letters. */
  readonly marks: readonly (string | null)[];
  /** Position of the hemisphere letter; null without one. */
  readonly sideAt: 'before' | 'after' | null;
  /** Whether a mark or a hemisphere shows that the text is an angle. */
  readonly isMarked: boolean;
}

type Axis = 'lat' | 'lng';

/** Latitude and longitude in degrees, never NaN. */
type Degrees = readonly [latDeg: number, lngDeg: number];

type Token =
  | { readonly kind: 'number'; readonly text: string }
  /** Unit 0 is degrees, 1 minutes, 2 seconds. `word` is the text of a mark made of letters. */
  | { readonly kind: 'mark'; readonly unit: number; readonly word: string }
  /** `s` or `S`, which may be seconds or south. */
  | { readonly kind: 's'; readonly isUpper: boolean }
  | { readonly kind: 'side'; readonly axis: Axis; readonly isNegative: boolean }
  | { readonly kind: 'sign'; readonly isNegative: boolean }
  | { readonly kind: 'separator' };

/**
 * Tokens of two whole angles: each a hemisphere, a sign and three numbers with marks, and a separator between them.
 */
const MAX_TOKENS = 17;

const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;
/** Other spellings of a sign, by the sign. */
const SPELLINGS = {
  '-': '\u2212\ufe63',
  '°': 'º˚\u2070ᵒ∘',
  "'": '′’‘ʹʼ´`',
  '"': '″”“„ʺ',
  Đ: 'Ðð',
};
const SIGN_OF = new Map(
  Object.entries(SPELLINGS).flatMap(([sign, all]) => [...all].map((each) => [each, sign])),
);
/** Characters that are folded, one by one: full-width ones, and other spellings of signs. */
const FOLDED = new RegExp(`[\\uff01-\\uff5e${[...SIGN_OF.keys()].join('')}]`, 'g');

/** The text without zero-width characters, which copied texts have around numbers. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '');

/**
 * The text with one spelling of each sign: full-width characters as ASCII, every mark of degrees, minutes and seconds
 * as `°`, `'` and `"`, one blank for several of any kind, none around the text, and no invisible characters.
 */
export function foldSigns(text: string): string {
  let folded = text;
  // Most texts are ASCII.
  if (/[^\x20-\x7e]|`/.test(folded)) {
    folded = withoutInvisible(folded.normalize('NFC')).replace(
      FOLDED,
      (unit) => SIGN_OF.get(unit) ?? String.fromCharCode(unit.charCodeAt(0) - 0xfee0),
    );
  }
  if (folded.includes("''")) folded = folded.replaceAll("''", '"');
  return (/[^\S ]|\s\s/.test(folded) ? folded.replace(/\s+/g, ' ') : folded).trim();
}

const UNITS = [
  ['°', 'd', 'deg', 'degree', 'degrees', 'độ', 'do'],
  ["'", 'm', 'min', 'minute', 'minutes', 'phút', 'phut'],
  ['"', 'sec', 'second', 'seconds', 'giây', 'giay'],
];
const UNIT_OF = new Map(UNITS.flatMap((marks, unit) => marks.map((mark) => [mark, unit] as const)));

// B and Đ are Vietnamese (bắc, đông). N is north: as nam it would be south, where Viet Nam has nothing, and T (tây) is
// not a side.
const SIDES: readonly (readonly [axis: Axis, isNegative: boolean, ...names: string[]])[] = [
  ['lat', false, 'n', 'north', 'b', 'bắc'],
  ['lat', true, 'south', 'nam'],
  ['lng', false, 'e', 'east', 'đ', 'đông'],
  ['lng', true, 'w', 'west', 'tây'],
];
const SIDE_OF = new Map(
  SIDES.flatMap(([axis, isNegative, ...names]) =>
    names.map((name) => [name, { kind: 'side', axis, isNegative } as const]),
  ),
);

const POINT_NUMBER = /\d+(?:\.\d+)?/y;
const COMMA_NUMBER = /\d+(?:,\d+)?/y;
const LETTERS = /\p{L}+/uy;

/** The tokens of a folded text; null where it has anything else, or more than two angles. */
function tokensOf(text: string, isDecimalComma: boolean): Token[] | null {
  const number = isDecimalComma ? COMMA_NUMBER : POINT_NUMBER;
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    if (tokens.length === MAX_TOKENS) return null;
    number.lastIndex = at;
    const digits = number.exec(text)?.[0];
    const letters = digits === undefined ? lettersAt(text, at) : '';
    const found =
      digits !== undefined
        ? [{ kind: 'number', text: digits.replace(',', '.') } as const]
        : letters !== ''
          ? tokensOfWord(letters)
          : signAt(text, at);
    if (found === null) return null;
    tokens.push(...found);
    at += (digits ?? letters).length || 1;
  }
  return tokens;
}

function lettersAt(text: string, at: number): string {
  LETTERS.lastIndex = at;
  return LETTERS.exec(text)?.[0] ?? '';
}

function tokensOfWord(word: string): Token[] | null {
  // `43.7sN`: a mark followed by a hemisphere.
  if (/^[dmsDM][NSEWBĐ]$/.test(word)) {
    const [mark, side] = [tokensOfWord(word[0]!), tokensOfWord(word[1]!)];
    return mark === null || side === null ? null : [...mark, ...side];
  }
  const lower = word.toLowerCase();
  if (lower === 's') return [{ kind: 's', isUpper: word === 'S' }];
  const side = SIDE_OF.get(lower);
  if (side !== undefined) return [side];
  const unit = UNIT_OF.get(lower);
  return unit === undefined ? null : [{ kind: 'mark', unit, word }];
}

function signAt(text: string, at: number): Token[] | null {
  const sign = text[at]!;
  const unit = UNIT_OF.get(sign);
  if (unit !== undefined) return [{ kind: 'mark', unit, word: '' }];
  if (sign === ',' || sign === ';') return [{ kind: 'separator' }];
  // A sign precedes its number, and follows only a blank or a separator: `21-01` and `21 deg-105 deg` have none.
  const isSign = (sign === '-' || sign === '+') && /\d/.test(text[at + 1] ?? '');
  return isSign && (at === 0 || /[ ,;]/.test(text[at - 1]!))
    ? [{ kind: 'sign', isNegative: sign === '-' }]
    : null;
}

/** All of the given tokens as one angle; null if they are not one. */
function angleOf(tokens: readonly Token[]): Angle | null {
  let at = 0;
  const take = <Kind extends Token['kind']>(kind: Kind): (Token & { kind: Kind }) | null => {
    const token = tokens[at];
    if (token?.kind !== kind) return null;
    at++;
    return token as Token & { kind: Kind };
  };
  const takeSide = (): (Token & { kind: 'side' }) | null =>
    take('side') ?? (take('s') === null ? null : { kind: 'side', axis: 'lat', isNegative: true });

  const before = takeSide();
  const sign = take('sign');
  const numbers: string[] = [];
  const marks: (string | null)[] = [];
  let after: (Token & { kind: 'side' }) | null = null;
  while (numbers.length < 3) {
    const number = take('number');
    if (number === null) break;
    const unit = numbers.push(number.text) - 1;
    const mark = take('mark');
    if (mark !== null && mark.unit !== unit) return null;
    marks.push(mark?.word ?? null);
    const letter = mark === null && tokens[at]?.kind === 's' ? take('s') : null;
    if (letter === null) continue;
    const hasSide = before !== null || tokens[at]?.kind === 'side';
    const meaning = meaningOfS(letter.isUpper, unit, marks, hasSide);
    if (meaning === null) return null;
    if (meaning === 'south') after = { kind: 'side', axis: 'lat', isNegative: true };
    else marks[unit] = 's';
    break;
  }
  after ??= takeSide();
  if (numbers.length === 0 || at < tokens.length || (before !== null && after !== null)) return null;
  const side = before ?? after;
  // A minus with south is ambiguous: north, or south said twice.
  if (sign !== null && side !== null && (sign.isNegative || side.isNegative)) return null;
  const deg = degreesOf(numbers);
  if (deg === null) return null;
  const isNegative = sign?.isNegative === true || side?.isNegative === true;
  return {
    deg: isNegative ? -deg : deg,
    axis: side?.axis ?? null,
    parts: numbers.length,
    marks,
    sideAt: before !== null ? 'before' : after !== null ? 'after' : null,
    isMarked: side !== null || marks.some((mark) => mark !== null),
  };
}

/**
 * Whether an `s` after a number without a mark is seconds or south.
 * @param unit of the number: 0 degrees, 1 minutes, 2 seconds
 * @param marks the letters that mark degrees and minutes, '' for a sign, null for none
 * @param hasSide whether the angle has a side beside this letter
 * @returns null where the letter may be either
 */
function meaningOfS(
  isUpper: boolean,
  unit: number,
  [degreeMark, minuteMark]: readonly (string | null)[],
  hasSide: boolean,
): 'seconds' | 'south' | null {
  if (hasSide) return unit === 2 ? 'seconds' : null;
  if (unit === 0) return 'south';
  // `19°52'46S` may mean either. `19d52m46s` has letters for all units.
  if (unit === 2) return !isUpper && degreeMark === 'd' && minuteMark === 'm' ? 'seconds' : null;
  return isUpper ? 'south' : null;
}

/** `19°52'46S`, `52' 46 s`: minutes, and seconds with an `s` instead of their mark. */
const UNCLEAR_S = /\d ?(?:'|[:° -]|\p{L}+\.?) ?\d{1,2}(?:[.,]\d+)? ?s(?!\p{L})/iu;

/** Whether a text that is not a position has an `s` that may be seconds or south. */
export const hasUnclearS = (text: string): boolean => UNCLEAR_S.test(foldSigns(text));

/** Degrees of up to three numbers: only the last may have a fraction, minutes and seconds are below 60. */
function degreesOf(numbers: readonly string[]): number | null {
  let deg = 0;
  for (const [unit, text] of numbers.entries()) {
    const point = text.indexOf('.');
    const digits = point < 0 ? text.length : point;
    if (point >= 0 && unit < numbers.length - 1) return null;
    if (digits > (unit === 0 ? 3 : 2)) return null;
    const value = Number(text);
    if (unit > 0 && value >= 60) return null;
    deg += value / 60 ** unit;
  }
  return deg;
}

/** The full stop of an abbreviation: `N. 21,0288`, `43 min. 7 sec.` */
const ABBREVIATED = /(?<=\p{L})\.(?=[ ,;]|$)/gu;

/** The only result of all readings of a text, with commas between digits as separators and as decimal commas. */
function onlyOne<Result>(whole: string, read: (tokens: readonly Token[]) => Result[]): Result | null {
  const text = whole.replace(ABBREVIATED, '');
  // A text with a point has no decimal commas; in `28,106,93` it is unknown which comma is one.
  const mayBeDecimal = /\d,\d/.test(text) && !text.includes('.') && !/\d,\d+,\d/.test(text);
  const found = (mayBeDecimal ? [false, true] : [false]).flatMap((isDecimalComma) => {
    const tokens = tokensOf(text, isDecimalComma);
    return tokens === null ? [] : read(tokens);
  });
  return found.length === 1 ? found[0]! : null;
}

/** `104 17min17,83s`: seconds with a decimal comma, or 83 south after an angle. */
const COMMA_SECONDS = /\d,\d+ ?s(?!\p{L})/iu;

/** `10°14.5°`, whose second mark may be meant for minutes. */
const DEGREES_TWICE = /(?:°|d|deg|degrees?|độ|do)\d[\d.,]* ?(?:°|d|deg|degrees?|độ|do)(?!\p{L})/iu;

/** A number whose exponent was cut off: `2.1e+01` as `2.1e`. Its letter is not a side. */
const CUT_EXPONENT = /^-?(?:\d+(?:\.\d*)?|\.\d+)e$/;

/**
 * One angle, with or without its side: `21°01'43.7"N`, `N21 01.728`. Without marks and without a side, only three
 * numbers are an angle: `21 01 43.7`.
 *
 * @param axis the coordinate that the text is read for: a latitude has no east, a longitude no north
 * @returns degrees; null if the text is not an angle or has a side of the other axis
 */
export function parseAngle(text: string, axis: Axis): number | null {
  const folded = foldSigns(text);
  if (!/\d/.test(folded) || CUT_EXPONENT.test(folded)) return null;
  const angle = onlyOne(folded, (tokens) => {
    const whole = angleOf(tokens);
    return whole === null ? [] : [whole];
  });
  if (angle === null || !(angle.isMarked || angle.parts === 3)) return null;
  return angle.axis === null || angle.axis === axis ? angle.deg : null;
}

/**
 * Two angles: both with a side, in either order, or both with a degree mark, latitude first.
 *
 * @param folded by `foldSigns`
 * @param isBare whether angles without any mark are read, of two or three numbers each: `21 01 43.7 105 51 09`
 * @returns null if the text is anything else, or can be cut into two angles in more than one way
 */
export function parseAnglePair(folded: string, isBare = false): Degrees | null {
  if (COMMA_SECONDS.test(folded) || DEGREES_TWICE.test(folded)) return null;
  return onlyOne(folded, (tokens) => {
    // `E112 53 33s` is one angle, not a longitude and a latitude of 33 degrees south.
    if (angleOf(tokens) !== null) return [];
    const separator = tokens.findIndex(({ kind }) => kind === 'separator');
    const found: Degrees[] = [];
    for (let cut = 1; cut < tokens.length; cut++) {
      if (separator >= 0 && cut !== separator) continue;
      const pair = pairOf(tokens.slice(0, cut), tokens.slice(separator >= 0 ? cut + 1 : cut), isBare);
      if (pair !== null) found.push(pair);
    }
    return found;
  });
}

function pairOf(before: readonly Token[], after: readonly Token[], isBare: boolean): Degrees | null {
  const first = angleOf(before);
  const second = angleOf(after);
  // `N 15, 104 E` may be cut elsewhere.
  if (first === null || second === null || first.sideAt !== second.sideAt) return null;
  const isEven = first.parts === second.parts;
  const marks = [...first.marks, ...second.marks];
  if (first.axis !== null && second.axis !== null) {
    // `N 15° E 104° 12m`, `5 12.5N 109°19.4'E`: angles of different forms, whose numbers may come from other text.
    const isAlike =
      first.parts === 1 ||
      first.marks.every((mark, unit) => (mark === null) === (second.marks[unit] === null));
    const isSure = isEven ? isAlike : marks.every((mark) => mark === '');
    if (first.axis === second.axis || !isSure) return null;
    return first.axis === 'lat' ? [first.deg, second.deg] : [second.deg, first.deg];
  }
  if (first.axis !== null || second.axis !== null || !isEven) return null;
  const isShown = first.marks[0] !== null && first.marks.every((mark, unit) => mark === second.marks[unit]);
  const isUnmarked = !first.isMarked && !second.isMarked && first.parts > 1;
  return isShown || (isBare && isUnmarked) ? [first.deg, second.deg] : null;
}
