// Codes without their beginning, for people who are near: the province and the first group of five, HN-6GHP4-, stand
// for a cell of resolution 7 (edges of 1.4 km). Where somebody is, the rest alone is enough, and the check symbol
// guards it.

import { cellToLatLng, greatCircleDistance, gridDisk, latLngToCell, UNITS } from 'h3-js';
import { cellRing } from './cell-ring.js';
import { type Codebook, readOrThrow } from './codebook.js';
import { latLngOf, type Position } from './position.js';

/** The cell that the left out part stands for. */
const LEFT_OUT_RESOLUTION = 7;
/** Steps around the position that are searched: some 7 km. */
const STEPS = 3;

/**
 * The full code that a shortened one stands for: of the codes that end so, with a right check, that whose centre is
 * nearest to a position.
 *
 * @param hexcodes a loaded library
 * @param short the groups behind the first, as `83RFR`, in any accepted spelling
 * @param near in degrees, within some kilometres of the code
 * @returns the canonical code; null where none around the position ends so
 * @throws HexcodesError NOT_A_COORDINATE
 */
export function lengthen(hexcodes: Codebook, short: string, near: Position): string | null {
  const [latDeg, lngDeg] = latLngOf(near);
  const own = latLngToCell(latDeg, lngDeg, LEFT_OUT_RESOLUTION);
  let best: { readonly code: string; readonly distanceM: number } | null = null;
  for (const cell of gridDisk(own, STEPS)) {
    for (const start of startsOf(hexcodes, cell)) {
      const read = hexcodes.read(`${start}-${short}`);
      // A text with symbols too many or too few may read as a code of another shape.
      if (read === null || read.resolution <= LEFT_OUT_RESOLUTION || !read.hexcodes.startsWith(start))
        continue;
      const distanceM = greatCircleDistance([latDeg, lngDeg], [read.lat, read.lng], UNITS.m);
      if (best === null || distanceM < best.distanceM) best = { code: read.hexcodes, distanceM };
    }
  }
  return best?.code ?? null;
}

/**
 * A code without its province and first group, for people around a position; null where `lengthen` from there would
 * give another code, or for codes of resolution 7 and coarser.
 *
 * @throws HexcodesError INVALID_HEXCODES, NOT_A_COORDINATE
 */
export function shorten(hexcodes: Codebook, code: string, near: Position): string | null {
  const { hexcodes: full, resolution } = readOrThrow(hexcodes, code);
  if (resolution <= LEFT_OUT_RESOLUTION) return null;
  const short = full.split('-').slice(2).join('-');
  return lengthen(hexcodes, short, near) === full ? short : null;
}

/** Province and first group of the codes in a cell, one for each province at its centre or a corner. */
function startsOf(hexcodes: Codebook, cell: string): Set<string> {
  const starts = new Set<string>();
  const [centreLat, centreLng] = cellToLatLng(cell) as [number, number];
  for (const [lng, lat] of [[centreLng, centreLat] as const, ...cellRing(cell)]) {
    const admin = hexcodes.adminCodeOf(lat, lng);
    const code = admin === null ? null : hexcodes.pack(BigInt(`0x${cell}`), admin);
    if (code !== null) starts.add(code.split('-').slice(0, 2).join('-'));
  }
  return starts;
}
