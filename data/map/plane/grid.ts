// The grid that every vertex of the map lies on: x is longitude, y latitude, both in steps of 10 micro-degrees (1.1 m).
// Coordinates stay below 2^25, so products of two differences, and sums of a few of them, are exact in doubles.

/** Micro-degrees between neighbouring grid points. */
export const VERTEX_STEP = 10;

export const STEPS_PER_DEGREE = 1_000_000 / VERTEX_STEP;

/** Length of a step of latitude on the sphere of mean Earth radius, on which a degree is 111.195 km. */
export const METRES_PER_STEP = (6_371_008.8 * Math.PI) / 180 / STEPS_PER_DEGREE;

/** How much shorter a step of longitude is than one of latitude, at a latitude in steps: its cosine. */
export function shrink(y: number): number {
  return Math.cos((y / STEPS_PER_DEGREE) * (Math.PI / 180));
}

/** An open ring, x and y in turn, in steps: the segment from the last vertex to the first is implied. */
export type Ring = Int32Array;

/** Without the repeated first vertex at the end and without repeated vertices in a row. */
export function openRing(flat: readonly number[]): Ring {
  const ring: number[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] !== ring.at(-2) || flat[i + 1] !== ring.at(-1)) ring.push(flat[i]!, flat[i + 1]!);
  }
  while (ring.length > 2 && ring[0] === ring.at(-2) && ring[1] === ring.at(-1)) ring.length -= 2;
  return Int32Array.from(ring);
}

/** Twice the area inside an open ring in square steps, positive where the ring runs counter-clockwise. */
export function ringArea(ring: Ring): number {
  let sum = 0;
  for (let i = 0; i < ring.length; i += 2) {
    const j = (i + 2) % ring.length;
    sum +=
      (ring[i]! - ring[0]!) * (ring[j + 1]! - ring[1]!) - (ring[j]! - ring[0]!) * (ring[i + 1]! - ring[1]!);
  }
  return sum;
}
