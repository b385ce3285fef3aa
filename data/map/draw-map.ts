// Draws a definition: the units' own lines and the lines that the definition implies (coast strip, sea limit, zones,
// the middle between two units) are arranged into faces, each face asks the definition for its unit at a point well
// inside, and lines with the same unit on both sides are dropped.
import { type Definition, STRIP_M } from './coverage.js';
import type { Partition } from './partition.js';
import { arrange } from './plane/arrangement.js';
import { BLOCK_RADIUS, contour } from './plane/contour.js';
import { METRES_PER_STEP, STEPS_PER_DEGREE, VERTEX_STEP } from './plane/grid.js';
import { joined, type LabelledLines, label, OUTSIDE } from './plane/labelled-lines.js';
import { thin } from './plane/simplify.js';

/** Degrees; everything that can belong to a unit lies inside. */
const BOX = { west: 101.6, south: 6.4, east: 118.4, north: 23.8 };

/** A contour may move by this part of its distance to the nearest land or unit line, within these metres. */
const TOLERANCE = { part: 0.035, leastM: 6, mostM: 80 };

/**
 * Contours are drawn this far into the units, more than a square deep, so that they cross the outlines of the units.
 */
const DEPTH_M = 120;

/** @param unitLines the units' own lines, which are kept exactly */
export function drawMap(definition: Definition, unitLines: Int32Array): LabelledLines {
  const box = {
    west: BOX.west * STEPS_PER_DEGREE,
    south: BOX.south * STEPS_PER_DEGREE,
    east: BOX.east * STEPS_PER_DEGREE,
    north: BOX.north * STEPS_PER_DEGREE,
  };
  const contours = contour(
    box,
    definition.unitAt,
    // Deep inside a unit its own lines are the map, unless the definition gives the point to nobody.
    (x, y, unit) => unit !== OUTSIDE && definition.deepInside(x, y, DEPTH_M),
    // A land border folds back on itself: foreign pockets whose mouth is narrower than two strips become islands.
    (x, y) => definition.atLandBorder(x, y, BLOCK_RADIUS * METRES_PER_STEP + 2 * STRIP_M),
  );
  const thinned = thin(contours, (x, y) => {
    const farM = TOLERANCE.mostM / TOLERANCE.part;
    const metres = TOLERANCE.part * definition.clearanceM(x, y, farM);
    return Math.max(TOLERANCE.leastM, metres) / METRES_PER_STEP;
  });
  return label(arrange(joined(unitLines, thinned)), definition.unitAt);
}

/** The drawn map in micro-degrees, as the writer of the index takes it. */
export function toPartition(
  { lines, left, right }: LabelledLines,
  about: Pick<Partition, 'units' | 'notice' | 'source'>,
): Partition {
  return { ...about, segments: lines.map((steps) => steps * VERTEX_STEP), left, right };
}
