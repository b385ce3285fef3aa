// Boundaries and sizes of cells on the sphere of H3, whose radius is 6371.007180918475 km.

import {
  cellArea,
  cellToBoundary,
  edgeLength,
  greatCircleDistance,
  originToDirectedEdges,
  UNITS,
} from 'h3-js';
import { type Codebook, h3Text, type LatLng, latLngOf, type Position, readOrThrow } from './codebook.js';

/**
 * The corners of a code's cell, counter-clockwise, the first one not repeated: six, or up to ten where the cell
 * crosses an edge of H3's icosahedron.
 *
 * @param hexcodes a loaded library
 * @param code a hexcode in any accepted spelling
 * @returns corners in degrees, latitude first
 * @throws HexcodesError INVALID_HEXCODES
 */
export function boundary(hexcodes: Codebook, code: string): LatLng[] {
  const { cell } = readOrThrow(hexcodes, code);
  return cellToBoundary(h3Text(cell)).map(([lat, lng]) => [lat!, lng!]);
}

/**
 * The area of a code's cell in square metres.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function area(hexcodes: Codebook, code: string): number {
  return cellArea(h3Text(readOrThrow(hexcodes, code).cell), UNITS.m2);
}

/**
 * The mean length of the edges of a code's cell in metres.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function edge(hexcodes: Codebook, code: string): number {
  const edges = originToDirectedEdges(h3Text(readOrThrow(hexcodes, code).cell));
  return edges.reduce((sum, each) => sum + edgeLength(each, UNITS.m), 0) / edges.length;
}

/**
 * How far the centre of a code's cell is from its farthest corner, in metres: the most by which encode and decode
 * can move a point.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function radius(hexcodes: Codebook, code: string): number {
  const { cell, lat, lng } = readOrThrow(hexcodes, code);
  return Math.max(
    ...cellToBoundary(h3Text(cell)).map((corner) => greatCircleDistance([lat, lng], corner, UNITS.m)),
  );
}

/**
 * The great-circle distance between two positions in metres. Each is given in degrees, or as a hexcode, which stands
 * for the centre of its cell.
 *
 * @throws HexcodesError INVALID_HEXCODES, NOT_A_COORDINATE
 */
export function distance(hexcodes: Codebook, from: string | Position, to: string | Position): number {
  return greatCircleDistance(centreOf(hexcodes, from), centreOf(hexcodes, to), UNITS.m);
}

function centreOf(hexcodes: Codebook, given: string | Position): [lat: number, lng: number] {
  if (typeof given !== 'string') return latLngOf(given);
  const { lat, lng } = readOrThrow(hexcodes, given);
  return [lat, lng];
}
