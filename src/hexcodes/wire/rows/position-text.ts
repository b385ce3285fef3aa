// A position as people write it: two numbers, degrees with minutes and seconds, WKT and WKB, geo:, a link to a map.

import { foldSigns, parseAnglePair } from './angle-text.js';
import { plainNumber } from './csv-fields.js';
import { shapeOfWkb } from './well-known-binary.js';

export interface Position {
  readonly latDeg: number;
  readonly lngDeg: number;
}

const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?`;
const COMMA_NUMBER = String.raw`[-+]?\d+,\d+`;
// Blanks are folded to one: several optional ones beside each other would be tried in all ways.
const pairOf = (number: string, between: string): RegExp =>
  new RegExp(`^(${number}) ?°? ?${between} ?(${number}) ?°?$`, 'i');

/** lat, lng. A comma cannot both be in a number and between two, but for `21,0288, 105,8525`, where a blank follows. */
const PAIRS: readonly RegExp[] = [pairOf(NUMBER, '[,; ]'), pairOf(COMMA_NUMBER, '(?:;|, | )')];

const WKT = new RegExp(
  String.raw`^(?:SRID=4326;\s*)?POINT\s*(?:Z|M|ZM)?\s*\(\s*(${NUMBER})\s+(${NUMBER})(?:\s+${NUMBER}){0,2}\s*\)$`,
  'i',
);
const GEO = new RegExp(
  String.raw`^geo:(${NUMBER}),(${NUMBER})(?:,${NUMBER})?(?:;(?:crs=wgs84|u=[^;?]*))*(?:\?.*)?$`,
  'i',
);

const HEX_WKB = /^0[01](?:[0-9a-f]{2}){20,40}$/i;
const WGS_84 = 4326;

/** In links: latitude first. The pin of a place is more exact than the middle of the picture. */
const LINKS: readonly RegExp[] = [
  new RegExp(`!3d(${NUMBER})!4d(${NUMBER})`, 'i'),
  new RegExp(`[?&]mlat=(${NUMBER})&mlon=(${NUMBER})`, 'i'),
  new RegExp(
    String.raw`[?&](?:q|query|ll|sll|center|destination|daddr|coordinate|cp|pt)=(?:loc:)?(${NUMBER})(?:,|~|\s)\s*(${NUMBER})`,
    'i',
  ),
  new RegExp(String.raw`/(?:place|search|dir)/(?:[^?#]*/)?(${NUMBER}),\s*(${NUMBER})(?=[/?#]|$)`, 'i'),
  new RegExp(`@(${NUMBER}),(${NUMBER})`, 'i'),
  new RegExp(String.raw`#map=\d+(?:\.\d+)?/(${NUMBER})/(${NUMBER})`, 'i'),
];

const BRACKETS = /^(?:\(([^()]*)\)|\[([^[\]]*)\])$/;
const MAX_UNITS = 4096;

/** Reads a position in any of these spellings; null if the text is none. Degrees beyond 90 and 180 are not refused. */
export function parsePosition(text: string): Position | null {
  if (text.length > MAX_UNITS || !/[\d\uff10-\uff19]/.test(text)) return null;
  const folded = foldSigns(text);
  if (/^https?:\/\//i.test(folded)) return inLink(text.trim());
  const wkt = WKT.exec(folded);
  if (wkt !== null) return position(wkt[2]!, wkt[1]!);
  if (HEX_WKB.test(folded)) return inWkb(folded);
  const geo = GEO.exec(folded);
  if (geo !== null) return position(geo[1]!, geo[2]!);
  const brackets = BRACKETS.exec(folded);
  const bare = brackets === null ? folded : (brackets[1] ?? brackets[2])!.trim();
  for (const pair of PAIRS) {
    const match = pair.exec(bare);
    if (match !== null) return position(plainNumber(match[1]!), plainNumber(match[2]!));
  }
  const angles = parseAnglePair(bare);
  return angles === null ? null : { latDeg: angles[0], lngDeg: angles[1] };
}

/** A point in well-known binary, as PostGIS and DuckDB print it. */
function inWkb(hex: string): Position | null {
  const bytes = Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
  const shape = shapeOfWkb(bytes);
  if (shape === null || shape.type !== 1 || (shape.system !== 0 && shape.system !== WGS_84)) return null;
  const [lngDeg, latDeg] = shape.points;
  return lngDeg === undefined || latDeg === undefined ? null : { latDeg, lngDeg };
}

function position(lat: string, lng: string): Position {
  return { latDeg: Number(lat), lngDeg: Number(lng) };
}

function inLink(link: string): Position | null {
  let text = link;
  try {
    text = decodeURIComponent(link.replaceAll('+', ' '));
  } catch {
    // A percent sign that escapes nothing.
  }
  for (const pattern of LINKS) {
    const match = pattern.exec(text);
    if (match !== null) return position(match[1]!, match[2]!);
  }
  return null;
}
