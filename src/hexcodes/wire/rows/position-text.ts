// Reads a text that is a position as a whole: written out, a geo URI or a link to a map.

import { foldSigns, withoutInvisible } from './angle-text.js';
import { type Position, parseWritten, parseWrittenText } from './written-position.js';

// Links to maps. A link may hold several positions: a pin, the search text, a destination, the middle of the view. A
// table for each service gives the meaning of parameters; the first group of the table that holds a position decides,
// never the order in the link. If a group holds two different positions, the link has none.

/** A link in its parts, decoded. */
interface Link {
  /** Lower case, without port; '' where the scheme has none. */
  readonly host: string;
  /** Path segments; a plus sign is kept. */
  readonly path: readonly string[];
  /** Values by name in lower case, of the query and of a fragment with parameters. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  readonly fragment: string;
}

/** Finds the positions of one kind in a link. */
type Finder = (link: Link) => readonly (Position | null)[];

interface Service {
  readonly hosts: RegExp;
  /** Positions that are meant, the most certain first. */
  readonly points: readonly (readonly Finder[])[];
  /** The middle of the view. */
  readonly views: readonly Finder[];
}

const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)`;
const ONE = new RegExp(`^${NUMBER}$`);
const TWO = new RegExp(`^(${NUMBER}), ?(${NUMBER})$`);
/** Numbers between commas, tildes or underscores, perhaps followed by more. */
const FIRST_TWO = new RegExp(`^(${NUMBER})[,~_] ?(${NUMBER})(?:[,~_].*)?$`, 's');

const latLng = (lat: string, lng: string): Position => ({ latDeg: Number(lat), lngDeg: Number(lng) });

const two = (text: string): Position | null => {
  const match = TWO.exec(text);
  return match === null ? null : latLng(match[1]!, match[2]!);
};
/** `21.0288,105.8525,17z` */
const firstTwo = (text: string): Position | null => {
  const match = FIRST_TWO.exec(text);
  return match === null ? null : latLng(match[1]!, match[2]!);
};

const exchanged = (found: Position | null): Position | null =>
  found === null ? null : { latDeg: found.lngDeg, lngDeg: found.latDeg };

/**
 * A position in any spelling, with `loc:` in front or a label in brackets after it. A plus sign is a blank, except in
 * a Plus Code.
 */
const searched = (text: string): Position | null => {
  const bare = text.trim().replace(/^loc:/i, '');
  const label = bare.indexOf('(');
  const written = label > 0 ? bare.slice(0, label) : bare;
  return parseWrittenText(written) ?? parseWrittenText(written.replaceAll('+', ' '));
};

const valuesOf = ({ parameters }: Link, names: readonly string[]): string[] =>
  names.flatMap((name) => parameters.get(name) ?? []);

/** Parameters whose values are search texts. */
const search =
  (...names: string[]): Finder =>
  (link) =>
    valuesOf(link, names).map(searched);
/** Parameters of a latitude and a longitude. */
const latFirst =
  (...names: string[]): Finder =>
  (link) =>
    valuesOf(link, names).map(two);
/** Parameters that begin with latitude and longitude. */
const begun =
  (...names: string[]): Finder =>
  (link) =>
    valuesOf(link, names).map(firstTwo);
/** Parameters that begin with longitude and latitude; several positions are separated by `~`. */
const lngFirst =
  (...names: string[]): Finder =>
  (link) =>
    valuesOf(link, names).flatMap((value) => value.split('~').map((each) => exchanged(firstTwo(each))));
/** The last position of a route. */
const lastOf =
  (separator: RegExp, ...names: string[]): Finder =>
  (link) =>
    valuesOf(link, names).map((value) => unprefixed(value.split(separator).at(-1)!));
/** Bing and Waze prefix a position with its kind: `point.`, `pos.`, `ll.` */
const unprefixed = (text: string): Position | null => firstTwo(text.replace(/^(?:point|pos|ll)\./i, ''));
/** A parameter for the latitude, another for the longitude. */
const pair =
  (latNames: readonly string[], lngNames: readonly string[]): Finder =>
  (link) => {
    const [lats, lngs] = [valuesOf(link, latNames), valuesOf(link, lngNames)];
    if (lats.length !== lngs.length) return [];
    return lats.map((lat, i) => (ONE.test(lat) && ONE.test(lngs[i]!) ? latLng(lat, lngs[i]!) : null));
  };
/** The path segment after one of some words: the next one, or the last. */
const after =
  (
    words: readonly string[],
    read: (text: string) => Position | null,
    which: 'next' | 'last' = 'next',
  ): Finder =>
  ({ path }) => {
    const at = path.findIndex((each) => words.includes(each.toLowerCase()));
    if (at < 0) return [];
    const rest = path.slice(at + 1).filter((each) => each !== '' && !/^(?:@|data=|am=)/.test(each));
    const text = which === 'next' ? rest[0] : rest.at(-1);
    return text === undefined ? [] : [read(text)];
  };
const markersOf = (first: string, second: string): RegExp =>
  new RegExp(`!${first}(${NUMBER})!${second}(${NUMBER})(?!\\d|\\.\\d)`, 'g');
const [PIN_PAIR, STOP_PAIR, VIEW_PAIR] = [
  markersOf('3d', '4d'),
  markersOf('1d', '2d'),
  markersOf('2d', '3d'),
];
/** All pairs of two markers in the data of a link of Google: `!3d21.0288!4d105.8525`. */
const dataPairs = ({ path, parameters }: Link, pattern: RegExp): [string, string][] => {
  const data = [
    ...path.filter((each) => each.startsWith('data=')),
    ...(parameters.get('data') ?? []),
    ...(parameters.get('pb') ?? []),
  ];
  return data.flatMap((each) => [...each.matchAll(pattern)].map(([, a, b]): [string, string] => [a!, b!]));
};

/** The chosen place is the last one. */
const googlePin: Finder = (link) => {
  const last = dataPairs(link, PIN_PAIR).at(-1);
  return last === undefined ? [] : [latLng(...last)];
};
/** A route names its stops in the path, and in the data the position of each; the last one is the destination. */
const googleRoute: Finder = (link) => {
  const written = after(['dir'], searched, 'last')(link);
  if (written.length === 0 || written[0] !== null) return written;
  const at = link.path.findIndex((each) => each.toLowerCase() === 'dir');
  const stops = link.path.slice(at + 1).filter((each) => each !== '' && !/^(?:@|data=|am=)/.test(each));
  const pairs = dataPairs(link, STOP_PAIR);
  const last = pairs.at(-1);
  return last === undefined || pairs.length !== stops.length ? [] : [latLng(last[1], last[0])];
};
const atSign: Finder = ({ path }) =>
  path.filter((each) => each.startsWith('@')).map((each) => firstTwo(each.slice(1)));
const embedded: Finder = (link) => {
  const last = dataPairs(link, VIEW_PAIR).at(-1);
  return last === undefined ? [] : [latLng(last[1], last[0])];
};
const ZOOMED = new RegExp(`^(?:map=)?${NUMBER}/(${NUMBER})/(${NUMBER})(?:[/&].*)?$`, 'i');
/** `#map=17/21.0288/105.8525`, `#17/21.0288/105.8525`. */
const zoomed: Finder = ({ fragment }) => {
  const match = ZOOMED.exec(fragment);
  return match === null ? [] : [latLng(match[1]!, match[2]!)];
};

