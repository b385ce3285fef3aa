// Hints: another command for a position, a code or a file given to one that does not accept it, remedies, and remarks
// about a position that is not exactly the one in the text.

import { existsSync } from 'node:fs';
import { badUsage, type CliFailure } from '../../files/exit-codes.js';
import { formatOfName } from '../../files/format.js';
import { loadLibrary } from '../../files/library.js';
import { shellWord } from '../../files/terminal/say.js';
import { otherText } from '../../hexcodes/geometry/other-text.js';
import { type Suggestion, type SuggestOptions, suggest } from '../../hexcodes/geometry/suggest.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { type Position, parsePosition } from '../../hexcodes/wire/rows/position-text.js';

/** The remedy for angles like `19°52'46S`. */
export const UNCLEAR_S = `Its S may be seconds or south: write seconds as 46", and north or south after them.`;

/** The remedy for metres whose system is not fully named. */
export const METRES = `These are metres, whose system must be named: "48Q 588702 2325601" for UTM, "VN-2000 105°45' 2325601 588702" with the central meridian for VN-2000.`;

/** `Perhaps: hexcodes encode …` for a position, `… decode …` for a code, the remedy for metres; else undefined. */
export function otherCommand(hexcodes: Hexcodes, text: string): string | undefined {
  const position = parsePosition(text);
  const isFar = position === null || Math.max(Math.abs(position.latDeg), Math.abs(position.lngDeg)) > 360;
  if (isFar && otherText(text) === 'metres') return METRES;
  const command = position !== null ? 'encode' : hexcodes.isValid(text) ? 'decode' : null;
  return command === null ? undefined : `Perhaps: hexcodes ${command} ${shellWord(text)}`;
}

/**
 * The failure for a first word that is a position, a code or a file; null for other words, which commander reports.
 */
export async function noCommand(word: string): Promise<CliFailure | null> {
  const isFile = existsSync(word) && formatOfName(word).format !== null;
  const hint = isFile
    ? `Perhaps: hexcodes encode ${shellWord(word)}, or decode`
    : otherCommand(await loadLibrary(), word);
  return hint === undefined ? null : badUsage(`unknown command '${word}'`, hint);
}

const MIDDLES = {
  view: 'The link has no pin: this is the middle of its view. Click the place on the map, and copy the address again.',
  plus_code: "This is the middle of the Plus Code's cell.",
} as const;

/** Lines for standard error. */
export function notesOn({ middleOf }: Pick<Position, 'middleOf'>, isSwapped: boolean): string[] {
  return [
    ...(middleOf === undefined ? [] : [MIDDLES[middleOf]]),
    ...(isSwapped ? ['The first number was taken for the longitude.'] : []),
  ];
}

// Suggestions for a text that is not a hexcode, as a sentence. One of several is never shown as the answer.

type Near = NonNullable<SuggestOptions['near']>;

/** Most suggestions that are named. */
const NAMED = 3;

interface Suggested {
  /** `HN-6GHP4-83RFR`, or `one of 7: …`. */
  readonly words: string;
  readonly count: number;
}

/** @param near positions to which the code is probably close: nearest suggestions first. @returns null without any */
export function suggestionsFor(hexcodes: Hexcodes, text: string, near: readonly Near[]): Suggested | null {
  const found = near.length === 0 ? suggest(hexcodes, text, ALL) : nearestFirst(hexcodes, text, near);
  const count = found.length;
  if (count === 0) return null;
  const named = found
    .slice(0, NAMED)
    .map((each) => each.hexcodes)
    .join(', ');
  if (count === 1) return { words: named, count };
  return { words: count <= NAMED ? `one of ${named}` : `one of ${count}: ${named}, …`, count };
}

const ALL = { limit: Number.POSITIVE_INFINITY };

function nearestFirst(hexcodes: Hexcodes, text: string, near: readonly Near[]): Suggestion[] {
  const nearest = new Map<string, Suggestion>();
  for (const position of near) {
    for (const each of suggest(hexcodes, text, { ...ALL, near: position })) {
      const known = nearest.get(each.hexcodes);
      if (known === undefined || each.distance_m! < known.distance_m!) nearest.set(each.hexcodes, each);
    }
  }
  return [...nearest.values()].sort((a, b) => a.distance_m! - b.distance_m!);
}
