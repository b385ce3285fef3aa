// The subjects that several rows of the kernel bench time: our batch encode, and h3-js point by point.
import { latLngToCell } from 'h3-js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import type { Subject } from '../turns.js';

export const RESOLUTION = 13;
export const RECORD_BYTES = 20;
/** Points of a piece of our work. */
export const BLOCK = 16384;
/** Points of a piece of a rival's, which is slower by far. */
const SLOW_BLOCK = 256;

/** Sum of what the rivals answer, so that the engine cannot leave any of their work out. */
let kept = 0;

export function keep(value: number): void {
  kept += value;
}

/** Throws if a rival has answered something that is not a number. */
export function checkKept(): void {
  if (Number.isNaN(kept)) throw new Error('a rival failed');
}

/** A subject that works point by point: `one` gets the index of a point, since degrees handed over would be boxed. */
export function eachPoint(name: string, count: number, one: (n: number) => void): Subject {
  return {
    name,
    points: SLOW_BLOCK,
    pieces: count / SLOW_BLOCK,
    run(piece) {
      const end = (piece + 1) * SLOW_BLOCK;
      for (let n = piece * SLOW_BLOCK; n < end; n++) one(n);
    },
  };
}

export function h3Subject(points: Float64Array, resolution: number): Subject {
  return eachPoint('h3-js latLngToCell', points.length / 2, (n) => {
    keep(latLngToCell(points[2 * n]!, points[2 * n + 1]!, resolution).length);
  });
}

export function encodeSubject(hexcodes: Hexcodes, points: Float64Array, resolution: number): Subject {
  const records = new Uint8Array((RECORD_BYTES * points.length) / 2).fill(1);
  return {
    name: 'encodeBatch',
    points: BLOCK,
    pieces: points.length / 2 / BLOCK,
    run(piece) {
      const from = piece * BLOCK;
      const out = records.subarray(RECORD_BYTES * from, RECORD_BYTES * (from + BLOCK));
      hexcodes.encodeBatch(points.subarray(2 * from, 2 * (from + BLOCK)), resolution, out);
    },
  };
}
