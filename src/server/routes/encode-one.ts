// One position to a code by the kernel of this thread, and how one conversion is counted.
import { type Kernel, OK } from '../../kernel/kernel.js';
import type { Exchange } from '../transport/exchange.js';

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
  countOne(x, isOk);
  if (logsPositions) x.position = { lat_deg: latDeg, lng_deg: lngDeg, resolution };
  return isOk;
}

/** Counts one point or code, for the key and for the metrics. */
export function countOne(x: Exchange, isOk: boolean): void {
  x.meter?.settle(x.operation, 1, isOk ? 1 : 0, isOk ? 0 : 1);
  x.countPoints(isOk ? 1 : 0, isOk ? 0 : 1);
}
