// Draws the lakes and wide rivers of the console's map: the areas of the source on the grid of the file.
// src/console/map/load-waters.ts reads it.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { varints } from './varints.js';

export const WATERS_SOURCE = 'data/sources/waters.json.gz';
export const WATERS_FILE = 'data/waters.bin';

/** The content of WATERS_SOURCE: areas of rings, the outer one first, each open, x and y in turn. */
export interface WaterSource {
  readonly from: string;
  readonly notice: string;
  readonly stepsPerDegree: number;
  readonly areas: readonly (readonly (readonly number[])[])[];
}

/** The vertices of the file are on a grid of 55 m; the source is good to 100 m. */
const FILE_STEPS_PER_DEGREE = 2000;

/**
 * The file: numbers of 7 bits a byte, low ones first; the count of areas, then for each its count of rings, and for
 * each ring its count of vertices and their zigzag steps, the first from the last of the ring before.
 */
export function drawWaters(): Uint8Array {
  const source = JSON.parse(gunzipSync(readFileSync(WATERS_SOURCE)).toString('utf8')) as WaterSource;
  const { put, putSteps, bytes } = varints();
  const scale = FILE_STEPS_PER_DEGREE / source.stepsPerDegree;
  const areas = source.areas
    .map((rings) => rings.map((ring) => onGrid(ring, scale)).filter((ring) => ring.length >= 6))
    .filter((rings) => rings.length > 0)
    // One after the other from west to east, steps between them are short.
    .sort((a, b) => a[0]![0]! - b[0]![0]! || a[0]![1]! - b[0]![1]!);
  put(areas.length);
  const last: [number, number] = [0, 0];
  for (const rings of areas) {
    put(rings.length);
    for (const ring of rings) {
      put(ring.length / 2);
      putSteps(ring, last);
    }
  }
  return Uint8Array.from(bytes);
}

/** A ring in steps of the file, without vertices that fall on the one before. */
function onGrid(ring: readonly number[], scale: number): number[] {
  const kept: number[] = [];
  for (let i = 0; i < ring.length; i += 2) {
    const [x, y] = [Math.round(ring[i]! * scale), Math.round(ring[i + 1]! * scale)];
    if (x !== kept.at(-2) || y !== kept.at(-1)) kept.push(x, y);
  }
  return kept;
}
