// A position as people write it, without links: two numbers, angles, WKT and WKB, a full Plus Code, metres of UTM or
// VN-2000.

import { foldSigns, parseAnglePair } from './angle-text.js';
import { plainNumber } from './csv-fields.js';
import { byNumber, bytesOfHex, shapeOfWkb } from './well-known-binary.js';

// Positions in metres, as receivers and land papers print them: UTM of WGS 84 by its zone, `48Q 588702 2325601`, and
// VN-2000 by its central meridian, `VN-2000 105°45' 2325601 588702`. Both are transverse Mercator, inverted by
// Krüger's series. The larger of two numbers is the northing, whichever comes first: no easting in Viet Nam is as
// large.

interface System {
  readonly meridianDeg: number;
  /** Scale on the meridian. */
  readonly scale: number;
  readonly isVn2000: boolean;
  /** Letter of the band of latitude; N may also be the northern half. */
  readonly band?: string;
}

/**
 * Head and two numbers, both with a name in front or a unit after it; decimal commas need more than a comma between.
 */
const FORMS = (
  [
    [String.raw`\.`, '[,; ]'],
    [',', '(?:;|, | )'],
  ] as const
).flatMap(([fraction, between]) => {
  const number = String.raw`(\d{6,7}(?:${fraction}\d{1,9})?)`;
  const named = String.raw`([XYEN]) ?(?:\(m\) ?)?[:=]? ?${number}(?: ?m)?`;
  const bare = `()${number} ?(?:m ?)?([EN])?`;
  return [named, bare].map(
    (each) => new RegExp(String.raw`^(.{2,60}?)[ :;,] ?${each} ?${between} ?${each}$`, 'i'),
  );
});

