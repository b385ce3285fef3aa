// Latitude and longitude exchanged: how answers notice it, and what they say of it.
import type { Kernel } from '../kernel/kernel.js';
import { NO_ADMIN } from '../kernel/output-layout.js';

/** Follows the message about a position that `looksSwapped`. */
export const SWAPPED_HINT = '. lat and lng look swapped: the other way round the position lies in Viet Nam';

/** Whether a position without a code, in degrees of any size or NaN, has one with its two numbers exchanged. */
export function looksSwapped(kernel: Kernel, latDeg: number, lngDeg: number): boolean {
  return (
    Math.abs(lngDeg) <= 90 && Math.abs(latDeg) <= 180 && kernel.exports.regionOf(lngDeg, latDeg) !== NO_ADMIN
  );
}
