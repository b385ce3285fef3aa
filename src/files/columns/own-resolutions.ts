// Rows that name a resolution of their own: reads it, and encodes each position at it.

import { EACH_ITS_OWN } from '../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { readResolution } from '../../hexcodes/wire/params/resolution.js';

/** In place of a row's resolution that is not one of 0 to 15; differs from EACH_ITS_OWN. */
export const NOT_A_RESOLUTION = 254;

/**
 * The resolution of each row, NOT_A_RESOLUTION where a field is none. As for CSV to CSV, an empty text is no resolution
 * and a missing value is the default.
 */
export function resolutionsOf(
  values: ArrayLike<unknown> | undefined,
  rowCount: number,
  otherwise: number,
): Uint8Array {
  const resolutions = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const value = values?.[row];
    const read = value === null || value === undefined ? otherwise : readResolution(String(value));
    resolutions[row] = read < 0 ? NOT_A_RESOLUTION : read;
  }
  return resolutions;
}

/** As `encodeBatch` of the library, each position at its own resolution. */
export function encodeEach(hexcodes: Hexcodes, latLngDeg: Float64Array, own: Uint8Array): Buffer {
  const rowCount = own.length;
  const records = Buffer.alloc(rowCount * RECORD_BYTES);
  const { capacity, exports, input, output, resolutions } = hexcodes.kernel;
  for (let from = 0; from < rowCount; from += capacity) {
    const count = Math.min(capacity, rowCount - from);
    input.set(latLngDeg.subarray(2 * from, 2 * (from + count)));
    for (let i = 0; i < count; i++) {
      const each = own[from + i]!;
      resolutions[i] = each === NOT_A_RESOLUTION ? 0 : each;
    }
    exports.encodeBatch(count, EACH_ITS_OWN);
    records.set(output.subarray(0, recordAt(count)), recordAt(from));
  }
  return records;
}
