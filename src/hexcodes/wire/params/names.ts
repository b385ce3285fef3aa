// Unknown names: parameters of requests and options of calls that do not exist, the names probably meant, and the
// hints about them.

import { HexcodesError } from '../../errors.js';
import { eachPair } from './query.js';

/** Common names that people use for ours. */
const MEANT: Readonly<Record<string, string>> = {
  long: 'lng',
  x: 'lng',
  y: 'lat',
  level: 'resolution',
  precision: 'resolution',
  zoom: 'resolution',

  code: 'hexcodes',
  admin: 'admin_v2',
  key: 'apikey',
  url: 'baseUrl',
  timeout: 'timeoutMs',
  max: 'limit',
};
const MIN_SLIP_LETTERS = 3;

/** Whether the buffer of an array was transferred away: its length is 0, as that of an empty one. */
export function isTransferred(given: Uint8Array | Float64Array): boolean {
  try {
    return given.length === 0 && given.subarray() === undefined;
  } catch {
    return true;
  }
}

/**
 * The known name that was probably meant: in another case, `lat[0]`, `api_key`, a beginning, or with one wrong
 * letter.
 */
export function meantBy(name: string, known: readonly string[]): string | undefined {
  const plain = plainName(name);
  const other = MEANT[plain];
  if (other !== undefined && known.includes(other)) return other;
  const is = (test: (each: string) => boolean): string | undefined =>
    known.find((each) => test(plainName(each)));
  return (
    is((each) => each === plain) ??
    (plain.length < MIN_SLIP_LETTERS
      ? undefined
      : (is((each) => each.startsWith(plain)) ?? is((each) => isOneSlip(each, plain))))
  );
}

const plainName = (name: string): string => name.toLowerCase().replace(/\[\d*\]|[\s_-]/g, '');

/** Whether two texts differ by one letter added, removed or replaced, or by two letters exchanged. */
export function isOneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [left, right] = [a.length - start - end, b.length - start - end];
  if (left <= 1 && right <= 1) return true;
  return left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}

/**
 * The message about an option of `given` with a value that the call does not have; undefined if it has all of them.
 */
export function unknownOption(given: object, known: readonly string[], call: string): string | undefined {
  for (const name in given) {
    if (known.includes(name) || (given as Record<string, unknown>)[name] === undefined) continue;
    const meant = meantBy(name, known);
    const perhaps = meant === undefined ? '' : `; perhaps ${meant}`;
    return `${call} has no option ${name}${perhaps}. It has ${known.join(', ')}`;
  }
  return undefined;
}

/** A name longer than this, or with other characters, is not repeated: it may be a key. */
const REPEATABLE = /^[a-z_][a-z0-9_.-]{0,23}(?:\[\d{0,3}\])?$/i;
/** Most unknown names that are checked and named in a hint. */
const MAX_UNKNOWN = 8;
const MAX_NAMED = 3;
export const NO_PARAMETER = 'is not a parameter';

/** Notes an unknown parameter, up to a limit. */
export function addUnknown(names: string[], name: string): void {
  if (names.length === MAX_UNKNOWN || names.includes(name)) return;
  if (REPEATABLE.test(name.replace(/^ {1,4}| {1,4}$/g, ''))) names.push(name);
}

/**
 * A hint that names are not parameters, and which known name was probably meant; names with such a guess come first.
 * @param isOthersNamed whether names without a guess are named, too
 */
export function hintAbout(
  names: readonly string[],
  known: readonly string[],
  said: string,
  isOthersNamed = true,
): string {
  const hints = names.map((name) => {
    const meant = meantBy(name, known);
    const shown = /^ | $/.test(name) ? JSON.stringify(name) : name;
    return { meant, text: `${shown} ${said}${meant === undefined ? '' : `; perhaps ${meant}`}` };
  });
  const meaning = hints.filter(({ meant }) => meant !== undefined);
  const others = isOthersNamed ? hints.filter(({ meant }) => meant === undefined) : [];
  const named = [...meaning, ...others].slice(0, MAX_NAMED);
  return named.map(({ text }) => text).join(', ');
}

/** The hint about members of a JSON object outside the known ones; empty if there are none. */
export function memberHint(
  names: Iterable<string>,
  known: readonly string[],
  absent: readonly string[],
): string {
  const unknown: string[] = [];
  for (const name of names) if (!known.includes(name)) addUnknown(unknown, name);
  return hintAbout(unknown, absent, 'is not a member');
}