const LAT_NAMES = ['lat', 'latitude'];
const LNG_NAMES = ['lng', 'lon', 'long', 'longitude'];
const named = pair(LAT_NAMES, LNG_NAMES);
/** Where x and y are not defined, they must have decimals. */
const decimalXy: Finder = (link) =>
  valuesOf(link, ['x', 'y']).every((value) => value.includes('.')) ? pair(['y'], ['x'])(link) : [];

const GOOGLE: Service = {
  hosts: /^(?:www\.|maps\.)?google\.[a-z.]+$|^comgooglemaps:$|^google\.navigation:$/,
  points: [
    [googlePin],
    [after(['place', 'search'], searched)],
    [search('q', 'query'), latFirst('cbll', 'viewpoint'), named],
    [
      (link) =>
        valuesOf(link, ['daddr', 'destination']).map((each) => searched(each.split(/[ +]to:/i).at(-1)!)),
      googleRoute,
    ],
  ],
  views: [atSign, latFirst('ll', 'sll', 'center'), embedded],
};

/** Apple's `ll` is the pin where `q` or `address` names it. */
const applePin: Finder = (link) =>
  valuesOf(link, ['q', 'address', 'name']).length > 0 ? latFirst('ll')(link) : [];

/** `markers=color:red|label:A|21.0288,105.8525`, of pictures of maps. */
const markers: Finder = (link) => valuesOf(link, ['markers']).flatMap((value) => value.split('|').map(two));

