// Valid hexcodes one slip away from a mistyped one. Each edit of the text is read by the kernel, so that the rules of
// the code format (separators, accents, admin codes, check symbols) are defined once.

import { cellToParent, greatCircleDistance, latLngToCell, UNITS } from 'h3-js';
import { ADMIN_UNITS } from '../admin-units.js';
import { HexcodesError } from '../errors.js';
import { requireKnown } from '../wire/params/names.js';
import { type Codebook, latLngOf, type Position, type ReadCode, readOrThrow } from './codebook.js';

// Codes without their beginning, for people nearby: the province and the first group of five, HN-6GHP4-, stand for a
// cell of resolution 7 (edges of 1.4 km). The check symbol is that of the whole code. It protects the short code only
// as far as the position determines the beginning: with another beginning a wrong text may pass the check.
/** Resolution of the cell that the omitted part stands for. */
const LEFT_OUT_RESOLUTION = 7;
/** Positions whose codes are searched: steps to each side, 5.5 km, and degrees of a step, 280 m. */
const [STEPS, STEP_DEG] = [20, 1 / 400];
const CHECK_SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The kernel refuses longer texts. UTF-16 units. */
const MAX_UNITS = 64;
const isShort = (text: unknown): boolean => typeof text === 'string' && text.length <= MAX_UNITS;
const LAST_SYMBOL = /[\p{L}\p{N}](?=[^\p{L}\p{N}]*$)/u;

/**
 * The full code of a shortened one: among the cells with this ending, whatever their check symbol, the one whose
 * centre is nearest to the position; null if its check symbol differs. A whole code shows every single wrong symbol,
 * a short one most of them: a wrong text that means another beginning may pass the check.
 * @param hexcodes a loaded library
 * @param short the groups after the first, as `83RFR`, in any accepted spelling
 * @param near in degrees, within a kilometre of the code; farther away another cell may be nearer, and null the
 * answer
 * @returns the canonical code; null where the nearest cell has another check symbol, or no cell around has this
 * ending
 * @throws HexcodesError NOT_A_COORDINATE
 */
export function lengthen(hexcodes: Codebook, short: string, near: Position): string | null {
  const [latDeg, lngDeg] = latLngOf(near);
  const given = isShort(short) ? LAST_SYMBOL.exec(short)?.[0] : undefined;
  if (given === undefined) return null;
  let nearestM = Number.POSITIVE_INFINITY;
  let nearest: string | null = null;
  for (const start of startsAround(hexcodes, latDeg, lngDeg)) {
    const meant = readAfter(hexcodes, start, short);
    for (const check of meant === null ? CHECK_SYMBOLS : given) {
      const read = meant ?? readAfter(hexcodes, start, short.replace(LAST_SYMBOL, check));
      if (read === null) continue;
      const farM = greatCircleDistance([latDeg, lngDeg], [read.lat, read.lng], UNITS.m);
      // Provinces share the cells on their border: each has its own code, of which one has the right check symbol.
      if (farM < nearestM) [nearestM, nearest] = [farM, meant?.hexcodes ?? null];
      else if (farM === nearestM) nearest ??= meant?.hexcodes ?? null;
      break;
    }
  }
  return nearest;
}

/**
 * Reads a beginning and a rest as one code. A rest with too many or too few symbols may read as a code of another
 * shape.
 */
function readAfter(hexcodes: Codebook, start: string, rest: string): ReadCode | null {
  const read = hexcodes.read(`${start}-${rest}`);
  return read !== null && read.resolution > LEFT_OUT_RESOLUTION && read.hexcodes.startsWith(start)
    ? read
    : null;
}

/**
 * A code without its province and first group, for people around a position; null where `lengthen` from there would
 * give another code, or for codes of resolution 7 and coarser.
 *
 * @throws HexcodesError INVALID_HEXCODES, NOT_A_COORDINATE
 */
export function shorten(hexcodes: Codebook, code: string, near: Position): string | null {
  const { hexcodes: full, resolution } = readOrThrow(hexcodes, code);
  if (resolution <= LEFT_OUT_RESOLUTION) return null;
  const short = full.split('-').slice(2).join('-');
  return lengthen(hexcodes, short, near) === full ? short : null;
}

