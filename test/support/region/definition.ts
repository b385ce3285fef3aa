// The definition of a point's unit, taken literally: a segment counts when (y0 > y) ≠ (y1 > y) and
// it lies strictly east of the point; nothing is skipped and nothing is indexed.
import type { Partition } from '../../../data/map/partition.js';

/** Unit at whole micro-degrees by the sum over all segments. */
export function unitByDefinition({ segments, left, right }: Partition, x: number, y: number): number {
  let unit = 63;
  for (let i = 0; i < left.length; ++i) {
    const x0 = segments[4 * i]!;
    const y0 = segments[4 * i + 1]!;
    const x1 = segments[4 * i + 2]!;
    const y1 = segments[4 * i + 3]!;
    if (y0 > y === y1 > y) continue;
    // Side of the point by a cross product of differences below 2^26: exact in a double.
    const cross = (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0);
    if (y1 > y0 ? cross > 0 : cross < 0) unit ^= left[i]! ^ right[i]!;
  }
  return unit;
}
