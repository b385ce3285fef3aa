// Texts of others on a terminal: names of files and columns, values, names of keys. Control characters (C0, DEL, C1),
// line separators and the marks that turn the direction of writing are shown as escapes, so that no text moves the
// cursor, forges a line or hides a part of itself.
import { maskKeyTexts } from '../../config/mask.js';

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code <= 0x9f);
const isDirection = (code: number): boolean =>
  code === 0x061c ||
  code === 0x200e ||
  code === 0x200f ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

/** One line: everything that is not plain text becomes `\uXXXX`. */
export function visible(text: string): string {
  return escaped(text, '');
}

/** Several lines: their ends and tabs stay. */
export function visibleLines(text: string): string {
  return escaped(text, '\n\t');
}

/** A message of our own that may quote others: its line ends and tabs stay, keys are masked. */
export function visibleMessage(text: string): string {
  return maskKeyTexts(escaped(text, '\n\t'));
}

function escaped(text: string, kept: string): string {
  let shown = '';
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const isShown = kept.includes(character) || !(isControl(code) || isDirection(code));
    shown += isShown ? character : `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return shown;
}
