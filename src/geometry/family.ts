// The neighbours, ancestors and descendants of a hexcode's cell, as hexcodes.

import { cellToChildren, cellToLatLng, cellToParent, gridDisk } from 'h3-js';
import { HexcodesError } from '../errors.js';
import { type Codebook, h3Text, readOrThrow } from './codebook.js';

/** Longest answer of `children`: seven resolutions below the code. */
const MOST_CHILDREN = 7 ** 7;

function requireResolution(resolution: number, lowest: number, highest: number, what: string): void {
  if (!Number.isInteger(resolution) || resolution < lowest || resolution > highest) {
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `resolution of ${what} must be an integer of ${lowest} to ${highest}, not ${resolution}`,
    );
  }
}

/**
 * The hexcodes of the six cells that touch a code's cell, counter-clockwise as H3 gives them.
 *
 * A neighbour has the admin code of its own centre. Where that centre lies outside the coverage, or decode would not
 * accept that code, it has the admin code of `code`; `encode` may never give such a code. A neighbour for which decode
 * accepts neither is left out.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param none there is no third argument, no number of rings for instance; it would be ignored without a word
 * @returns up to six canonical hexcodes of the same resolution
 * @throws HexcodesError INVALID_HEXCODES, BAD_ARGUMENT
 */
export function neighbors(hexcodes: Codebook, code: string, ...none: never[]): string[] {
  if (none.length > 0)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      'neighbors(hexcodes, code) gives the first ring: it takes no more',
    );
  const read = readOrThrow(hexcodes, code);
  const own = h3Text(read.cell);
  const codes: string[] = [];
  for (const cell of gridDisk(own, 1)) {
    if (cell === own) continue;
    const [lat, lng] = cellToLatLng(cell);
    const index = BigInt(`0x${cell}`);
    const theirs = hexcodes.adminCodeOf(lat!, lng!);
    const packed =
      (theirs === null ? null : hexcodes.pack(index, theirs)) ?? hexcodes.pack(index, read.admin_code);
    if (packed !== null) codes.push(packed);
  }
  return codes;
}

/**
 * The hexcode of the cell's H3 ancestor, within the same admin code.
 *
 * H3's hierarchy is logical: 6 to 8 % of the points of a cell lie outside the drawn shape of its ancestor.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param resolution of the ancestor, 0 up to the code's own; default one less than the code's
 * @throws HexcodesError INVALID_HEXCODES, BAD_RESOLUTION
 */
export function parent(hexcodes: Codebook, code: string, resolution?: number): string {
  const read = readOrThrow(hexcodes, code);
  const wanted = resolution ?? read.resolution - 1;
  requireResolution(wanted, 0, read.resolution, `a parent of ${read.hexcodes}`);
  const packed = hexcodes.pack(BigInt(`0x${cellToParent(h3Text(read.cell), wanted)}`), read.admin_code);
  // A row of the reach table holds the rows of all its descendants, so an ancestor always has its code.
  if (packed === null) throw new HexcodesError('BAD_DATA', `no code for the parent of ${read.hexcodes}`);
  return packed;
}

/**
 * The hexcodes of the cell's H3 descendants, within the same admin code. `parent` of each is `code`. Where the cell lies
 * on a border, descendants too far from the province for decode to accept them are left out.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @param resolution of the descendants, at most 15 and seven below the code's own; default one more than the code's
 * @returns canonical hexcodes in H3's order, which is also their sort order: 7 per step of resolution
 * @throws HexcodesError INVALID_HEXCODES, BAD_RESOLUTION
 */
export function children(hexcodes: Codebook, code: string, resolution?: number): string[] {
  const read = readOrThrow(hexcodes, code);
  const wanted = resolution ?? read.resolution + 1;
  requireResolution(wanted, read.resolution, 15, `children of ${read.hexcodes}`);
  if (7 ** (wanted - read.resolution) > MOST_CHILDREN) {
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `resolution of children must be at most ${read.resolution + 7}: one step finer is seven times as many`,
    );
  }
  const codes: string[] = [];
  for (const cell of cellToChildren(h3Text(read.cell), wanted)) {
    const packed = hexcodes.pack(BigInt(`0x${cell}`), read.admin_code);
    if (packed !== null) codes.push(packed);
  }
  return codes;
}
