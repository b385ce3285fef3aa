// The cells in a box of latitudes and longitudes, and their hexcodes.

import { cellToBoundary, cellToLatLng, getHexagonAreaAvg, polygonToCells, UNITS } from 'h3-js';
import type { Codebook } from './codebook.js';

/** Degrees. Does not cross the 180th meridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const EARTH_RADIUS_KM = 6371.007180918475;
/** Cells in one strip, about. */
const STRIP_CELLS = 500;

const inRadians = (deg: number): number => (deg * Math.PI) / 180;

/** About how many cells a box has; cells are up to a third larger or smaller than on average. */
export function estimatedCells({ west, south, east, north }: Box, resolution: number): number {
  const areaKm2 =
    EARTH_RADIUS_KM ** 2 * inRadians(east - west) * (Math.sin(inRadians(north)) - Math.sin(inRadians(south)));
  return areaKm2 / getHexagonAreaAvg(resolution, UNITS.km2);
}

/** The H3 indexes, hexadecimal, of the cells whose centre lies in the box. */
export function cellsWithin({ west, south, east, north }: Box, resolution: number): string[] {
  const corners = [
    [south, west],
    [south, east],
    [north, east],
    [north, west],
  ];
  return polygonToCells(corners, resolution);
}

/** The corners of a cell as a closed ring of GeoJSON. */
export function ringOf(cell: string): [lng: number, lat: number][] {
  return cellToBoundary(cell, true) as [number, number][];
}

/** Into how many strips `codesWithin` cuts a box. */
export const stripsOf = (box: Box, resolution: number): number =>
  Math.max(1, Math.ceil(estimatedCells(box, resolution) / STRIP_CELLS));

/**
 * The hexcodes of the cells whose centre lies in the box and in a province, strip by strip from south to north, so that
 * the caller can do other things between two of them.
 */
export function* codesWithin(hexcodes: Codebook, box: Box, resolution: number): Generator<string[]> {
  const { west, south, east, north } = box;
  const strips = stripsOf(box, resolution);
  for (let i = 0; i < strips; i++) {
    const low = south + ((north - south) * i) / strips;
    const high = south + ((north - south) * (i + 1)) / strips;
    yield cellsWithin({ west, south: low, east, north: high }, resolution).flatMap((cell) => {
      const [lat, lng] = cellToLatLng(cell);
      const admin = hexcodes.adminCodeOf(lat!, lng!);
      const code = admin === null ? null : hexcodes.pack(BigInt(`0x${cell}`), admin);
      return code === null ? [] : [code];
    });
  }
}
