// One position to a code by the kernel of this thread.
import { type Kernel, OK } from '../hexcodes/kernel/kernel.js';
import type { Exchange } from './exchange.js';

/**
 * Converts and counts a position that is admitted; its code is then the kernel's `textAt(0)`.
 * @param logsPositions whether the log has the position
 * @returns false where no province is
 */
export function encodeOne(
  x: Exchange,
  kernel: Kernel,
  latDeg: number,
  lngDeg: number,
  resolution: number,
  logsPositions: boolean,
): boolean {
  const isOk = kernel.exports.encodeOne(latDeg, lngDeg, resolution) === OK;
  x.notes.entry?.done(isOk ? 1 : 0, isOk ? 0 : 1);
  if (logsPositions) x.notes.position = { lat_deg: latDeg, lng_deg: lngDeg, resolution };
  return isOk;
}
