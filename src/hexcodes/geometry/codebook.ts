// The part of the library that geometry uses: texts to cells and back. A loaded `Hexcodes` implements it.

import { HexcodesError } from '../errors.js';

// Positions as callers hand them in.
/** A position in degrees, latitude first. */
export type LatLng = readonly [lat: number, lng: number];

/** A position in degrees, as a pair or as an object: an answer of `encode` or `decode` is one. */
export type Position = LatLng | { readonly lat: number; readonly lng: number };

/** @throws HexcodesError NOT_A_COORDINATE for anything but two finite numbers */
export function latLngOf(given: Position): [lat: number, lng: number] {
  const { lat, lng } = Array.isArray(given)
    ? { lat: given[0] as number, lng: given[1] as number }
    : ((given ?? {}) as { lat: number; lng: number });
  if (!Number.isFinite(lat) || !Number.isFinite(lng))
    throw new HexcodesError(
      'NOT_A_COORDINATE',
      `A position is [lat, lng] or { lat, lng } in degrees, not ${JSON.stringify(given)}`,
    );
  return [lat, lng];
}

/** The content of a hexcode, and the centre of its cell. */
export interface ReadCode {
  /** Canonical text. */
  readonly hexcodes: string;
  /** H3 index of the cell. */
  readonly cell: bigint;
  /** H3 resolution, 0 to 15. */
  readonly resolution: number;
  /** Province of the point that the code was made from. */
  readonly admin_code: string;
  /** Latitude of the cell's centre, degrees. */
  readonly lat: number;
  /** Longitude of the cell's centre, degrees. */
  readonly lng: number;
}

/** Reads and makes hexcodes: an instance of `Hexcodes`. */
export interface Codebook {
  /** Reads a hexcode in any accepted spelling; null for any other text. */
  read(text: string): ReadCode | null;
  /** The canonical hexcode of an H3 cell within a province; null if decode would not accept it. */
  pack(cell: bigint, adminCode: string): string | null;
  /** The admin code of a position in degrees; null outside the coverage. */
  adminCodeOf(lat: number, lng: number): string | null;
  /**
   * The lines between the coverage and what lies outside it: lng, lat, lng, lat, … in micro-degrees. Without them,
   * `cover` leaves out cells that the coverage touches with neither their centre nor a corner.
   */
  coverageEdges?(): readonly Int32Array[];
}

/** Reads a hexcode. @throws HexcodesError INVALID_HEXCODES if the text is not one */
export function readOrThrow(hexcodes: Codebook, code: string): ReadCode {
  const read = hexcodes.read(code);
  if (read === null) throw new HexcodesError('INVALID_HEXCODES', `${JSON.stringify(code)} is not a hexcode`);
  return read;
}

/** An H3 index as h3-js takes it: lower-case hexadecimal. */
export function h3Text(cell: bigint): string {
  return cell.toString(16);
}