const ZONE = String.raw`(?:zone |múi )?(\d{1,2}) ?([NP-RT-X])`;
const UTM = new RegExp(`^(?:WGS ?84 ?/? ?)?(?:UTM ?)?${ZONE}$`, 'iu');
const VN_2000 = /^VN[- ]?2000 ?[/,;:]? ?(.*)$/i;
const VN_UTM = new RegExp(`^UTM ?${ZONE}$`, 'iu');
/** Degrees of longitude of a zone. */
const WIDTH = /(?:múi(?: chiếu)?|TM)[- ]?([36])(?: ?°| độ)?/iu;
const MERIDIAN =
  /(?:(?:KTT|kinh tuyến trục|L0|central meridian) ?[:=]? ?)?(1[01]\d)(?:\.(\d{1,2})°?|(?:° ?|-| )([0-5]\d)'?(?: ?00")?|°)?/iu;

const SCALES = { 3: 0.9999, 6: 0.9996 } as const;
/** Central meridians are whole quarters of a degree. */
const MERIDIANS = { minDeg: 102, maxDeg: 117, step: 4 };
const BANDS = 'NPQRSTUVWX';
const BAND_DEG = 8;

/** Least northing, larger than any easting. */
const MIN_NORTH_M = 900_000;
const MIN_EAST_M = 100_000;
const MAX_NORTH_M = 9_400_000;

/**
 * Reads a position in metres whose system is fully named; null for others, such as southern zones.
 * @param folded by `foldSigns`
 */
function parseMetres(folded: string): readonly [latDeg: number, lngDeg: number] | null {
  for (const form of FORMS) {
    const match = form.exec(folded);
    const system = match === null ? null : systemOf(match[1]!);
    if (match === null || system === null) continue;
    const parts = match.slice(2);
    const [first, second] = [parts.slice(0, parts.length / 2), parts.slice(parts.length / 2)] as const;
    const metres = [first, second].map((part) => Number(part[1]!.replace(',', '.')));
    const northing = metres[0]! > metres[1]! ? 0 : 1;
    const [north, east] = [metres[northing]!, metres[1 - northing]!];
    const isIn = north >= MIN_NORTH_M && north < MAX_NORTH_M && east >= MIN_EAST_M && east < MIN_NORTH_M;
    // X is the northing in land papers and the easting in other programs.
    const axes = [first, second].map(([name, , unit]) => (name || unit)?.toUpperCase());
    const isNamed = axes.every((axis, i) => !/[EN]/.test(axis ?? '') || (axis === 'N') === (i === northing));
    if (!isIn || !isNamed || (axes[0] !== undefined && axes[0] === axes[1])) return null;
    const found = unprojected(east, north, system);
    return isInBand(found[0], system.band) ? (system.isVn2000 ? toWgs84(...found) : found) : null;
  }
  return null;
}

function systemOf(head: string): System | null {
  const vn = VN_2000.exec(head);
  const utm = vn === null ? UTM.exec(head) : VN_UTM.exec(vn[1]!);
  if (utm !== null) {
    const zone = Number(utm[1]);
    if (zone < 1 || zone > 60) return null;
    const meridianDeg = 6 * zone - 183;
    return { meridianDeg, scale: SCALES[6], isVn2000: vn !== null, band: utm[2]!.toUpperCase() };
  }
  if (vn === null) return null;
  const width = WIDTH.exec(vn[1]!)?.[1] as '3' | '6' | undefined;
  const rest = vn[1]!.replace(WIDTH, '');
  const [meridian, degrees, decimals, minutes] = MERIDIAN.exec(rest) ?? [];
  if (meridian === undefined || /[^ ,;:/()]/.test(rest.replace(meridian, ''))) return null;
  const meridianDeg = Number(`${degrees}.${decimals ?? 0}`) + Number(minutes ?? 0) / 60;
  const { minDeg, maxDeg, step } = MERIDIANS;
  if (meridianDeg < minDeg || meridianDeg > maxDeg || !Number.isInteger(meridianDeg * step)) return null;
  // Each central meridian of a zone of 6 degrees is also one of a zone of 3, so the width must be named.
  const canBe6 = meridianDeg % 6 === 3;
  if (width === undefined ? canBe6 : width === '6' && !canBe6) return null;
  return { meridianDeg, scale: SCALES[width ?? '3'], isVn2000: true };
}

function isInBand(latDeg: number, band = 'N'): boolean {
  return band === 'N' || Math.min(Math.floor(latDeg / BAND_DEG), BANDS.length - 1) === BANDS.indexOf(band);
}

const DEG = 180 / Math.PI;
/** The ellipsoid of WGS 84, which is that of VN-2000, too. */
const EQUATOR_M = 6_378_137;
const E2 = 0.0066943799901413165;
/** Radius of the sphere whose meridian is as long, and the series by sines of 2, 4, 6 and 8 times the angle. */
const RADIUS_M = 6_367_449.145823415;
const BETA = [8.377321640579452e-4, 5.905870152868199e-8, 1.673482651520767e-10, 2.16482368859791e-13];
const DELTA = [3.356551469132927e-3, 6.57187319857333e-6, 1.764640352932912e-8, 5.38781698441458e-11];

function unprojected(eastM: number, northM: number, { meridianDeg, scale }: System): [number, number] {
  const xi = northM / (scale * RADIUS_M);
  const eta = (eastM - 500_000) / (scale * RADIUS_M);
  let [x, y] = [xi, eta];
  for (const [i, each] of BETA.entries()) {
    const times = 2 * (i + 1);
    x -= each * Math.sin(times * xi) * Math.cosh(times * eta);
    y -= each * Math.cos(times * xi) * Math.sinh(times * eta);
  }
  const chi = Math.asin(Math.sin(x) / Math.cosh(y));
  const lat = DELTA.reduce((sum, each, i) => sum + each * Math.sin(2 * (i + 1) * chi), chi);
  return [lat * DEG, meridianDeg + Math.atan2(Math.sinh(y), Math.cos(x)) * DEG];
}

/**
 * From VN-2000 to WGS 84, geocentric: metres, radians and parts of one. Decision 05/2007/QĐ-BTNMT has the numbers, and
 * so has EPSG:6960, a coordinate frame rotation.
 */
const SHIFT_M = [-191.90441429, -39.30318279, -111.45032835] as const;
const [RX, RY, RZ] = [-0.00928836, 0.01975479, -0.00427372].map((seconds) => seconds / 3600 / DEG) as [
  number,
  number,
  number,
];
const GROWTH = 1 + 0.252906278e-6;

function toWgs84(latDeg: number, lngDeg: number): [number, number] {
  const normal = (sine: number): number => EQUATOR_M / Math.sqrt(1 - E2 * sine * sine);
  let lat = latDeg / DEG;
  const lng = lngDeg / DEG;
  const radius = normal(Math.sin(lat));
  const [x, y, z] = [
    radius * Math.cos(lat) * Math.cos(lng),
    radius * Math.cos(lat) * Math.sin(lng),
    radius * (1 - E2) * Math.sin(lat),
  ];
  const moved = [
    SHIFT_M[0] + GROWTH * (x + RZ * y - RY * z),
    SHIFT_M[1] + GROWTH * (y - RZ * x + RX * z),
    SHIFT_M[2] + GROWTH * (z + RY * x - RX * y),
  ] as const;
  const across = Math.hypot(moved[0], moved[1]);
  for (let round = 0; round < 3; round++)
    lat = Math.atan2(moved[2] + E2 * normal(Math.sin(lat)) * Math.sin(lat), across);
  return [lat * DEG, Math.atan2(moved[1], moved[0]) * DEG];
}

// Plus Codes, full and short, by the published algorithm of Open Location Code:
// https://github.com/google/open-location-code. NOTICE names its licence.

/** The cell of a Plus Code, by its middle. */
export interface PlusCodeCell {
  readonly latDeg: number;
  readonly lngDeg: number;
  /** Height of the cell. It is as wide down to 10 digits, then narrower. */
  readonly heightDeg: number;
}

const DIGITS = '23456789CFGHJMPQRVWX';
const SEPARATOR_AT = 8;
/** Digits beyond these have no meaning, as in the reference implementations. */
const MAX_DIGITS = 15;
/** Ten digits are pairs of latitude and longitude to base 20, those after them cells of 5 rows and 4 columns. */
const PAIR_DIGITS = 10;
const ROWS = 5;
const COLUMNS = 4;
/** Parts of a degree that the 15th digit counts: 8000 by the pairs, then by the rows and the columns. */
const LAT_PARTS = 8000 * ROWS ** (MAX_DIGITS - PAIR_DIGITS);
const LNG_PARTS = 8000 * COLUMNS ** (MAX_DIGITS - PAIR_DIGITS);

const FULL = /^(?:[2-9CFGHJMPQRVWX]{8}\+(?:[2-9CFGHJMPQRVWX]{2,})?|(?:[2-9CFGHJMPQRVWX]{2}){1,3}0{2,6}\+)$/;
/** The first four digits are omitted, which recur after 1 degree, or the first two, after 20. */
const SHORT = /^(?:[2-9CFGHJMPQRVWX]{2}){2,3}\+[2-9CFGHJMPQRVWX]{2,}$/;

/** The cell of a full Plus Code in any case; null if the text is not one. */
export function parsePlusCode(text: string): PlusCodeCell | null {
  const code = text.toUpperCase();
  if (!FULL.test(code) || code.indexOf('+') !== SEPARATOR_AT) return null;
  // The first digits are those of 180 and 360 degrees.
  if (DIGITS.indexOf(code[0]!) > 8 || DIGITS.indexOf(code[1]!) > 17) return null;
  const cell = cellOf(code.replace('+', '').replace(/0+$/, ''), 20);
  return { ...cell, latDeg: cell.latDeg - 90, lngDeg: cell.lngDeg - 180 };
}

/** Whether a text is a short Plus Code, in any case: `2VH3+GX`. */
export const isShortPlusCode = (text: string): boolean => SHORT.test(text.toUpperCase());

/**
 * The cell of a short Plus Code that is nearest to a position.
 * @param text of which `isShortPlusCode`
 */
export function nearestPlusCode(text: string, latDeg: number, lngDeg: number): PlusCodeCell {
  const code = text.toUpperCase();
  const periodDeg = code.indexOf('+') === 4 ? 1 : 20;
  const cell = cellOf(code.replace('+', ''), periodDeg / 20);
  const nearest = (offset: number, near: number): number =>
    offset + Math.round((near - offset) / periodDeg) * periodDeg;
  return { ...cell, latDeg: nearest(cell.latDeg - 90, latDeg), lngDeg: nearest(cell.lngDeg - 180, lngDeg) };
}

/**
 * The middle of the cell of some digits, from the south-western corner of what their first pair counts.
 * @param firstDeg degrees that the first pair counts: 20 for a full code
 */
function cellOf(digits: string, firstDeg: number): PlusCodeCell {
  const pairDigits = PAIR_DIGITS - 2 * Math.round(Math.log(20 / firstDeg) / Math.log(20));
  let [lat, lng] = [0, 0];
  let [latStep, lngStep] = [firstDeg * 20 * LAT_PARTS, firstDeg * 20 * LNG_PARTS];
  const last = Math.min(digits.length, MAX_DIGITS - PAIR_DIGITS + pairDigits);
  for (let at = 0; at < last; at++) {
    const value = DIGITS.indexOf(digits[at]!);
    if (at >= pairDigits) {
      latStep /= ROWS;
      lngStep /= COLUMNS;
      lat += Math.floor(value / COLUMNS) * latStep;
      lng += (value % COLUMNS) * lngStep;
    } else if (at % 2 === 0) {
      latStep /= 20;
      lat += value * latStep;
    } else {
      lngStep /= 20;
      lng += value * lngStep;
    }
  }
  return {
    latDeg: (lat + latStep / 2) / LAT_PARTS,
    lngDeg: (lng + lngStep / 2) / LNG_PARTS,
    heightDeg: latStep / LAT_PARTS,
  };
}

/** A position named by a text. Degrees beyond 90 and 180 are not rejected. */
export interface Position {
  readonly latDeg: number;
  readonly lngDeg: number;
  /** Where the text names no point: whether this is the middle of a map's view, or of the cell of a Plus Code. */
  readonly middleOf?: 'view' | 'plus_code';
  /** Half the height of the cell of a Plus Code, degrees. */
  readonly errorDeg?: number;
}

const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?`;
const COMMA_NUMBER = String.raw`[-+]?\d+,\d+`;
// Blanks are folded to one: several optional ones beside each other would be tried in all ways.
const pairOf = (number: string, between: string): RegExp =>
  new RegExp(`^(${number}) ?(°?) ?${between} ?(${number}) ?\\2$`, 'i');

/**
 * lat, lng, both with a degree sign or neither: `21° 01.7` is one angle. A comma cannot be both in a number and
 * between two, except in `21,0288, 105,8525`, where a blank follows.
 */
const PAIRS: readonly RegExp[] = [pairOf(NUMBER, '[,; ]'), pairOf(COMMA_NUMBER, '(?:;|, | )')];

/** Two numbers, and those that `Z`, `M` and `ZM` say; PostGIS and GDAL write none of them in older texts. */
const WKT = new RegExp(
  String.raw`^(?:SRID=(\d{1,9}); ?)?POINT ?(?:(?:(ZM)|([ZM])) ?)?\( ?(${NUMBER}) (${NUMBER})((?: ${NUMBER}){0,2}) ?\)$`,
  'i',
);
const HEX_WKB = /^0[01](?:[0-9a-f]{2}){20,40}$/i;
const BRACKETS = /^(?:\(([^()]*)\)|\[([^[\]]*)\])$/;

/**
 * Reads a position that is written out; null if the text is not one.
 * @param folded by `foldSigns`
 */
export function parseWritten(folded: string): Position | null {
  if (/^[SP]/i.test(folded)) {
    const wkt = WKT.exec(folded);
    if (wkt !== null) return inWkt(wkt);
  }
  if (folded.length > 40 && HEX_WKB.test(folded)) return inWkb(folded);
  const brackets = /^[([]/.test(folded) ? BRACKETS.exec(folded) : null;
  const bare = brackets === null ? folded : (brackets[1] ?? brackets[2])!.trim();
  for (const pair of PAIRS) {
    const match = pair.exec(bare);
    if (match !== null) return position(plainNumber(match[1]!), plainNumber(match[3]!));
  }
  const angles = parseAnglePair(bare);
  const degrees = angles ?? (/\d{6}/.test(bare) ? parseMetres(bare) : null);
  if (degrees !== null) return { latDeg: degrees[0], lngDeg: degrees[1] };
  const cell = parsePlusCode(bare);
  if (cell === null) return null;
  const { latDeg, lngDeg, heightDeg } = cell;
  return { latDeg, lngDeg, middleOf: 'plus_code', errorDeg: heightDeg / 2 };
}

export const parseWrittenText = (text: string): Position | null => parseWritten(foldSigns(text));

function inWkt([, system, both, one, lng, lat, more]: RegExpExecArray): Position | null {
  const count = more!.split(' ').length - 1;
  const isWhole = both !== undefined ? count === 2 : one === undefined || count === 1;
  return isWhole && byNumber(Number(system ?? 0)) === null ? position(lat!, lng!) : null;
}

/** A point in well-known binary, as PostGIS and DuckDB print it. */
function inWkb(hex: string): Position | null {
  const shape = shapeOfWkb(bytesOfHex(hex));
  if (shape === null || shape.type !== 1 || byNumber(shape.system) !== null) return null;
  const [lngDeg, latDeg] = shape.points;
  return lngDeg === undefined || latDeg === undefined ? null : { latDeg, lngDeg };
}

function position(lat: string, lng: string): Position {
  return { latDeg: Number(lat), lngDeg: Number(lng) };
}
