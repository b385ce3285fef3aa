// Names that nothing here has: parameters of requests and options of calls, and the ones that were probably meant.

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

/** Ends of names behind an axis; assembly/text/scan/json-names.ts looks for the same. */
const SIDE = String.raw`_?(?:dir(?:ection)?|hem(?:i(?:sphere)?)?|ref(?:erence)?|sign|indicator|quadrant|cardinal)`;
const SIDE_OF_LAT = new RegExp(
  `^(?:n_?s(?:${SIDE})?|north_?south|(?:gps_?)?lat(?:itude)?(?:_?n_?s|${SIDE}))$`,
);
const SIDE_OF_LNG = new RegExp(
  `^(?:e_?w(?:${SIDE})?|east_?west|(?:gps_?)?(?:lng|long?|longitude)(?:_?e_?w|${SIDE}))$`,
);

/** Whether a name is that of a column for north or south (`lat`), for east or west (`lng`), or another one. */
export function sideOf(name: string): 'lat' | 'lng' | null {
  // Known names of sides are shorter.
  if (name.length > 32) return null;
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[ ./-]/g, '_');
  return SIDE_OF_LAT.test(plain) ? 'lat' : SIDE_OF_LNG.test(plain) ? 'lng' : null;
}

/** Why names of both sides are refused, and what to do. */
export const HEMISPHERES_REFUSED =
  'say the hemisphere of lat and lng, and are not read: write degrees with a minus for south and west, and leave these columns out or rename them';
