// Valid hexcodes one slip away from a mistyped one. Each edit of the text is read by the kernel, so that the rules of
// the code format (separators, accents, admin codes, check symbols) are defined once.

import { greatCircleDistance, UNITS } from 'h3-js';
import { HexcodesError } from '../errors.js';
import type { Codebook } from './codebook.js';
import { latLngOf, type Position } from './position.js';

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
  | 'missing';

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
  /** A position in degrees to which the code that was meant is probably close. */
  near?: Position;
  /** Suggestions at most, default 10. */
  limit?: number;
}

const SYMBOLS = '23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The kernel refuses longer texts. UTF-16 units. */
const MOST_UNITS = 64;
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
const SLIPS: readonly Slip[] = ['none', 'twin', 'swap', 'substitution', 'extra', 'missing'];

/**
 * Valid hexcodes that a text was probably meant to be: itself if it reads, else every valid code one slip away.
 *
 * Order: with `near` by distance; without it by slip (a look-alike before any other wrong symbol), then in byte order.
 *
 * @param hexcodes a loaded library
 * @param text as it was typed; a text of more than 64 UTF-16 units has no suggestions
 * @returns up to `limit` suggestions; none if more than one thing is wrong
 * @throws HexcodesError BAD_ARGUMENT for options that are no object, NOT_A_COORDINATE
 */
export function suggest(hexcodes: Codebook, text: string, options: SuggestOptions = {}): Suggestion[] {
  if (typeof options !== 'object' || options === null)
    throw new HexcodesError('BAD_ARGUMENT', 'The third argument of suggest is an object: { near, limit }');
  const near = options.near === undefined ? undefined : latLngOf(options.near);
  const { limit = 10 } = options;
  const found = new Map<string, Suggestion>();
  const consider = (candidate: string, slip: Slip): void => {
    const read = hexcodes.read(candidate);
    if (read === null) return;
    // A symbol missing beside a separator is found again as a symbol in the separator's place; the first of them is
    // right.
    if (found.has(read.hexcodes)) return;
    const { hexcodes: code, resolution, admin_code, lat, lng } = read;
    const suggestion: Suggestion = { hexcodes: code, resolution, admin_code, lat, lng, slip };
    if (near !== undefined) {
      suggestion.distance_m = greatCircleDistance(near, [lat, lng], UNITS.m);
    }
    found.set(code, suggestion);
  };
  if (text.length <= MOST_UNITS) {
    consider(text, 'none');
    if (found.size === 0) forEachEdit(text, consider);
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
      // Punctuation that is no separator ("HN/6GHMK") is replaced by one; above it was removed.
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

function areTwins(a: string, b: string): boolean {
  const upper = b.toUpperCase();
  return TWINS.some((group) => group.includes(a) && group.includes(upper));
}