/** Province and first group of the codes around a position, from the south, then from the west. */
function startsAround(hexcodes: Codebook, latDeg: number, lngDeg: number): Set<string> {
  const cells = new Map<string, [cell: string, admin: string]>();
  for (let i = -STEPS; i <= STEPS; i++)
    for (let j = -STEPS; j <= STEPS; j++) {
      const [lat, lng] = [latDeg + i * STEP_DEG, lngDeg + j * STEP_DEG];
      const admin = hexcodes.adminCodeOf(lat, lng);
      if (admin === null) continue;
      const cell = cellToParent(latLngToCell(lat, lng, 15), LEFT_OUT_RESOLUTION);
      cells.set(admin + cell, [cell, admin]);
    }
  const codes = [...cells.values()].map(([cell, admin]) => hexcodes.pack(BigInt(`0x${cell}`), admin));
  return new Set(codes.flatMap((code) => (code === null ? [] : code.split('-', 2).join('-'))));
}

export type Slip =
  /** The text is a valid code. */
  | 'none'
  /** One symbol taken for one that looks or sounds like it. */
  | 'twin'
  /** Two symbols next to each other in the wrong order. */
  | 'swap'
  /** One symbol wrong. */
  | 'substitution'
  /** One symbol too many. */
  | 'extra'
  /** One symbol missing. */
  | 'missing'
  /**
   * The letters of another province before a correct rest, or none; with `near` also a code without its first group.
   */
  | 'province';

export interface Suggestion {
  /** Canonical text of a valid hexcode. */
  hexcodes: string;
  resolution: number;
  admin_code: string;
  /** Centre of the cell, degrees. */
  lat: number;
  lng: number;
  /** The slip that turns this code into the text. */
  slip: Slip;
  /** From `near` to the cell's centre, metres; absent without `near`. */
  distance_m?: number;
}

export interface SuggestOptions {
  /** A position in degrees that is probably close to the intended code. */
  near?: Position | undefined;
  /** Suggestions at most, a whole number from 1, or Infinity; default 10. */
  limit?: number | undefined;
}

const SYMBOLS = '23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Groups of characters that people, fonts and telephones mistake for one another. */
const TWINS = [
  '0ODQCG',
  '1ILJ7T',
  '5S',
  '2Z',
  '8B3',
  'UV',
  'NMH',
  'VYX',
  '6G',
  '4A',
  '9GP',
  'FPR',
  'KX',
  'CX',
];
const SLIPS: readonly Slip[] = ['none', 'twin', 'swap', 'substitution', 'extra', 'missing', 'province'];

/**
 * Valid hexcodes that a text was probably meant to be: the text itself if it is valid, else every valid code one slip
 * away, including those with a wrong or missing province. If there are none and `near` is given, the nearby code with
 * this ending, as `lengthen` finds it. Order: with `near` by distance; without it by slip (a look-alike before any
 * other wrong symbol), then in byte order.
 * @param hexcodes a loaded library
 * @param text as it was typed; a text of more than 64 UTF-16 units has no suggestions
 * @returns up to `limit` suggestions; none if more than one thing is wrong
 * @throws HexcodesError BAD_ARGUMENT for options that are not an object, an option of another name or a limit that is
 * not a whole number from 1; NOT_A_COORDINATE
 */
