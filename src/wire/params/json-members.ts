// The members of one JSON object with the texts of their values. JSON.parse hides duplicate members and the spelling of
// numbers, so it only checks the grammar; a walk over the valid text then finds where each value begins and ends.

export type JsonKind = 'number' | 'string' | 'boolean' | 'null' | 'compound';

/** Calls back for each member of the object, in order; returns false where the text is not one JSON object. */
export function eachMember(
  text: string,
  visit: (name: string, valueText: string, kind: JsonKind) => void,
): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  } catch {
    return false;
  }
  let at = text.indexOf('{') + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === '}') return true;
    const nameEnd = endOfValue(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    at = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, at);
    visit(name, text.slice(at, end), kindOf(text.charCodeAt(at)));
    at = skipSpace(text, end);
    if (text[at] === ',') at++;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 32) at++;
  return at;
}

/** The place after the value that begins at `from`, in valid JSON. */
function endOfValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return endOfString(text, from);
  if (first !== '{' && first !== '[') {
    let at = from;
    while (!ENDS_SCALAR.test(text[at] as string)) at++;
    return at;
  }
  let depth = 0;
  for (let at = from; ; at++) {
    const c = text[at];
    if (c === '"') at = endOfString(text, at) - 1;
    else if (c === '{' || c === '[') depth++;
    else if ((c === '}' || c === ']') && --depth === 0) return at + 1;
  }
}

const ENDS_SCALAR = /[\s,}\]]/;

/** The place after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function kindOf(first: number): JsonKind {
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
