// Members that an object of JSON gives more than once, with different values. JSON.parse takes the last without a word;
// for a position that is read one of the two is wrong, and the row fails, as over HTTP.

import { eachMember, type JsonKind, kindOf } from '../../../hexcodes/wire/params/json-grammar.js';

/** A name may be written with escapes of ASCII letters. */
const ASCII_ESCAPE = '\\u00';

/**
 * The first of some members that is given with different values; undefined where there is none.
 * @param text of an object
 */
export function contradiction(text: string, names: readonly string[]): string | undefined {
  if (!names.some((name) => mayBeTwice(text, name))) return undefined;
  const met = new Map<string, string>();
  let found: string | undefined;
  eachMember(text, (name, value, kind) => {
    if (!names.includes(name)) return;
    const before = met.get(name);
    if (before === undefined) met.set(name, value);
    else if (!isSame(before, value, kind)) found ??= name;
  });
  return found;
}

export const contradictionFault = (name: string): string =>
  `${name} is given more than once, with different values`;

/** Numbers are the same by their values: 21 is 21.0. */
function isSame(before: string, value: string, kind: JsonKind): boolean {
  if (before === value) return true;
  const areNumbers = kind === 'number' && kindOf(before.charCodeAt(0)) === 'number';
  return areNumbers && Number(before) === Number(value);
}

function mayBeTwice(text: string, name: string): boolean {
  const quoted = JSON.stringify(name);
  const first = text.indexOf(quoted);
  return (first >= 0 && text.includes(quoted, first + 1)) || text.includes(ASCII_ESCAPE);
}
