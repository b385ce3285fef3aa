// Query strings and form bodies, read strictly from the raw text: `+` is a space, escapes must be two hexadecimal digits
// and make UTF-8, equal duplicates are one, different ones are a fault. Parameters nobody asked for are not looked at.

/** What a request says of one parameter: one text, or why there is none (a sentence's end: "must be …"). */
export interface Parameter {
  text: string | undefined;
  fault: string | undefined;
}

export const MALFORMED = 'is not valid percent-encoded UTF-8';
export const DIFFERS = 'is given more than once with different values';

/** Percent-decoding; undefined if an escape is broken or the bytes are no UTF-8. */
export function decodeEscapes(raw: string): string | undefined {
  // The binary has turned raw bytes that are no UTF-8 into U+FFFD.
  if (raw.includes('\ufffd')) return undefined;
  if (!raw.includes('%')) return raw.includes('+') ? raw.replaceAll('+', ' ') : raw;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Calls back with the decoded name and the raw value of every pair whose name can be read. */
export function eachPair(raw: string, visit: (name: string, rawValue: string) => void): void {
  let at = 0;
  while (at < raw.length) {
    let end = raw.indexOf('&', at);
    if (end === -1) end = raw.length;
    let equals = raw.indexOf('=', at);
    if (equals === -1 || equals > end) equals = end;
    let name: string | undefined = raw.slice(at, equals);
    if (name.includes('%') || name.includes('+')) name = decodeEscapes(name);
    if (name !== undefined && name !== '') visit(name, equals < end ? raw.slice(equals + 1, end) : '');
    at = end + 1;
  }
}

function addValue(parameter: Parameter, rawValue: string): void {
  const text = decodeEscapes(rawValue);
  if (text === undefined) parameter.fault ??= MALFORMED;
  else if (parameter.text === undefined) parameter.text = text;
  else if (parameter.text !== text) parameter.fault ??= DIFFERS;
}

/** The asked parameters of a query, for handlers off the hot path. */
export function readQuery<N extends string>(raw: string, names: readonly N[]): Record<N, Parameter> {
  const found = {} as Record<N, Parameter>;
  for (const name of names) found[name] = { text: undefined, fault: undefined };
  eachPair(raw, (name, value) => {
    if (Object.hasOwn(found, name)) addValue(found[name as N], value);
  });
  return found;
}

/** The value of `apikey`: undefined if absent, null if two different ones are given. */
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

/** Whether a target may hold a key, in the place and spelling where one belongs or in any other. */
export function mayHoldKey(path: string, rawQuery: string): boolean {
  const target = `${path}?${rawQuery}`;
  const text = target.includes('%')
    ? target.replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16)),
      )
    : target;
  return /apikey/i.test(text);
}

/** A malformed key is a key nobody has: its raw text stands for it. */
function valueOfApiKey(raw: string, at: number, end: number): string | undefined {
  if (raw.startsWith('apikey', at)) {
    if (at + 6 === end) return '';
    if (raw.charCodeAt(at + 6) === 61) {
      const value = raw.slice(at + 7, end);
      return decodeEscapes(value) ?? value;
    }
  }
  // An escape in the name is rare enough to be read the slow way.
  const escapeAt = raw.indexOf('%', at);
  if (escapeAt === -1 || escapeAt >= end) return undefined;
  let found: string | undefined;
  eachPair(raw.slice(at, end), (name, value) => {
    if (name === 'apikey') found = decodeEscapes(value) ?? value;
  });
  return found;
}
