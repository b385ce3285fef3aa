// A position as people write it, without links: two numbers, angles, WKT and WKB, a full Plus Code, metres of UTM or
// VN-2000.

import { foldSigns, parseAnglePair } from './angle-text.js';
import { byNumber } from './coordinate-system.js';
import { plainNumber } from './csv-fields.js';
import { parseMetres, parsePlusCode } from './metres.js';
import { bytesOfHex, shapeOfWkb } from './well-known-binary.js';

/** A position that a text names. Degrees beyond 90 and 180 are not refused. */
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
 * lat, lng, both with a degree sign or neither: `21° 01.7` is one angle. A comma cannot both be in a number and between
 * two, but for `21,0288, 105,8525`, where a blank follows.
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

/** Reads a position from a text as it came. */
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
