// Query strings and form bodies, read strictly from the raw text: `+` is a space, an escape is two hexadecimal digits,
// escaped bytes must be UTF-8. Equal duplicates count as one, different ones are a fault. Parameters that no handler
// asks for are not decoded.

/** One parameter as given: its text, or the fault that makes it unusable, as the end of a sentence ("must be …"). */
export interface Parameter {
  text: string | undefined;
  fault: string | undefined;
}

export const MALFORMED = 'is not valid percent-encoded UTF-8';
export const DIFFERS = 'is given more than once with different values';
/** The fault of two names for one value. */
export const DIFFER = 'are given with different values';

/** The text without its escapes; undefined where an escape is broken or the bytes are not UTF-8. */
export function decodeEscapes(raw: string): string | undefined {
  // The text was decoded from the bytes of the request: a byte that is not UTF-8 has become U+FFFD.
  if (raw.includes('\ufffd')) return undefined;
  if (!raw.includes('%')) return raw.includes('+') ? raw.replaceAll('+', ' ') : raw;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Calls back with the decoded name and the raw value of every pair whose name can be decoded. */
export function eachPair(raw: string, visit: (name: string, rawValue: string) => void): void {
  let at = 0;
  let nextEquals = -1;
  while (at < raw.length) {
    let end = raw.indexOf('&', at);
    if (end === -1) end = raw.length;
    if (nextEquals < at) nextEquals = indexOfEquals(raw, at);
    const nameEnd = Math.min(nextEquals, end);
    let name: string | undefined = raw.slice(at, nameEnd);
    if (name.includes('%') || name.includes('+')) name = decodeEscapes(name);
    if (name !== undefined && name !== '') visit(name, nameEnd < end ? raw.slice(nameEnd + 1, end) : '');
    at = end + 1;
  }
}

/** Index of the first `=` from `from` on; the length of the text if there is none. */
export function indexOfEquals(raw: string, from: number): number {
  const end = raw.indexOf('=', from);
  return end === -1 ? raw.length : end;
}

function addValue(parameter: Parameter, rawValue: string): void {
  const text = decodeEscapes(rawValue);
  if (text === undefined) parameter.fault ??= MALFORMED;
  else if (parameter.text === undefined) parameter.text = text;
  else if (parameter.text !== text) parameter.fault ??= DIFFERS;
}

/**
 * The named parameters of a query, for handlers off the hot path.
 * @param known names that the operation has; the others stay absent, whatever the query says
 */
export function readQuery<N extends string>(
  raw: string,
  names: readonly N[],
  known: readonly string[] = names,
): Record<N, Parameter> {
  const found = {} as Record<N, Parameter>;
  for (const name of names) found[name] = { text: undefined, fault: undefined };
  eachPair(raw, (name, value) => {
    if (known.includes(name) && Object.hasOwn(found, name)) addValue(found[name as N], value);
  });
  return found;
}

/** The fault of a parameter that is present and neither true nor false. */
export function booleanFault({ text, fault }: Parameter): string | undefined {
  if (fault !== undefined) return fault;
  return text === undefined || text === 'true' || text === 'false' ? undefined : 'must be true or false';
}

/** The value of `apikey`: undefined where it is absent, null where two different values are given. */
export function readApiKey(raw: string): string | undefined | null {
  let key: string | undefined;
  let at = 0;
  while (at < raw.length) {
    let end = raw.indexOf('&', at);
    if (end === -1) end = raw.length;
    const value = valueOfApiKey(raw, at, end);
    if (value !== undefined) {
      if (key !== undefined && key !== value) return null;
      key = value;
    }
    at = end + 1;
  }
  return key;
}

/** Whether a request target may hold a key, anywhere and in any spelling: caches must not store its answer. */
export function mayHoldKey(path: string, rawQuery: string): boolean {
  const target = `${path}?${rawQuery}`;
  const text = target.includes('%')
    ? target.replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16)),
      )
    : target;
  return /apikey/i.test(text);
}

/** A value with a broken escape is returned raw: no key is spelled like it, so it is rejected as unknown. */
function valueOfApiKey(raw: string, at: number, end: number): string | undefined {
  if (raw.startsWith('apikey', at)) {
    if (at + 6 === end) return '';
    if (raw.charCodeAt(at + 6) === 61) {
      const value = raw.slice(at + 7, end);
      return decodeEscapes(value) ?? value;
    }
  }
  // The name itself may be escaped; this is rare, so the slow reader suffices.
  const pair = raw.slice(at, end);
  if (!pair.includes('%')) return undefined;
  let found: string | undefined;
  eachPair(pair, (name, value) => {
    if (name === 'apikey') found = decodeEscapes(value) ?? value;
  });
  return found;
}
