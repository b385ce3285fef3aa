// A place that is shown: a code with its cell, and the position that it was made from, if there was one.
import type { Hexcodes, ReadHexcode } from '../../library/hexcodes.js';
import { parsePosition } from '../../wire/rows/position-text.js';

export interface Place extends ReadHexcode {
  /** The position that was clicked or typed, degrees; absent where a code was. */
  readonly from?: { readonly lat: number; readonly lng: number };
}

/** The place of a position; undefined where no province of Viet Nam is. */
export function placeAt(
  library: Hexcodes,
  latDeg: number,
  lngDeg: number,
  resolution: number,
): Place | undefined {
  if (library.adminCodeOf(latDeg, lngDeg) === null) return undefined;
  const read = library.read(library.encode(latDeg, lngDeg, resolution).hexcodes);
  return read === null ? undefined : { ...read, from: { lat: latDeg, lng: lngDeg } };
}

export type Reading =
  | { readonly kind: 'place'; readonly place: Place }
  /** A position that no code is for. */
  | { readonly kind: 'outside' }
  | { readonly kind: 'unreadable' };

/** Reads a code or a position in any spelling. */
export function readPlace(library: Hexcodes, text: string, resolution: number): Reading {
  const read = library.read(text.trim());
  if (read !== null) return { kind: 'place', place: read };
  const position = parsePosition(text);
  if (position === null) return { kind: 'unreadable' };
  const { latDeg, lngDeg } = position;
  if (Math.abs(latDeg) > 90 || Math.abs(lngDeg) > 180) return { kind: 'unreadable' };
  const place = placeAt(library, latDeg, lngDeg, resolution);
  return place === undefined ? { kind: 'outside' } : { kind: 'place', place };
}