const SERVICES: readonly Service[] = [
  GOOGLE,
  { hosts: /^maps\.googleapis\.com$/, points: [[markers]], views: [latFirst('center')] },
  {
    hosts: /^maps\.apple(?:\.com)?$|^maps:$/,
    points: [[latFirst('coordinate')], [search('q', 'query')], [applePin], [search('daddr', 'destination')]],
    views: [latFirst('ll', 'sll', 'center', 'near')],
  },
  {
    hosts: /(?:^|\.)bing\.com$/,
    points: [
      [(link) => valuesOf(link, ['sp']).flatMap((value) => value.split('~').map(unprefixed))],
      [search('q', 'where1')],
      [lastOf(/~(?=(?:pos|adr)\.)/i, 'rtp')],
    ],
    views: [begun('cp')],
  },
  {
    hosts: /(?:^|\.)(?:openstreetmap\.(?:org|de|fr)|osm\.org)$/,
    points: [[pair(['mlat'], ['mlon'])], [search('query', 'q')], [lastOf(/;/, 'route'), search('to')]],
    views: [zoomed, named],
  },
  {
    hosts: /(?:^|\.)waze\.com$|^waze:$/,
    points: [[latFirst('ll', 'latlng')], [search('q')], [lastOf(/~/, 'to')]],
    views: [named],
  },
  {
    hosts: /(?:^|\.)here\.com$/,
    points: [[after(['l'], firstTwo)], [search('q')], [after(['r'], firstTwo, 'last')]],
    views: [begun('map')],
  },
  {
    hosts: /(?:^|\.)yandex\.[a-z.]+$/,
    points: [[lngFirst('whatshere[point]', 'poi[point]', 'pt')], [search('text')], [lastOf(/~/, 'rtext')]],
    views: [lngFirst('ll')],
  },
  {
    hosts: /(?:^|\.)mapy\.(?:cz|com)$/,
    points: [
      [(link) => (valuesOf(link, ['source']).includes('coor') ? lngFirst('id')(link) : [])],
      [search('q')],
    ],
    views: [pair(['y'], ['x'])],
  },
  {
    hosts: /(?:^|\.)osmand\.net$/,
    points: [[latFirst('pin')], [named], [latFirst('finish')]],
    views: [zoomed],
  },
  // Three words are not a position, and stand in the path.
  { hosts: /(?:^|\.)(?:what3words\.com|w3w\.co)$/, points: [], views: [] },
];

/** Services outside the table, by unambiguous parameter names. */
const OTHER: Service = {
  hosts: /^/,
  points: [
    [named, pair(['mlat'], ['mlon']), decimalXy, googlePin],
    [
      search('q', 'query', 'coordinate', 'coordinates', 'location', 'pin', 'marker'),
      after(['place', 'search'], searched),
    ],
    [
      search('daddr', 'destination'),
      pair(['dropofflatitude'], ['dropofflongitude']),
      after(['dir'], searched, 'last'),
    ],
    // https://plus.codes/7PH73PHF+4X
    [({ path }) => [searched(path.at(-1) ?? '')].filter((found) => found?.middleOf === 'plus_code')],
  ],
  views: [atSign, latFirst('ll', 'sll', 'center', 'cp', 'pt'), zoomed],
};

const SCHEMES = /^(?:(?:https?|comgooglemaps|waze|grab|maps):\/\/|google\.navigation:|geo:)/i;

/** Whether a text begins as a link that may hold a position. */
export const isLink = (text: string): boolean => SCHEMES.test(text);

/** Text in a link, decoded where it can be. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The texts in a link that are a search text or the name of a place; plus signs may be blanks. */
export function searchedTexts(text: string): string[] {
  const link = partsOf(text);
  if (link === null) return [];
  const named = link.path.filter((_, i) => /^(?:place|search)$/i.test(link.path[i - 1] ?? ''));
  return [
    ...named,
    ...valuesOf(link, ['q', 'query']),
    ...(/plus\.codes$/.test(link.host) ? [link.path.at(-1)!] : []),
  ];
}

/** The parts of a link; null if it is not one. */
export function partsOf(text: string): Link | null {
  const match = /^([a-z][a-z0-9.+-]*:)(\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text.trim());
  if (match === null) return null;
  const [, scheme = '', authority, path = '', query = '', rawFragment = ''] = match;
  const isWeb = /^https?:$/i.test(scheme);
  const host = isWeb ? authority!.slice(2).replace(/^.*@|:\d*$/g, '') : scheme;
  // google.navigation:q=21.0288,105.8525
  const isOpaque = authority === undefined && path.includes('=');
  const parameters = new Map<string, string[]>();
  const parts = [...query.split('&'), ...(isOpaque ? [path] : []), ...rawFragment.split(/[&?]/)];
  for (const part of parts) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    const name = decoded(part.slice(0, at)).toLowerCase();
    const value = decoded(part.slice(at + 1));
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return {
    host: host.toLowerCase(),
    path: isOpaque ? [] : path.split('/').map(decoded),
    parameters,
    fragment: decoded(rawFragment),
  };
}

/** Names of parameters that give the coordinate system of a link, and the values that mean WGS 84. */
const SYSTEM_NAMES = ['coord_type', 'coordtype', 'coordinate', 'coordsys', 'crs', 'srs', 'datum'];
const WGS84 = /^(?:wgs-?84(?:ll)?|(?:epsg:)?4326|gps)$/i;

