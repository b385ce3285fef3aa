// Known names of columns, as people write them: case and surrounding blanks do not count. Each kind has lists of
// names; an earlier list takes precedence.

type NameLists = readonly (readonly string[])[];

const LAT: NameLists = [
  ['lat', 'latitude'],
  [
    'lat_deg',
    'latdeg',
    'gps_lat',
    'lat_gps',
    'gps_latitude',
    'vĩ độ',
    'vĩ_độ',
    'vĩđộ',
    'vi do',
    'vi_do',
    'vido',
  ],
];
const LNG: NameLists = [
  ['lng', 'lon', 'longitude'],
  [
    'long',
    'lng_deg',
    'lngdeg',
    'lon_deg',
    'londeg',
    'gps_lng',
    'gps_lon',
    'gps_long',
    'lng_gps',
    'lon_gps',
    'gps_longitude',
    'kinh độ',
    'kinh_độ',
    'kinhđộ',
    'kinh do',
    'kinh_do',
    'kinhdo',
  ],
];
const CODES: NameLists = [['hexcodes'], ['hexcode']];

/** Columns that may hold a whole position. */
const POSITIONS: readonly string[] = [
  'position',
  'coordinates',
  'coordinate',
  'coords',
  'coord',
  'latlng',
  'lat_lng',
  'lat,lng',
  'lat, lng',
  'latlon',
  'lat_lon',
  'lat,lon',
  'lat, lon',
  'latlong',
  'lat_long',
  'location',
  'gps',
  'point',
  'geom',

  'geometry',
  'wkt',
  'geo',
  'map',
  'maps',
  'toạ độ',
  'tọa độ',
  'toạ_độ',
  'tọa_độ',
  'toa do',
  'toa_do',
  'toado',
  'vị trí',
  'vị_trí',
  'vi tri',
  'vi_tri',
];

/** The names of each kind, in the order of precedence. docs/reference/http.md is written from them. */
export const COLUMN_NAMES: readonly (readonly [kind: string, names: NameLists])[] = [
  ['latitude', [...LAT, ['y']]],
  ['longitude', [...LNG, ['x']]],
  ['code', CODES],
  ['whole position, in files only', [POSITIONS]],
];

const KNOWN = new Set([...COLUMN_NAMES.flatMap(([, lists]) => lists.flat()), 'resolution']);

/** Decomposed, a letter of a known name may have three units. */
const MAX_KNOWN_UNITS = 3 * Math.max(...[...KNOWN].map((name) => name.length));

/** A name normalised: without case and surrounding blanks, and with composed letters. */
function plainName(name: string): string {
  const bare = name.trim();
  // Every known name is shorter, and composition does not change a name of ASCII letters.
  return bare.length > MAX_KNOWN_UNITS || bare.length === 1
    ? bare.toLowerCase()
    : bare.normalize('NFC').toLowerCase();
}

export function isKnownName(name: string): boolean {
  return KNOWN.has(plainName(name));
}

/**
 * Positions of the known names in a header row, cached: they are requested several times, and a row may have 100,000
 * names.
 */
const knownIndexes = new WeakMap<readonly string[], ReadonlyMap<string, number[]>>();

function indexesOfKnown(names: readonly string[]): ReadonlyMap<string, number[]> {
  const before = knownIndexes.get(names);
  if (before !== undefined) return before;
  const indexes = new Map<string, number[]>();
  for (let i = 0; i < names.length; i++) {
    const name = plainName(names[i]!);
    if (!KNOWN.has(name)) continue;
    const sameName = indexes.get(name);
    if (sameName === undefined) indexes.set(name, [i]);
    else sameName.push(i);
  }
  knownIndexes.set(names, indexes);
  return indexes;
}

/** Indexes of the columns with one of these names. */
export function columnsNamed(names: readonly string[], wanted: readonly string[]): number[] {
  if (wanted.every((name) => KNOWN.has(name))) {
    const indexes = indexesOfKnown(names);
    return wanted.flatMap((name) => indexes.get(name) ?? []).sort((a, b) => a - b);
  }
  return names.flatMap((name, i) => (wanted.includes(plainName(name)) ? [i] : []));
}

/** Indexes of the columns that may be latitude and longitude; several where it is unclear which is meant. */
export function pairColumns(names: readonly string[]): { lat: number[]; lng: number[] } {
  const pair = { lat: firstNamed(names, LAT), lng: firstNamed(names, LNG) };
  if (pair.lat.length > 0 || pair.lng.length > 0) return pair;
  // Either of these names alone means nothing.
  return { lat: columnsNamed(names, ['y']), lng: columnsNamed(names, ['x']) };
}

/** Indexes of the columns that could hold codes. */
export function codeColumns(names: readonly string[]): number[] {
  return firstNamed(names, CODES);
}

/** Indexes of the columns whose name stands for whole positions. */
export function positionColumns(names: readonly string[]): number[] {
  return columnsNamed(names, POSITIONS);
}

function firstNamed(names: readonly string[], lists: NameLists): number[] {
  for (const list of lists) {
    const found = columnsNamed(names, list);
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * The column that a caller names: with the exact name, else without regard to case and blanks; -1 if there is none.
 */
export function columnCalled(names: readonly string[], chosen: string): number {
  const exact = names.indexOf(chosen);
  if (exact >= 0) return exact;
  const plain = (name: string): string => name.trim().normalize('NFC').toLowerCase();
  const wanted = plain(chosen);
  const alike = names.flatMap((name, i) => (plain(name) === wanted ? [i] : []));
  return alike.length === 1 ? alike[0]! : -1;
}

/** Index of the column with a name, else with a number from 1 where no column has that name. */
export function columnChosen(names: readonly string[], chosen: string): number {
  const named = columnCalled(names, chosen);
  if (named >= 0 || !/^[1-9]\d{0,5}$/.test(chosen)) return named;
  return Number(chosen) <= names.length ? Number(chosen) - 1 : -1;
}
