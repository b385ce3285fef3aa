// Suggestions for a text that is not a hexcode, in words. One of several is never shown as the answer.

import { type Suggestion, type SuggestOptions, suggest } from '../hexcodes/geometry/suggest.js';
import type { Hexcodes } from '../hexcodes/library/hexcodes.js';

type Near = NonNullable<SuggestOptions['near']>;

/** Suggestions that are named where there are more. */
const NAMED = 3;

export interface Suggested {
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
