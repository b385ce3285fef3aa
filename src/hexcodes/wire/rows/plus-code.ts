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
/** Digits beyond say nothing, as in the reference implementations. */
const MAX_DIGITS = 15;
/** Ten digits are pairs of latitude and longitude to base 20, those after them cells of 5 rows and 4 columns. */
const PAIR_DIGITS = 10;
const ROWS = 5;
const COLUMNS = 4;
/** Parts of a degree that the 15th digit counts: 8000 by the pairs, then by the rows and the columns. */
const LAT_PARTS = 8000 * ROWS ** (MAX_DIGITS - PAIR_DIGITS);
const LNG_PARTS = 8000 * COLUMNS ** (MAX_DIGITS - PAIR_DIGITS);

const FULL = /^(?:[2-9CFGHJMPQRVWX]{8}\+(?:[2-9CFGHJMPQRVWX]{2,})?|(?:[2-9CFGHJMPQRVWX]{2}){1,3}0{2,6}\+)$/;
/** The first four digits are left out, which come again after 1 degree, or the first two, after 20. */
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
