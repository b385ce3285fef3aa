// The members of one JSON object with the texts of their values. JSON.parse hides duplicate members and the spelling of
// numbers; this walk gives each member as written.
import { afterSpace, jsonStringEnd, jsonValueEnd } from './json-grammar.js';

export type JsonKind = 'number' | 'string' | 'boolean' | 'null' | 'compound';

/**
 * Calls back for each member of the object, in order; returns false where the text is not one JSON object, which may be
 * known only after some calls.
 */
export function eachMember(
  text: string,
  visit: (name: string, valueText: string, kind: JsonKind) => void,
): boolean {
  let at = afterSpace(text, 0);
  if (text[at] !== '{') return false;
  at = afterSpace(text, at + 1);
  if (text[at] === '}') return afterSpace(text, at + 1) === text.length;
  for (;;) {
    const nameEnd = jsonStringEnd(text, at);
    if (nameEnd < 0) return false;
    const name = jsonStringOf(text.slice(at, nameEnd));
    at = afterSpace(text, nameEnd);
    if (text[at] !== ':') return false;
    at = afterSpace(text, at + 1);
    const end = jsonValueEnd(text, at);
    if (end < 0) return false;
    visit(name, text.slice(at, end), kindOf(text.charCodeAt(at)));
    at = afterSpace(text, end);
    if (text[at] === '}') return afterSpace(text, at + 1) === text.length;
    if (text[at] !== ',') return false;
    at = afterSpace(text, at + 1);
  }
}

/** The string that a JSON string in its quotes stands for. */
export function jsonStringOf(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

export function kindOf(first: number): JsonKind {
  switch (first) {
    case 34: // "
      return 'string';
    case 91: // [
    case 123: // {
      return 'compound';
    case 102: // f
    case 116: // t
      return 'boolean';
    case 110: // n
      return 'null';
    default:
      return 'number';
  }
}
