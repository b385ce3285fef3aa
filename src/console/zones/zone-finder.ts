// Finds the zone of each position as `hexcodes contains --in zones.csv` does: by the cells of the list. A cell that
// several zones have belongs to the first of them.

import { edge } from '../../hexcodes/geometry/cells.js';
import { CellSet } from '../../hexcodes/geometry/cover.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { eachCell, LAT_DEGREE_M, LNG_DEGREE_M } from '../points/counting.js';
import { type CoverTask, codesOfZones, libraryOf } from './zone-list.js';

/** Stands for a position in no zone. */
export const NO_ZONE = 255;
/** Edge lengths around the centre of a cell within which all of its finer cells lie. */
const REACH_EDGES = 2.5;

export class ZoneFinder {
  readonly #cells: CellSet;
  /** Bounding box of all cells: most positions lie outside and need no lookup. */
  readonly #box = { west: 180, south: 90, east: -180, north: -90 };

  /** @param codes the codes of each zone */
  constructor(
    private readonly hexcodes: Hexcodes,
    codes: readonly (readonly string[])[],
  ) {
    const named = codes.flatMap((ofZone, zone) => ofZone.map((code) => [code, String(zone)] as const));
    this.#cells = new CellSet(hexcodes, named);
    const box = this.#box;
    const reach = new Map<number, number>();
    for (const [code] of named) {
      const { lat, lng, resolution } = hexcodes.read(code)!;
      const reachM = reach.get(resolution) ?? REACH_EDGES * edge(hexcodes, code);
      reach.set(resolution, reachM);
      const [padLat, padLng] = [reachM / LAT_DEGREE_M, reachM / LNG_DEGREE_M];
      box.west = Math.min(box.west, lng - padLng);
      box.east = Math.max(box.east, lng + padLng);
      box.south = Math.min(box.south, lat - padLat);
      box.north = Math.max(box.north, lat + padLat);
    }
  }

  /** @throws ZoneTooLargeError */
  static async of(task: CoverTask): Promise<ZoneFinder> {
    const hexcodes = await libraryOf(task.paths);
    return new ZoneFinder(hexcodes, codesOfZones(hexcodes, task));
  }

  /** The index of the zone of each position, or NO_ZONE. @param latLngDeg NaN where there is none */
  find(latLngDeg: Float64Array): Uint8Array {
    const found = new Uint8Array(latLngDeg.length / 2).fill(NO_ZONE);
    const { kernel } = this.hexcodes;
    eachCell(kernel, latLngDeg, this.#box, this.#cells.resolution, (cell, _lat, _lng, row) => {
      const zone = this.#cells.nameOf(cell.toString(16));
      if (zone !== undefined) found[row] = Number(zone);
    });
    return found;
  }
}
