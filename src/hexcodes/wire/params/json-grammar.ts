// The grammar of JSON (RFC 8259), as a walk that makes no objects and does not throw: JSON.parse takes microseconds
// to reject a text, and a hundred nanoseconds for each object that is not needed.

// JSON whose integers keep all their digits: integers that a double cannot hold are bigints. JSON.parse silently
// reads them as the nearest double, and JSON.stringify rejects bigints.

/** Text that JSON.parse may falsify: an integer of 16 or more digits as a value, or a large exponent. */
const FALSIFIABLE = /[[,:\s-]\d{16}|^\d{16}|\d[eE]\+?\d{3}/;
/**
 * A string is matched by its opening quote only: a pattern for the rest would keep a backtracking state for each
 * escape, and has few.
 */
const TOKEN = /\s*(?:(")|(-?\d[\d.eE+-]*)|([[\]{},:])|(true|false|null))/y;
const BACKSLASH = 92;

/** Matches wherever FALSIFIABLE does, in a quarter of the time. */
const PERHAPS = /\d(?:\d{15}|[eE]\+?\d{3})/;

/** Whether JSON.parse may falsify an integer of a text. */
export function isFalsifiable(text: string): boolean {
  return PERHAPS.test(text) && FALSIFIABLE.test(text);
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Whether a text is a number of JSON that a double holds. */
export function isJsonNumber(text: string): boolean {
  return JSON_NUMBER.test(text) && Number.isFinite(Number(text));
}

/** @throws SyntaxError for invalid JSON, RangeError for a number beyond all doubles */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return isFalsifiable(text) ? parseNumbersBy(text, exactNumber) : value;
}

/** A number as JSON writes it: an integer as number or bigint, anything else as the nearest double. */
function exactNumber(digits: string): number | bigint {
  const value = Number(digits);
  if (!Number.isFinite(value)) throw new RangeError(`${digits} is beyond what a number can be`);
  return Number.isSafeInteger(value) || /[.eE]/.test(digits) ? value : BigInt(digits);
}

/**
 * @param text valid JSON
 * @param number gives the value of a number from its text
 */
export function parseNumbersBy(text: string, number: (digits: string) => unknown): unknown {
  let at = 0;
  const next = (): RegExpExecArray => {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text);
    if (token === null) throw new SyntaxError(`Unexpected text at position ${at}`);
    at = TOKEN.lastIndex;
    return token;
  };
  const restOfString = (): string => {
    const start = at - 1;
    at = stringEnd(text, start) + 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const valueAt = ([, quote, digits, mark, word]: RegExpExecArray): unknown => {
    if (quote !== undefined) return restOfString();
    if (digits !== undefined) return number(digits);
    if (mark === undefined) return JSON.parse(word!);
    if (mark === '[') {
      const list: unknown[] = [];
      for (let token = next(); token[3] !== ']'; token = next()) {
        if (token[3] !== ',') list.push(valueAt(token));
      }
      return list;
    }
    const entries: [string, unknown][] = [];
    for (let token = next(); token[3] !== '}'; token = next()) {
      if (token[3] === ',') continue;
      const name = restOfString();
      next();
      entries.push([name, valueAt(next())]);
    }
    // Own properties, `__proto__` included, as JSON.parse defines them.
    return Object.fromEntries(entries);
  };
  return valueAt(next());
}

/** The index of the quote that closes a string of JSON; the text's length if none does. */
export function stringEnd(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * The text itself.
 * @throws SyntaxError for invalid JSON
 */
export function validJson(text: string): string {
  JSON.parse(text);
  return text;
}

/** The JSON text of a value of strings, numbers, bigints, booleans, null, lists and plain objects. */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return numberText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join(',')}}`;
}

/** JSON has no NaN and no infinities: their names as text, as in the JSON mapping of protocol buffers. */
export function numberText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  return JSON.stringify(String(value));
}

// The members of one JSON object with the texts of their values. JSON.parse hides duplicate members and the spelling
// of numbers; this walk gives each member as written.
export type JsonKind = 'number' | 'string' | 'boolean' | 'null' | 'compound';

/**
 * Calls back for each member of the object, in order, at last with its whole text; returns false where the text is
 * not one JSON object, which may be known only after some calls.
 */
export function eachMember(
  text: string,
  visit: (name: string, valueText: string, kind: JsonKind, member: string) => void,
): boolean {
  let at = afterSpace(text, 0);
  if (text[at] !== '{') return false;
  at = afterSpace(text, at + 1);
  if (text[at] === '}') return afterSpace(text, at + 1) === text.length;
  for (;;) {
    const start = at;
    const nameEnd = jsonStringEnd(text, at);
    if (nameEnd < 0) return false;
    const name = jsonStringOf(text.slice(at, nameEnd));
    at = afterSpace(text, nameEnd);
    if (text[at] !== ':') return false;
    at = afterSpace(text, at + 1);
    const end = jsonValueEnd(text, at);
    if (end < 0) return false;
    visit(name, text.slice(at, end), kindOf(text.charCodeAt(at)), text.slice(start, end));
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

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const COLON = 58;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

const WORDS: Readonly<Record<number, string>> = { 116: 'true', 102: 'false', 110: 'null' };
const PLAIN_ESCAPES = '"\\/bfnrt';

/** Whether JSON.parse would read the text. */
export function isJson(text: string): boolean {
  const end = jsonValueEnd(text, afterSpace(text, 0));
  return end >= 0 && afterSpace(text, end) === text.length;
}

/** The first offset from `from` on that is not white space. */
export function afterSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) return at;
    at++;
  }
}

/** The offset after the value that begins at `from`; -1 where there is none. */
export function jsonValueEnd(text: string, from: number): number {
  /** The brackets that close the values around this one. */
  const closing: number[] = [];
  for (let at = from; ; ) {
    const first = text.charCodeAt(at);
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      const close = first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      at = afterSpace(text, at + 1);
      if (text.charCodeAt(at) !== close) {
        closing.push(close);
        if (first === OPEN_BRACE) at = memberValueAt(text, at);
        if (at < 0) return -1;
        continue;
      }
      at++;
    } else {
      at = scalarEnd(text, at, first);
      if (at < 0) return -1;
    }
    at = nextValueAt(text, at, closing);
    if (closing.length === 0 || at < 0) return at;
  }
}

/**
 * The offset of the next value after one that ends at `from`, with `closing` shortened by the brackets between; where
 * none are left, the offset after the last bracket; -1 for invalid JSON.
 */
function nextValueAt(text: string, from: number, closing: number[]): number {
  let at = from;
  while (closing.length > 0) {
    at = afterSpace(text, at);
    const unit = text.charCodeAt(at);
    const close = closing[closing.length - 1];
    if (unit === COMMA) {
      at = afterSpace(text, at + 1);
      return close === CLOSE_BRACE ? memberValueAt(text, at) : at;
    }
    if (unit !== close) return -1;
    closing.pop();
    at++;
  }
  return at;
}

/** The offset of the value of the member whose name begins at `from`. */
function memberValueAt(text: string, from: number): number {
  const nameEnd = jsonStringEnd(text, from);
  if (nameEnd < 0) return -1;
  const at = afterSpace(text, nameEnd);
  return text.charCodeAt(at) === COLON ? afterSpace(text, at + 1) : -1;
}

function scalarEnd(text: string, from: number, first: number): number {
  if (first === QUOTE) return jsonStringEnd(text, from);
  if (first === MINUS || isDigit(first)) return numberEnd(text, from);
  const word = WORDS[first];
  return word !== undefined && text.startsWith(word, from) ? from + word.length : -1;
}

/** Whether objects and arrays are nested in more levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/**
 * The name of the first member that an object, at any depth, gives more than once with different values, of which
 * JSON.parse keeps the last; undefined if there is none. 21 and 21.0 are equal, and the order of members does not
 * matter.
 * @param text of a value that JSON.parse has made
 * @param matters whether a member is checked, by the names of the objects around it and its own, outermost first
 */
export function repeatedMember(
  text: string,
  matters: (path: readonly string[], valueText: string) => boolean = () => true,
): string | undefined {
  const mark = /["{}]/g;
  /** The objects around this offset, with the members they have had so far. */
  const around: { name: string; readonly valuesAt: Map<string, number> }[] = [];
  while (mark.test(text)) {
    const at = mark.lastIndex - 1;
    const unit = text.charCodeAt(at);
    if (unit === OPEN_BRACE) around.push({ name: '', valuesAt: new Map() });
    if (unit === CLOSE_BRACE) around.pop();
    if (unit !== QUOTE) continue;
    const end = jsonStringEnd(text, at);
    if (end < 0) return undefined;
    mark.lastIndex = end;
    const colon = afterSpace(text, mark.lastIndex);
    if (text.charCodeAt(colon) !== COLON) continue;
    const name = jsonStringOf(text.slice(at, mark.lastIndex));
    const inner = around[around.length - 1]!;
    inner.name = name;
    const valueAt = afterSpace(text, colon + 1);
    const before = inner.valuesAt.get(name);
    // Keeps the offset of the latest one, as the first may be long.
    inner.valuesAt.set(name, valueAt);
    if (before === undefined) continue;
    const value = valueTextAt(text, valueAt);
    const path = around.map((each) => each.name);
    if (matters(path, value) && !areEqualTexts(valueTextAt(text, before), value)) return name;
  }
  return undefined;
}

const valueTextAt = (text: string, at: number): string => text.slice(at, jsonValueEnd(text, at));

/** Whether two texts of JSON are of one value. */
export function areEqualTexts(text: string, other: string): boolean {
  if (text === other) return true;
  try {
    return areEqual(parseExact(text), parseExact(other));
  } catch {
    // A number beyond all doubles, or values that are nested too deep.
    return false;
  }
}

function areEqual(value: unknown, other: unknown): boolean {
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null)
    return value === other;
  const [entries, others] = [Object.entries(value), new Map(Object.entries(other))];
  if (Array.isArray(value) !== Array.isArray(other) || entries.length !== others.size) return false;
  return entries.every(([name, each]) => others.has(name) && areEqual(each, others.get(name)));
}

/** The offset after the string that begins at `from`; -1 where there is none. */
function jsonStringEnd(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) return -1;
  for (let at = from + 1; ; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    // After the end of the text, charCodeAt is NaN.
    if (!(unit >= 32)) return -1;
    if (unit !== BACKSLASH) continue;
    at++;
    if (text[at] === 'u') {
      for (const end = at + 4; at < end; ) if (!isHexDigit(text.charCodeAt(++at))) return -1;
    } else if (at >= text.length || !PLAIN_ESCAPES.includes(text[at]!)) {
      return -1;
    }
  }
}

function numberEnd(text: string, from: number): number {
  let at = text.charCodeAt(from) === MINUS ? from + 1 : from;
  const whole = at;
  at = afterDigits(text, at);
  if (at === whole || (text[whole] === '0' && at > whole + 1)) return -1;
  if (text.charCodeAt(at) === DOT) {
    const decimals = at + 1;
    at = afterDigits(text, decimals);
    if (at === decimals) return -1;
  }
  if ((text.charCodeAt(at) | 32) !== 101) return at;
  const sign = text[at + 1];
  const exponent = sign === '+' || sign === '-' ? at + 2 : at + 1;
  at = afterDigits(text, exponent);
  return at === exponent ? -1 : at;
}

function afterDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function isHexDigit(unit: number): boolean {
  return isDigit(unit) || ((unit | 32) >= 97 && (unit | 32) <= 102);
}
