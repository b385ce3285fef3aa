// The outline of an H3 cell as GeoJSON has it.

import { cellToBoundary } from 'h3-js';

/**
 * Corners of a cell, longitude first, counter-clockwise, the first one repeated at the end.
 * @param cell an H3 index in hexadecimal
 */
export function cellRing(cell: string): [lng: number, lat: number][] {
  const ring = cellToBoundary(cell).map(([lat, lng]): [number, number] => [lng!, lat!]);
  ring.push([...ring[0]!]);
  return ring;
}
