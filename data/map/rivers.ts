// Draws the rivers of the console's map: the lines of the source, thinned. src/console/map/shapes.ts reads the file.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { nearnessTo } from './land-line.js';
import { STEPS_PER_DEGREE } from './plane/grid.js';
import { thinChain } from './plane/simplify.js';
import { readLand } from './sources.js';
import { varints } from './varints.js';

export const RIVERS_SOURCE = 'data/sources/rivers.json.gz';
export const RIVERS_FILE = 'data/rivers.bin';

/** The content of RIVERS_SOURCE, which cut-rivers.py writes: each line its level, then x and y in turn. */
interface RiverSource {
  readonly stepsPerDegree: number;
  readonly lines: readonly (readonly [level: number, ...xy: number[]])[];
}

/** Steps of the map in one step of the file, whose vertices are on a grid of 1e-3 degrees, 110 m. */
const FILE_STEP = STEPS_PER_DEGREE / 1000;
/** How far a vertex may be from the thinned line, in steps: 170 m, less than the error of the source; 1.1 km abroad. */
const NEAR_TOLERANCE = 0.0015 * STEPS_PER_DEGREE;
const FAR_TOLERANCE = 0.01 * STEPS_PER_DEGREE;
/** Abroad smaller rivers are left out. */
const MAX_FAR_LEVEL = 2;

/**
 * The file: numbers of 7 bits a byte, low ones first; the count of lines, then for each its level (0 the widest, to 4),
 * its count of vertices and their zigzag steps.
 */
export function drawRivers(): Uint8Array {
  const source = JSON.parse(gunzipSync(readFileSync(RIVERS_SOURCE)).toString('utf8')) as RiverSource;
  const { put, putSteps, bytes } = varints();
  const scale = STEPS_PER_DEGREE / source.stepsPerDegree;
  const isNear = nearnessTo(readLand().filter(({ country }) => country === 'VNM'));
  const lines = source.lines.flatMap(([level, ...steps]) => {
    const xy = steps.map((value) => value * scale);
    const isOurs = xy.some((x, i) => i % 2 === 0 && isNear(x, xy[i + 1]!));
    if (!isOurs && level > MAX_FAR_LEVEL) return [];
    return [{ level, kept: thinChain(xy, (x, y) => (isNear(x, y) ? NEAR_TOLERANCE : FAR_TOLERANCE)) }];
  });
  put(lines.length);
  for (const { level, kept } of lines) {
    put(level);
    put(kept.length / 2);
    putSteps(
      kept.map((value) => Math.round(value / FILE_STEP)),
      [0, 0],
    );
  }
  return Uint8Array.from(bytes);
}
