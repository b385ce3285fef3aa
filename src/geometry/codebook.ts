// What geometry asks of the library: texts to cells and back. A loaded `Hexcodes` is one; the format itself lives
// in the kernel only.

import { HexcodesError } from '../errors.js';

/** What a hexcode says, and the position of its cell's centre in degrees. */
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
  /** What a text says as a hexcode; null if it is none. */
  read(text: string): ReadCode | null;
  /** The canonical hexcode of a cell within a province; null if there is none that decode accepts. */
  pack(cell: bigint, adminCode: string): string | null;
  /** The admin code of a position in degrees; null outside the coverage. */
  adminCodeOf(lat: number, lng: number): string | null;
}

/**
 * What a hexcode says.
 * @throws HexcodesError INVALID_HEXCODES if the text is none.
 */
export function readOrThrow(hexcodes: Codebook, code: string): ReadCode {
  const read = hexcodes.read(code);
  if (read === null) throw new HexcodesError('INVALID_HEXCODES', `${JSON.stringify(code)} is not a hexcode`);
  return read;
}

/** H3's text form of a cell, as h3-js takes it. */
export function h3Text(cell: bigint): string {
  return cell.toString(16);
}
