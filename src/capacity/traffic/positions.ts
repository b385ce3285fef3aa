// Seeded positions in Viet Nam and its sea, uniform over that part of a box around it which has hexcodes.
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { uniformFrom } from '../generator/random.js';

/** How many there are: the most that one request of the generator has. */
export const POSITIONS = 65_536;

const SEED = 20261122;
const BOX = { southDeg: 8.1, heightDeg: 15.4, westDeg: 102, widthDeg: 10 };
const DRAWN_AT_ONCE = 4096;
const RECORD_BYTES = 20;
const STATUS_AT = 19;

/** Latitude and longitude of each in degrees, with six decimals. */
export function landPositions(library: Hexcodes): Float64Array {
  const uniform = uniformFrom(SEED);
  const micro = (deg: number): number => Number(deg.toFixed(6));
  const kept = new Float64Array(2 * POSITIONS);
  const drawn = new Float64Array(2 * DRAWN_AT_ONCE);
  let count = 0;
  while (count < POSITIONS) {
    for (let at = 0; at < drawn.length; at += 2) {
      drawn[at] = micro(BOX.southDeg + BOX.heightDeg * uniform());
      drawn[at + 1] = micro(BOX.westDeg + BOX.widthDeg * uniform());
    }
    const records = library.encodeBatch(drawn);
    for (let at = 0; at < DRAWN_AT_ONCE && count < POSITIONS; at++) {
      if (records[at * RECORD_BYTES + STATUS_AT] !== 0) continue;
      kept.set(drawn.subarray(2 * at, 2 * at + 2), 2 * count++);
    }
  }
  return kept;
}
