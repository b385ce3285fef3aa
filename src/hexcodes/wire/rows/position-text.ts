// A position in a text that is nothing else: written out, a geo URI or a link to a map.

import { foldSigns, withoutInvisible } from './angle-text.js';
import { isLink, parseMapLink } from './map-link.js';
import { type Position, parseWritten } from './written-position.js';

export type { Position } from './written-position.js';

const MAX_UNITS = 4096;
/** Two numbers as programs write them: most positions. */
const PLAIN = /^([-+]?\d{1,3}(?:\.\d+)?), ?([-+]?\d{1,3}(?:\.\d+)?)$/;

/** Text after a link: a line of its own, or another link. A link may hold blanks. */
const GOES_ON = /[\r\n]|\s(?:https?:\/\/|geo:)/i;

/**
 * Reads a position in any of these spellings; null if the text is not one. Degrees beyond 90 and 180 are not refused.
 */
export function parsePosition(text: string): Position | null {
  const plain = text.length > MAX_UNITS ? null : PLAIN.exec(text);
  if (plain !== null) return { latDeg: Number(plain[1]), lngDeg: Number(plain[2]) };
  // A Plus Code may have no digit, but has a plus sign.
  if (text.length > MAX_UNITS || !/[\d+\uff0b\uff10-\uff19]/.test(text)) return null;
  const folded = foldSigns(text);
  if (!isLink(folded)) return parseWritten(folded);
  return GOES_ON.test(text.trim()) ? null : parseMapLink(withoutInvisible(text));
}
