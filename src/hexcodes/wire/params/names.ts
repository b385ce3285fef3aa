// Names that nothing here has: parameters of requests and options of calls, the ones that were probably meant, and the
// hints that say so.

import { HexcodesError } from '../../errors.js';
import { eachPair } from './query.js';

/** Names that people give in place of ours. */
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

/** The known name that was probably meant: another case, `lat[0]`, `api_key`, a beginning, or one wrong letter. */
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

/** Whether one letter more, less or another, or two exchanged, make one text of the other. */
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

/** Says that a call has no option of a name of `given` that has a value; undefined where it has all of them. */
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
/** Most names that are checked, and most of them that a hint names. */
const MAX_UNKNOWN = 8;
const MAX_NAMED = 3;
export const NO_PARAMETER = 'is not a parameter';

/** Notes a name that no parameter has, unless it is one too many. */
export function addUnknown(names: string[], name: string): void {
  if (names.length === MAX_UNKNOWN || names.includes(name)) return;
  if (REPEATABLE.test(name.replace(/^ {1,4}| {1,4}$/g, ''))) names.push(name);
}

/**
 * Says of names that they are not parameters, and which of the known ones was probably meant: names that mean one
 * first.
 * @param isOthersNamed whether names that mean none are named, too
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

/** The hint about members of a JSON object that are none of these; empty where there are none. */
export function memberHint(
  names: Iterable<string>,
  known: readonly string[],
  absent: readonly string[],
): string {
  const unknown: string[] = [];
  for (const name of names) if (!known.includes(name)) addUnknown(unknown, name);
  return hintAbout(unknown, absent, 'is not a member');
}

/** The hint about names in a query that are none of these, for a header; empty where there are none. */
export function queryHint(raw: string, known: readonly string[], said = NO_PARAMETER): string {
  const unknown: string[] = [];
  eachPair(raw, (name) => {
    if (!known.includes(name)) addUnknown(unknown, name);
  });
  return hintAbout(unknown, known, said);
}

/** Ends of names after an axis; assembly/text/scan/json-items.ts looks for the same. */
const SIDE = String.raw`_?(?:dir(?:ection)?|hem(?:i(?:sphere)?)?|ref(?:erence)?|sign|indicator|quadrant|cardinal)`;
const SIDE_OF_LAT = new RegExp(
  `^(?:n_?s(?:${SIDE})?|north_?south|(?:gps_?)?lat(?:itude)?(?:_?n_?s|${SIDE}))$`,
);
const SIDE_OF_LNG = new RegExp(
  `^(?:e_?w(?:${SIDE})?|east_?west|(?:gps_?)?(?:lng|long?|longitude)(?:_?e_?w|${SIDE}))$`,
);

/** `ns` and `ew`: one alone may be anything. */
const MAX_UNSURE_LETTERS = 3;

/** A name as those of sides are written; undefined for any other. */
function sideIn(name: string): string | undefined {
  // Known names of sides are shorter.
  if (name.length > 32) return undefined;
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[ ./-]/g, '_');
  return SIDE_OF_LAT.test(plain) || SIDE_OF_LNG.test(plain) ? plain : undefined;
}

/** Whether a name says north or south, or east or west. */
export const isSide = (name: string): boolean => sideIn(name) !== undefined;

/**
 * The fault of names that say the hemisphere of degrees without a sign (`lat_ref`, `ns` and `ew`), which nothing reads;
 * undefined where there is none. `ns` alone are nanoseconds, too.
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

// The judges of options that callers hand to the library.

/** Whether a value is an object of options: an array, a Map, a Number and their like would be read as an empty one. */
export const isOptions = (given: unknown): given is object =>
  Object.prototype.toString.call(given) === '[object Object]';

/**
 * Refuses what is not an object of options, and options of other names, which would be ignored in silence.
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

/** A value that a caller handed in, for a message; values that JSON has no form of by their type. */
export function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a value of type ${typeof value}`;
  }
}
