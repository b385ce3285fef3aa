// The resolution of a request, as text and by default. Resolutions are those of H3: 0 to 15.

import type { Parameter } from './query.js';

/** The resolution of a request that names none: cells of about 48 m², with edges of about 4 m. */
export const DEFAULT_RESOLUTION = 13;

const ZERO = 48;

/** An integer of 0 to 15 without sign, point, exponent or leading zero; -1 for any other text. */
export function readResolution(text: string): number {
  const first = text.charCodeAt(0) - ZERO;
  if (text.length === 1) return first >= 0 && first <= 9 ? first : -1;
  if (text.length !== 2 || first !== 1) return -1;
  const second = text.charCodeAt(1) - ZERO;
  return second >= 0 && second <= 5 ? 10 + second : -1;
}

/** The resolution of a parameter that may be left out, or why it is none, as the end of a sentence. */
export function resolutionOf({ text, fault }: Parameter): number | string {
  if (fault !== undefined) return fault;
  const resolution = text === undefined ? DEFAULT_RESOLUTION : readResolution(text);
  return resolution === -1 ? 'must be an integer from 0 to 15' : resolution;
}
