// The column former_province of rows that were encoded: the province before July 2025, null where a row failed.

import type { Hexcodes } from '../../../library/hexcodes.js';

/** @param latLngDeg the positions of the rows */
export function formerColumn(
  hexcodes: Hexcodes,
  latLngDeg: Float64Array,
  status: readonly string[],
): (string | null)[] {
  return status.map((word, row) =>
    word === 'OK' ? hexcodes.formerProvinceOf(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null,
  );
}