/** Whether a link declares another coordinate system; Baidu's is another one unless declared. */
function isElsewhere(link: Link): boolean {
  const systems = valuesOf(link, SYSTEM_NAMES).filter((value) => !/^[-+\d.,; ]+$/.test(value));
  if (/(?:^|\.)baidu\.com$/.test(link.host)) return !systems.some((value) => WGS84.test(value));
  return systems.some((value) => !WGS84.test(value));
}

/** Signs that end a sentence after a link, and a bracket that was opened before it. */
const BEHIND_LINK = /(?:["'.,;!]|(?<!\([^)]*)\)|(?<!\[[^\]]*)\]){1,8}$/;

/**
 * The position of a map link, or else the middle of its view, which `middleOf` says.
 * @returns null where the link holds none, or two that contradict each other
 */
function parseMapLink(text: string): Position | null {
  const whole = text.trim();
  // Words after a link are not part of it, but a link may hold blanks; `geo:19,46 độ N` is cut off.
  const blank = /^geo:[^?]*$/i.test(whole) ? -1 : whole.search(/\s/);
  const found = [...(blank < 0 ? [] : [whole.slice(0, blank)]), whole].map((each) =>
    inOneLink(each.replace(BEHIND_LINK, '')),
  );
  return (
    found.find((each) => each !== null && each.middleOf !== 'view') ??
    found.find((each) => each !== null) ??
    null
  );
}

function inOneLink(text: string): Position | null {
  const link = partsOf(text);
  if (link === null || isElsewhere(link)) return null;
  if (link.host === 'geo:') return inGeoUri(link, text.trim());
  const service = SERVICES.find(({ hosts }) => hosts.test(link.host)) ?? OTHER;
  for (const finders of service.points) {
    const found = finders.flatMap((find) => find(link)).filter((each) => each !== null);
    if (found.length > 0) return agreed(found);
  }
  // A search engine or a mail program wraps a link into its own.
  const inner = valuesOf(link, ['q', 'url', 'u', 'link', 'continue']).find((each) =>
    /^https?:\/\//i.test(each),
  );
  if (inner !== undefined && !isWrapped(inner)) return parseMapLink(inner);
  const views = service.views.flatMap((find) => find(link)).filter((each) => each !== null);
  const view = views.length === 0 ? null : agreed(views);
  return view === null ? null : { ...view, middleOf: 'view' };
}

/** Whether a link wraps another one: one wrapping is opened, not two. */
const isWrapped = (text: string): boolean => /[?&#](?:q|url|u|link|continue)=https?(?::|%3a)/i.test(text);

/** The position that several equal ones agree on; null where they differ. */
function agreed(found: readonly Position[]): Position | null {
  const [first] = found;
  const isSame = found.every(({ latDeg, lngDeg }) => latDeg === first!.latDeg && lngDeg === first!.lngDeg);
  return isSame ? first! : null;
}

const GEO = new RegExp(
  `^geo:(${NUMBER}),(${NUMBER})(?:,${NUMBER})?(?:;(?:crs=wgs84|u=[^;?]*))*(?:\\?.*)?$`,
  'is',
);

/** RFC 5870, and Android's `?q=`: a search text near the position, which may be `0,0` for none. */
function inGeoUri(link: Link, text: string): Position | null {
  const match = GEO.exec(text);
  if (match === null) return null;
  const position = latLng(match[1]!, match[2]!);
  const queries = valuesOf(link, ['q']).filter((each) => each.trim() !== '');
  if (queries.length === 0) return position;
  const found = queries.map(searched).filter((each) => each !== null);
  if (found.length > 0) return agreed(found);
  return position.latDeg === 0 && position.lngDeg === 0 ? null : { ...position, middleOf: 'view' };
}

export type { Position } from './written-position.js';

const MAX_UNITS = 4096;
/** Two numbers as programs write them, which most positions are. */
const PLAIN = /^([-+]?\d{1,3}(?:\.\d+)?), ?([-+]?\d{1,3}(?:\.\d+)?)$/;

/** Text after a link: a line of its own, or another link. A link may hold blanks. */
const GOES_ON = /[\r\n]|\s(?:https?:\/\/|geo:)/i;

/**
 * Reads a position in any of these spellings; null if the text is not one. Degrees beyond 90 and 180 are not refused.
 */
export function parsePosition(text: string): Position | null {
  const plain = text.length > MAX_UNITS ? null : PLAIN.exec(text);
  if (plain !== null) return { latDeg: Number(plain[1]), lngDeg: Number(plain[2]) };
  // A Plus Code may have no digit, but has a plus sign.
  if (text.length > MAX_UNITS || !/[\d+\uff0b\uff10-\uff19]/.test(text)) return null;
  const folded = foldSigns(text);
  if (!isLink(folded)) return parseWritten(folded);
  return GOES_ON.test(text.trim()) ? null : parseMapLink(withoutInvisible(text));
}
