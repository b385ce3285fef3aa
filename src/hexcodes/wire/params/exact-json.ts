// JSON whose integers keep all their digits: those that a double cannot hold are bigints. JSON.parse reads them as the
// nearest double without a word, and JSON.stringify refuses them.

/** Text that JSON.parse may falsify: an integer of 16 or more digits as a value, or a large exponent. */
const FALSIFIABLE = /[[,:\s-]\d{16}|^\d{16}|\d[eE]\+?\d{3}/;
/**
 * A string is matched by its first quote only: a pattern for the rest keeps a state to go back to for each escape, and
 * may have few.
 */
const TOKEN = /\s*(?:(")|(-?\d[\d.eE+-]*)|([[\]{},:])|(true|false|null))/y;
const BACKSLASH = 0x5c;

/** Found wherever the other one is, in a quarter of its time. */
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

/** @throws SyntaxError for what is not JSON, RangeError for a number beyond all doubles */
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

/** @param text valid JSON; @param number gives the value of a number as it is written */
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
    // Own properties, `__proto__` included, as JSON.parse makes them.
    return Object.fromEntries(entries);
  };
  return valueAt(next());
}

/** The index of the quote that closes a string of JSON; the text's length where none does. */
export function stringEnd(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** The text itself. @throws SyntaxError for what is not JSON */
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
