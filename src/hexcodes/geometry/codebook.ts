// The part of the library that geometry uses: texts to cells and back. A loaded `Hexcodes` implements it.

import { HexcodesError } from '../errors.js';

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
  /** Reads a hexcode in any accepted spelling; null for a text that is none. */
  read(text: string): ReadCode | null;
  /** The canonical hexcode of an H3 cell within a province; null if decode would not accept it. */
  pack(cell: bigint, adminCode: string): string | null;
  /** The admin code of a position in degrees; null outside the coverage. */
  adminCodeOf(lat: number, lng: number): string | null;
}

/** Reads a hexcode. @throws HexcodesError INVALID_HEXCODES if the text is none */
export function readOrThrow(hexcodes: Codebook, code: string): ReadCode {
  const read = hexcodes.read(code);
  if (read === null) throw new HexcodesError('INVALID_HEXCODES', `${JSON.stringify(code)} is not a hexcode`);
  return read;
}

/** An H3 index as h3-js takes it: lower-case hexadecimal. */
export function h3Text(cell: bigint): string {
  return cell.toString(16);
}
