// How deep the text of a JSON row is nested and how much memory its values take, before it is parsed: `[[],[],…` takes
// twenty times its length, and what is nested a million deep cannot be written again.

import { stringEnd } from '../values/exact-json.js';

/** Lists and objects within one another. */
export const MOST_DEPTH = 512;
/** Texts up to this length are not looked at: they are neither deep nor large. */
const SHORT = 2 * MOST_DEPTH;
/** Memory of a letter of a short text, of a list or object, and of a value, about. */
const SHORT_LETTER_BYTES = 4;
const CONTAINER_BYTES = 64;
const VALUE_BYTES = 24;
const LETTER_BYTES = 2;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE = 0x7d;

/** Bytes that the values of a JSON text take, about. @throws Error for a text that is nested too deeply */
export function jsonWeight(text: string): number {
  if (text.length <= SHORT) return SHORT_LETTER_BYTES * text.length;
  let bytes = LETTER_BYTES * text.length;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(text, i);
        break;
      case OPEN:
      case OPEN_LIST:
        bytes += CONTAINER_BYTES;
        depth++;
        if (depth > MOST_DEPTH) throw new Error(`lists and objects are nested more than ${MOST_DEPTH} deep`);
        break;
      case CLOSE:
      case CLOSE_LIST:
        depth--;
        break;
      case COMMA:
        bytes += VALUE_BYTES;
        break;
    }
  }
  return bytes;
}
