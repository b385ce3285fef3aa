// A place that is shown: a code with its cell, and the position or the code that it was made from.
import { parent } from '../../hexcodes/geometry/cells.js';
import type { Hexcodes, ReadHexcode } from '../../hexcodes/library/hexcodes.js';
import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/number.js';
import { Value } from '../shell/value.js';

/** The resolution of codes that are made of positions, 0 to 15. */
export const chosenResolution = new Value(DEFAULT_RESOLUTION);

export interface Place extends ReadHexcode {
  /** The position that was clicked, typed or measured, degrees; absent where a code was. */
  readonly from?: { readonly lat: number; readonly lng: number };
  /** Error of a position that the device has measured, metres: with 95 % it is nearer than this. */
  readonly accuracyM?: number;
  /** The text that names it, while it is still being typed: it may name another place yet. */
  readonly typed?: string;
  /** Whether it was clicked on the map, which then need not move. */
  readonly isClicked?: boolean;
  /**
   * The finest code of the place that is known: others of it are its parents. Where a position is known every
   * resolution is.
   */
  readonly root: { readonly hexcodes: string; readonly resolution: number };
}

/** How a position came to be known; what is said of a place holds no finer than that. */
export interface Known {
  readonly accuracyM?: number;
  readonly isClicked?: boolean;
  /** The finest resolution that the position is good for; 15 if absent. */
  readonly finest?: number;
}

/** Edge of a hexagon of resolution 0, metres; each further resolution has a square root of seventh of it. */
const EDGE_M_OF_RESOLUTION_0 = 1_281_256;

/** The mean edge of the hexagons of a resolution, metres. */
export const edgeM = (resolution: number): number => EDGE_M_OF_RESOLUTION_0 / Math.sqrt(7) ** resolution;

/** The finest resolution, 0 to 15, whose hexagons reach as far from their middle as a position may be wrong. */
export function resolutionFor(errorM: number): number {
  const finest = Math.log(EDGE_M_OF_RESOLUTION_0 / Math.max(errorM, 0.01)) / Math.log(Math.sqrt(7));
  return Math.min(15, Math.max(0, Math.floor(finest)));
}

/** The place of a position; undefined where no province of Viet Nam is. */
export function placeAt(
  library: Hexcodes,
  latDeg: number,
  lngDeg: number,
  resolution: number,
  { finest = 15, ...known }: Known = {},
): Place | undefined {
  if (library.adminCodeOf(latDeg, lngDeg) === null) return undefined;
  const place = placeOf(library, library.encode(latDeg, lngDeg, Math.min(resolution, finest)).hexcodes);
  const from = { lat: latDeg, lng: lngDeg };
  return place && { ...place, ...known, from, root: { ...place.root, resolution: finest } };
}

/** The place of a code in any spelling. */
export function placeOf(library: Hexcodes, code: string): Place | undefined {
  const read = library.read(code);
  if (read === null) return undefined;
  const { hexcodes, resolution } = read;
  return { ...read, root: { hexcodes, resolution } };
}

/** The place as a larger or smaller cell, up to the resolution of its root. */
export function atResolution(library: Hexcodes, place: Place, resolution: number): Place {
  const { from, root } = place;
  if (from !== undefined) {
    const { accuracyM, isClicked = false } = place;
    const known = { isClicked, finest: root.resolution, ...(accuracyM === undefined ? {} : { accuracyM }) };
    return placeAt(library, from.lat, from.lng, resolution, known) ?? place;
  }
  const least = Math.min(resolution, root.resolution);
  const other = placeOf(library, parent(library, root.hexcodes, least));
  return other === undefined ? place : { ...other, root };
}
