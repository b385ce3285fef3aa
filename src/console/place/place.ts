// A place that is shown: a code with its cell, and the position or the code that it was made from.
import { parent } from '../../hexcodes/geometry/family.js';
import type { Hexcodes, ReadHexcode } from '../../hexcodes/library/hexcodes.js';
import { parsePosition } from '../../hexcodes/wire/rows/position-text.js';

export interface Place extends ReadHexcode {
  /** The position that was clicked or typed, degrees; absent where a code was. */
  readonly from?: { readonly lat: number; readonly lng: number };
  /**
   * The finest code of the place that is known: others of it are its parents. Where a position is known every
   * resolution is.
   */
  readonly root: { readonly hexcodes: string; readonly resolution: number };
}

/** The place of a position; undefined where no province of Viet Nam is. */
export function placeAt(
  library: Hexcodes,
  latDeg: number,
  lngDeg: number,
  resolution: number,
): Place | undefined {
  if (library.adminCodeOf(latDeg, lngDeg) === null) return undefined;
  const place = placeOf(library, library.encode(latDeg, lngDeg, resolution).hexcodes);
  return place && { ...place, from: { lat: latDeg, lng: lngDeg }, root: { ...place.root, resolution: 15 } };
}

/** The place of a code in any spelling. */
export function placeOf(library: Hexcodes, code: string): Place | undefined {
  const read = library.read(code);
  if (read === null) return undefined;
  const { hexcodes, resolution } = read;
  return { ...read, root: { hexcodes, resolution } };
}

/** The same place as a larger or smaller cell, up to the resolution of its root. */
export function atResolution(library: Hexcodes, place: Place, resolution: number): Place {
  const { from, root } = place;
  if (from !== undefined) return placeAt(library, from.lat, from.lng, resolution) ?? place;
  const least = Math.min(resolution, root.resolution);
  const other = placeOf(library, parent(library, root.hexcodes, least));
  return other === undefined ? place : { ...other, root };
}

export type Reading =
  | { readonly kind: 'place'; readonly place: Place }
  /** A position that no code is for. */
  | { readonly kind: 'outside' }
  | { readonly kind: 'unreadable' };

/** Reads a code or a position in any spelling. */
export function readPlace(library: Hexcodes, text: string, resolution: number): Reading {
  const coded = placeOf(library, text.trim());
  if (coded !== undefined) return { kind: 'place', place: coded };
  const position = parsePosition(text);
  if (position === null) return { kind: 'unreadable' };
  const { latDeg, lngDeg } = position;
  if (Math.abs(latDeg) > 90 || Math.abs(lngDeg) > 180) return { kind: 'unreadable' };
  const place = placeAt(library, latDeg, lngDeg, resolution);
  return place === undefined ? { kind: 'outside' } : { kind: 'place', place };
}
