// Hexcodes as the 20-byte records of the binary stream. A record carries ASCII only, so a spelling with other letters
// is folded as every reader folds it (docs/code-format.md, Read, steps 1 to 3); whether it is a hexcode is left to the
// service.
import { RECORD_TEXT_BYTES } from '../../wire/frames/frame-layout.js';

/** Longer texts are no hexcodes, in UTF-16 units. */
const MAX_TEXT_UNITS = 64;
/** Stands for a text that is none and cannot be sent as it is. */
const NO_HEXCODE = '!';

const FULL_WIDTH = /[\uff01-\uff5e]/g;
const SEPARATORS = /[\u00a0\u00ad\u2000-\u2015\u202f\u205f\u2060\u2212\u3000\ufeff]/g;
const LETTERS_D = /[\u00d0\u00f0\u0110\u0111]/g;
const LETTERS_WITH_MARKS = /[\u00c0-\u1ef9]/g;
const MARKS = /[\u0300-\u036f]+/g;

/**
 * Writes one item of a decode chunk as a record. Whatever is no text, or cannot be a hexcode, becomes a record that is
 * none, so that it is answered in its place.
 */
export function writeHexcode(frame: Uint8Array, offset: number, hexcode: unknown): void {
  const text = recordTextOf(hexcode);
  for (let i = 0; i < text.length; i++) frame[offset + i] = text.charCodeAt(i);
}

function recordTextOf(hexcode: unknown): string {
  if (typeof hexcode !== 'string' || hexcode.length > MAX_TEXT_UNITS) return NO_HEXCODE;
  const text = isAscii(hexcode) ? hexcode : folded(hexcode);
  if (text.includes('\0') || !isAscii(text)) return NO_HEXCODE;
  if (text.length <= RECORD_TEXT_BYTES) return text;
  // Separators behind the first one have no meaning: without them every hexcode fits.
  const begun = text.replace(/^[-._\s]+/, '');
  const separator = begun.search(/[-._\s]/);
  const short =
    separator < 0 ? begun : `${begun.slice(0, separator)}-${begun.slice(separator).replace(/[-._\s]+/g, '')}`;
  return short.length <= RECORD_TEXT_BYTES ? short : NO_HEXCODE;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
}

function folded(text: string): string {
  return text
    .replace(FULL_WIDTH, (unit) => String.fromCharCode(unit.charCodeAt(0) - 0xfee0))
    .replace(SEPARATORS, '-')
    .replace(LETTERS_D, 'D')
    .replace(LETTERS_WITH_MARKS, letterOf)
    .replace(MARKS, '');
}

/** The ASCII letter of a letter with marks; any other unit as it is. */
function letterOf(unit: string): string {
  const [letter = '', ...marks] = unit.normalize('NFD');
  return /^[A-Za-z]$/.test(letter) && marks.every((mark) => /^[\u0300-\u036f]$/.test(mark)) ? letter : unit;
}
