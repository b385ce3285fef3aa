// A position as people write it: two numbers, degrees with minutes and seconds, WKT and WKB, geo:, a link to a map.

import { plainNumber } from './csv-fields.js';
import { shapeOfWkb } from './well-known-binary.js';

export interface Position {
  readonly latDeg: number;
  readonly lngDeg: number;
}

const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const COMMA_NUMBER = String.raw`[-+]?\d+,\d+`;
const pairOf = (number: string, between: string): RegExp =>
  new RegExp(String.raw`^[(\[]?\s*(${number})\s*°?\s*${between}\s*(${number})\s*°?\s*[)\]]?$`, 'i');

/** lat, lng. A comma cannot both be in a number and between two, but for `21,0288, 105,8525`, where a blank follows. */
const PAIRS: readonly RegExp[] = [
  pairOf(NUMBER, String.raw`[,;\s]`),
  pairOf(COMMA_NUMBER, String.raw`(?:;|,\s|\s)`),
];

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

/** Reads a position in any of these spellings; null if the text is none. Degrees beyond 90 and 180 are not refused. */
export function parsePosition(text: string): Position | null {
  const trimmed = text.replace(/^[\s\u00a0]+|[\s\u00a0]+$/g, '');
  if (!/\d/.test(trimmed) || trimmed.length > 4096) return null;
  for (const pair of PAIRS) {
    const match = pair.exec(trimmed);
    if (match !== null) return position(plainNumber(match[1]!), plainNumber(match[2]!));
  }
  const wkt = WKT.exec(trimmed);
  if (wkt !== null) return position(wkt[2]!, wkt[1]!);
  if (HEX_WKB.test(trimmed)) return inWkb(trimmed);
  const geo = GEO.exec(trimmed);
  if (geo !== null) return position(geo[1]!, geo[2]!);
  return /^https?:\/\//i.test(trimmed) ? inLink(trimmed) : inDegrees(trimmed);
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

// Bắc (north) and Đông (east) are understood too. N and T are not: N is south in Vietnamese, and Viet Nam has neither.
const ANGLE = String.raw`(\d+(?:[.,]\d+)?)\s*(?:°|º|˚|d|\s)\s*(?:(\d+(?:[.,]\d+)?)\s*(?:['′’]|\s)\s*)?(?:(\d+(?:[.,]\d+)?)\s*(?:["″”]|''|′′|’’|\s)?\s*)?`;
const SIDE = '[NSEWBĐ]';
const ONE_ANGLE = new RegExp(`^(?:(${SIDE})\\s*)?(-?)${ANGLE}(${SIDE})?$`, 'i');

const SIDES = { lat: 'NSB', lng: 'EWĐ' } as const;
/** `21 01 43.7`: three numbers between blanks are degrees, minutes and seconds. */
const IN_BLANKS = /^-?\d{1,3}\s+\d{1,2}\s+\d{1,2}(?:[.,]\d+)?$/;
/** A number whose exponent was cut off: `2.1e+01` as `2.1e`. Its letter is no side. */
const CUT_EXPONENT = /^-?(?:\d+\.?\d*|\.\d+)e$/;

/**
 * An angle in degrees, minutes and seconds, with or without its side: `21°01'43.7"N`.
 *
 * @param axis the coordinate that the text is read for: a latitude has no east, a longitude no north
 * @returns degrees; null if the text is no angle or has a side of the other axis
 */
export function parseAngle(text: string, axis: 'lat' | 'lng'): number | null {
  const trimmed = text.trim();
  const angle = CUT_EXPONENT.test(trimmed)
    ? null
    : angleOf(IN_BLANKS.test(trimmed) ? `${trimmed}"` : trimmed);
  return angle !== null && (angle.side === '' || SIDES[axis].includes(angle.side)) ? angle.deg : null;
}

function angleOf(text: string): { deg: number; side: string } | null {
  if (!/[°º˚NSEWBĐ"]/i.test(text)) return null;
  // The pattern needs something between degrees and minutes or the side.
  const match = ONE_ANGLE.exec(
    text.replace(new RegExp(`^(${SIDE}?\\s*-?\\d+(?:[.,]\\d+)?)(${SIDE}?)$`, 'i'), '$1 $2').trim(),
  );
  const alone = match ?? ONE_ANGLE.exec(`${text} `);
  if (alone === null) return null;
  const [, before, minus, degrees, minutes, seconds, after] = alone;
  const part = (each: string | undefined): number => Number((each ?? '0').replace(',', '.'));
  const side = (before ?? after ?? '').toUpperCase();
  if (before !== undefined && after !== undefined) return null;
  if (part(minutes) >= 60 || part(seconds) >= 60) return null;
  const deg = part(degrees) + part(minutes) / 60 + part(seconds) / 3600;
  return { deg: minus === '-' || side === 'S' || side === 'W' ? -deg : deg, side };
}

/** Two angles, of which at least one shows by its side or its degree sign that it is one. */
function inDegrees(text: string): Position | null {
  // Between the angles: a comma or semicolon, else the side of the first, else a blank behind its seconds.
  for (let at = 1; at < text.length; at++) {
    const isCut = /[,;\s]/.test(text[at]!) || /[NSEWBĐ"″”]/i.test(text[at - 1]!);
    if (!isCut) continue;
    const first = angleOf(text.slice(0, at).trim());
    const second = angleOf(
      text
        .slice(at)
        .replace(/^[\s,;]+/, '')
        .trim(),
    );
    if (first === null || second === null) continue;
    const isLat = (side: string): boolean => side === 'N' || side === 'S' || side === 'B';
    if ((first.side === '') !== (second.side === '')) continue;
    if (first.side === '') return { latDeg: first.deg, lngDeg: second.deg };
    if (isLat(first.side) && !isLat(second.side)) return { latDeg: first.deg, lngDeg: second.deg };
    if (isLat(second.side) && !isLat(first.side)) return { latDeg: second.deg, lngDeg: first.deg };
  }
  return null;
}