/** The hint about names in a query outside the known ones, for a header; empty if there are none. */
export function queryHint(raw: string, known: readonly string[], said = NO_PARAMETER): string {
  const unknown: string[] = [];
  eachPair(raw, (name) => {
    if (!known.includes(name)) addUnknown(unknown, name);
  });
  return hintAbout(unknown, known, said);
}

/** Ends of names after an axis; assembly/text/scan/json-items.ts has the same list. */
const SIDE = String.raw`_?(?:dir(?:ection)?|hem(?:i(?:sphere)?)?|ref(?:erence)?|sign|indicator|quadrant|cardinal)`;
const SIDE_OF_LAT = new RegExp(
  `^(?:n_?s(?:${SIDE})?|north_?south|(?:gps_?)?lat(?:itude)?(?:_?n_?s|${SIDE}))$`,
);
const SIDE_OF_LNG = new RegExp(
  `^(?:e_?w(?:${SIDE})?|east_?west|(?:gps_?)?(?:lng|long?|longitude)(?:_?e_?w|${SIDE}))$`,
);

/** Longest names, such as `ns` and `ew`, that mean a hemisphere only in pairs. */
const MAX_UNSURE_LETTERS = 3;

/** A name normalised as names of hemispheres are written; undefined for any other. */
function sideIn(name: string): string | undefined {
  // Known names of sides are shorter.
  if (name.length > 32) return undefined;
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[ ./-]/g, '_');
  return SIDE_OF_LAT.test(plain) || SIDE_OF_LNG.test(plain) ? plain : undefined;
}

/** Whether a name means north or south, or east or west. */
export const isSide = (name: string): boolean => sideIn(name) !== undefined;

/**
 * The fault of names that give the hemisphere of degrees without a sign (`lat_ref`, `ns` and `ew`), which are not
 * supported; undefined if there are none. `ns` alone may mean nanoseconds.
 */
export function hemisphereFault(
  names: Iterable<string>,
): { readonly parameter: string; readonly message: string } | undefined {
  let ofLat: string | undefined;
  let ofLng: string | undefined;
  let isSure = false;
  for (const name of names) {
    const plain = sideIn(name);
    if (plain === undefined) continue;
    if (plain.length > MAX_UNSURE_LETTERS) isSure = true;
    if (SIDE_OF_LAT.test(plain)) ofLat ??= name;
    else ofLng ??= name;
  }
  if (ofLat !== undefined && ofLng !== undefined) {
    const message = `and ${JSON.stringify(ofLng)} say ${OF_SIDES}are not read: ${SIGNED}them`;
    return { parameter: ofLat, message };
  }
  const parameter = ofLat ?? ofLng;
  if (parameter === undefined || !isSure) return undefined;
  return { parameter, message: `says ${OF_SIDES}is not read: ${SIGNED}it` };
}

const OF_SIDES = 'the hemisphere of lat and lng, and ';
const SIGNED = 'write degrees with a minus for south and west, and leave out or rename ';

// Checks of options of the library.

/** Whether a value is an object of options: an array, a Map, a Number and the like would be read as an empty one. */
export const isOptions = (given: unknown): given is object =>
  Object.prototype.toString.call(given) === '[object Object]';

/**
 * Rejects anything but an object of options, and unknown options, which would be silently ignored.
 * @throws HexcodesError BAD_ARGUMENT; its message has the option, the one that was probably meant, and all known ones
 */
export function requireKnown(given: unknown, known: readonly string[], call: string): void {
  if (!isOptions(given))
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `The third argument of ${call} is an object: { ${known.join(', ')} }`,
    );
  const fault = unknownOption(given, known, call);
  if (fault !== undefined) throw new HexcodesError('BAD_ARGUMENT', fault);
}

/** @throws HexcodesError BAD_ARGUMENT for an option that is neither true nor false nor absent */
export function requireFlag(given: unknown, name: string): void {
  if (given !== undefined && typeof given !== 'boolean')
    throw new HexcodesError('BAD_ARGUMENT', `${name} is true or false, not ${shown(given)}`);
}

/** An argument, for a message; values without a JSON form by their type. */
export function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a value of type ${typeof value}`;
  }
}