export function suggest(hexcodes: Codebook, text: string, options: SuggestOptions = {}): Suggestion[] {
  requireKnown(options, ['near', 'limit'], 'suggest');
  const near = options.near === undefined ? undefined : latLngOf(options.near);
  const { limit = 10 } = options;
  if ((!Number.isInteger(limit) && limit !== Number.POSITIVE_INFINITY) || limit < 1)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `limit ${String(limit)}: must be a whole number from 1, or Infinity`,
    );
  const found = new Map<string, Suggestion>();
  const consider = (candidate: string, slip: Slip): void => {
    const read = hexcodes.read(candidate);
    if (read === null) return;
    // A symbol missing beside a separator is found again as a symbol in place of the separator; the first slip found
    // is the right one.
    if (found.has(read.hexcodes)) return;
    const { hexcodes: code, resolution, admin_code, lat, lng } = read;
    const suggestion: Suggestion = { hexcodes: code, resolution, admin_code, lat, lng, slip };
    if (near !== undefined) {
      suggestion.distance_m = greatCircleDistance(near, [lat, lng], UNITS.m);
    }
    found.set(code, suggestion);
  };
  if (isShort(text)) {
    consider(text, 'none');
    if (found.size === 0) {
      forEachEdit(text, consider);
      forEachProvince(text, consider);
      const whole =
        found.size === 0 && near !== undefined && isEnd(text) ? lengthen(hexcodes, text, near) : null;
      if (whole !== null) consider(whole, 'province');
    }
  }
  return [...found.values()].sort(byLikelihood).slice(0, limit);
}

function byLikelihood(a: Suggestion, b: Suggestion): number {
  if (a.distance_m !== undefined && b.distance_m !== undefined && a.distance_m !== b.distance_m) {
    return a.distance_m - b.distance_m;
  }
  const slips = SLIPS.indexOf(a.slip) - SLIPS.indexOf(b.slip);
  if (slips !== 0) return slips;
  return a.hexcodes < b.hexcodes ? -1 : Number(a.hexcodes > b.hexcodes);
}

function forEachEdit(text: string, consider: (candidate: string, slip: Slip) => void): void {
  const isSymbol = Array.from({ length: text.length }, (_, i) =>
    /[\p{L}\p{N}\p{S}]|[^\s\p{P}]/u.test(text[i] ?? ''),
  );
  for (let i = 0; i <= text.length; i++)
    for (const symbol of SYMBOLS) consider(text.slice(0, i) + symbol + text.slice(i), 'missing');
  for (const [i, typed] of text.split('').entries()) {
    const before = text.slice(0, i);
    const after = text.slice(i + 1);
    consider(before + after, 'extra');
    if (!isSymbol[i]) {
      // Punctuation that is not a separator ("HN/6GHMK") is replaced by one; it was removed above.
      consider(`${before}-${after}`, 'extra');
    }
    for (const symbol of SYMBOLS) {
      if (symbol === typed) continue;
      consider(before + symbol + after, areTwins(symbol, typed) ? 'twin' : 'substitution');
    }
    const next = isSymbol.indexOf(true, i + 1);
    if (isSymbol[i] && next > 0 && text[next] !== typed) {
      consider(before + text[next] + text.slice(i + 1, next) + typed + text.slice(next + 1), 'swap');
    }
  }
}

/** Whether a text may be a code without its beginning: symbols with a digit among them. */
const isEnd = (text: string): boolean =>
  /^[\s-]*[\dA-Z](?:[\s-]*[\dA-Z]){2,9}[\s-]*$/i.test(text) && /\d/.test(text);

/** Fewest symbols of a code without its province: shorter ones may be anything. */
const MIN_WITHOUT_PROVINCE = 6;

/** The text with the letters of each province in front, or instead of those that it has. */
function forEachProvince(text: string, consider: (candidate: string, slip: Slip) => void): void {
  const symbols = text.replace(/[^\p{L}\p{N}]/gu, '');
  if (symbols.length >= MIN_WITHOUT_PROVINCE && /\d/.test(symbols))
    for (const { code } of ADMIN_UNITS) consider(`${code}-${text.trim()}`, 'province');
  for (const letters of [2, 3]) {
    const match = new RegExp(`^\\s*\\p{L}{${letters}}(?=[\\s\\p{P}]*[\\p{L}\\d])(.*)$`, 'su').exec(text);
    if (match === null) continue;
    for (const { code } of ADMIN_UNITS) consider(code + match[1]!, 'province');
  }
}

function areTwins(a: string, b: string): boolean {
  const upper = b.toUpperCase();
  return TWINS.some((group) => group.includes(a) && group.includes(upper));
}
