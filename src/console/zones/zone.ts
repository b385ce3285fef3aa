// Zones that a visitor draws: outlines with names, as a file of areas that `hexcodes cover` reads.
import type { Rgb } from '../points/drawn-points.js';

/** Degrees, longitude first as in GeoJSON. */
export type Corner = readonly [lng: number, lat: number];

export interface Zone {
  readonly id: string;
  readonly name: string;
  /** At least three, not closed: the first is not there again at the end. */
  readonly corners: readonly Corner[];
}

/** Each zone has a sign of its own on the map, and points in it a colour by one byte. */
export const MAX_ZONES = 30;
export const MAX_CORNERS = 500;
export const MAX_NAME_UNITS = 60;
/** Decimals of corners: a centimetre. */
const CORNER_DIGITS = 7;
/** Beginnings that a spreadsheet takes for a formula. */
const FORMULA = /^[=+\-@]+/;
/** Line ends and other invisible characters, and direction marks that would turn the words next to a name. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

export type ZoneFault = 'zoneTooFew' | 'zoneFlat' | 'zoneCrosses';

/** A position as a corner, rounded as it is written. */
export function cornerAt(latDeg: number, lngDeg: number): Corner {
  return [Number(lngDeg.toFixed(CORNER_DIGITS)), Number(latDeg.toFixed(CORNER_DIGITS))];
}

/** A name as it is kept: one line that no spreadsheet takes for a formula; '' where nothing is left. */
export function tidyName(given: string): string {
  const line = given.normalize('NFC').replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim();
  return [...line.replace(FORMULA, '').trim()].slice(0, MAX_NAME_UNITS).join('').trim();
}

/** A unique name: points of two zones with one name could not be told apart. */
export function uniqueName(name: string, others: readonly string[]): string {
  if (!others.includes(name)) return name;
  for (let n = 2; ; n++) {
    const ending = ` ${n}`;
    const stem = [...name].slice(0, MAX_NAME_UNITS - ending.length).join('');
    if (!others.includes(stem + ending)) return stem + ending;
  }
}

/** Why the corners are not a valid outline; undefined if they are. */
export function faultOf(corners: readonly Corner[]): ZoneFault | undefined {
  if (corners.length < 3) return 'zoneTooFew';
  if (crossesItself(corners)) return 'zoneCrosses';
  return areaOf(corners) === 0 ? 'zoneFlat' : undefined;
}

/** Twice the area in square degrees, of whatever sign: zero for a line. */
function areaOf(corners: readonly Corner[]): number {
  const [x0, y0] = corners[0]!;
  let sum = 0;
  for (let i = 2; i < corners.length; i++) {
    const [ax, ay] = corners[i - 1]!;
    const [bx, by] = corners[i]!;
    sum += (ax - x0) * (by - y0) - (bx - x0) * (ay - y0);
  }
  return sum;
}

/** Whether two sides meet elsewhere than neighbours do at their common corner. */
function crossesItself(corners: readonly Corner[]): boolean {
  const count = corners.length;
  const at = (i: number): Corner => corners[i % count]!;
  for (let i = 0; i < count; i++) {
    if (goesBack(at(i), at(i + 1), at(i + 2))) return true;
    for (let j = i + 2; j < count; j++) {
      const isNext = j + 1 === count && i === 0;
      if (!isNext && meets(at(i), at(i + 1), at(j), at(j + 1))) return true;
    }
  }
  return false;
}

/** The side on which c lies of the line from a to b: 0 on it. */
const sideOf = (a: Corner, b: Corner, c: Corner): number =>
  Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));

const isBetween = (a: Corner, b: Corner, c: Corner): boolean =>
  Math.min(a[0], b[0]) <= c[0] &&
  c[0] <= Math.max(a[0], b[0]) &&
  Math.min(a[1], b[1]) <= c[1] &&
  c[1] <= Math.max(a[1], b[1]);

/** Whether the way from b to c lies on that from a to b. */
function goesBack(a: Corner, b: Corner, c: Corner): boolean {
  if (sideOf(a, b, c) !== 0) return false;
  return (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1]) > 0;
}

function meets(a: Corner, b: Corner, c: Corner, d: Corner): boolean {
  const [abc, abd, cda, cdb] = [sideOf(a, b, c), sideOf(a, b, d), sideOf(c, d, a), sideOf(c, d, b)];
  if (abc * abd < 0 && cda * cdb < 0) return true;
  return (
    (abc === 0 && isBetween(a, b, c)) ||
    (abd === 0 && isBetween(a, b, d)) ||
    (cda === 0 && isBetween(c, d, a)) ||
    (cdb === 0 && isBetween(c, d, b))
  );
}

/** A closed ring, counterclockwise as RFC 7946 wants it. */
export function ringOf({ corners }: Pick<Zone, 'corners'>): Corner[] {
  const turned = areaOf(corners) < 0 ? [...corners].reverse() : [...corners];
  return [...turned, turned[0]!];
}

/** The file that `hexcodes cover FILE --name name` reads, one feature a line. */
export function geoJsonOf(zones: readonly Zone[]): string {
  const features = zones.map((zone) =>
    JSON.stringify({
      type: 'Feature',
      properties: { name: zone.name },
      geometry: { type: 'Polygon', coordinates: [ringOf(zone)] },
    }),
  );
  return `{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}\n`;
}

// The colours of zones: those of Okabe and Ito, which people with any kind of colour blindness tell apart. More zones
// than colours begin again, and a zone has a number besides, on the map and in lists.

const COLORS: readonly Rgb[] = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [213, 94, 0],
  [86, 180, 233],
  [240, 228, 66],
];

/** Colours of all zones that there may be. */
export const zoneColors: readonly Rgb[] = Array.from(
  { length: MAX_ZONES },
  (_, zone) => COLORS[zone % COLORS.length]!,
);
export const zoneCss = (zone: number): string => `rgb(${zoneColors[zone]!.join(' ')})`;
