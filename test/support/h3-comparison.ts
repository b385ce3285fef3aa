// The kernel's cells against h3-js: seeded points in blocks, every difference with its distance to the cell's edge.
// cellOf is the careful path; encodeCells is what batches answer, whatever path they take. Both must agree with h3-js.

import { cellToBoundary, h3IndexToSplitLong, latLngToCell } from 'h3-js';
import type { Kernel } from '#hexcodes';

/** In place of one resolution for all points of a batch. */
const EACH_ITS_OWN = 255;

/** The kernel's domain, degrees. */
export const DOMAIN = { south: 5, north: 25, west: 100, east: 119 };

/** A legitimate difference lies this near to an edge: the projection of h3-js itself is uncertain by 6 nm. */
export const EDGE_TOLERANCE_M = 10e-9;

const METRES_PER_DEG = 111_194.93;
const RAD_PER_DEG = Math.PI / 180;

export interface Difference {
  latDeg: number;
  lngDeg: number;
  resolution: number;
  path: 'cellOf' | 'encodeCells';
  kernel: string;
  h3js: string;
  /** Metres from the point to the nearest edge of the cell that h3-js names. */
  edgeDistanceM: number;
}

/** Puts point n of a block: latDeg, lngDeg, resolution. */
export type PointSource = (
  n: number,
  put: (latDeg: number, lngDeg: number, resolution: number) => void,
) => void;

/** Every resolution as often, in runs of 256: batches work in blocks of one resolution. */
function resolutionOf(n: number): number {
  return (n >> 8) % 16;
}

/** Uniform over the domain. */
export function uniformPoints(random: () => number): PointSource {
  const { south, north, west, east } = DOMAIN;
  return (n, put) =>
    put(south + (north - south) * random(), west + (east - west) * random(), resolutionOf(n));
}

/**
 * Compares `count` points of a source: encodeCells on all of them, cellOf on those without a code and on every
 * eighth. Returns the differences.
 */
export function compareWithH3(kernel: Kernel, source: PointSource, count: number): Difference[] {
  const { capacity, exports, input, resolutions, output } = kernel;
  const halves = new Uint32Array(output.buffer, output.byteOffset, 2 * capacity);
  const statuses = (block: number) => output.subarray(9 * block, 10 * block);
  const differences: Difference[] = [];
  for (let from = 0; from < count; from += capacity) {
    const block = Math.min(capacity, count - from);
    for (let n = 0; n < block; n++) {
      source(from + n, (latDeg, lngDeg, resolution) => {
        input[2 * n] = latDeg;
        input[2 * n + 1] = lngDeg;
        resolutions[n] = resolution;
      });
    }
    exports.encodeCells(block, EACH_ITS_OWN);
    for (let n = 0; n < block; n++) {
      const latDeg = input[2 * n] as number;
      const lngDeg = input[2 * n + 1] as number;
      const resolution = resolutions[n] as number;
      const h3js = latLngToCell(latDeg, lngDeg, resolution);
      const [low, high] = h3IndexToSplitLong(h3js);
      const hasCell = statuses(block)[n] === 0;
      const report = (path: Difference['path'], kernel: string) =>
        differences.push({
          latDeg,
          lngDeg,
          resolution,
          path,
          kernel,
          h3js,
          edgeDistanceM: edgeDistanceM(h3js, latDeg, lngDeg),
        });
      if (hasCell && (halves[2 * n] !== low >>> 0 || halves[2 * n + 1] !== high >>> 0))
        report('encodeCells', (kernel.outputCells[n] as bigint).toString(16));
      if (!hasCell || n % 8 === 0) {
        const careful = exports.cellOf(latDeg, lngDeg, resolution).toString(16);
        if (careful !== h3js) report('cellOf', careful);
      }
    }
  }
  return differences;
}

/** Metres from a position to the nearest side of a cell's drawn boundary, in the plane tangent to the position. */
export function edgeDistanceM(cell: string, latDeg: number, lngDeg: number): number {
  const scale = Math.cos(latDeg * RAD_PER_DEG);
  const corners = cellToBoundary(cell).map(([lat, lng]) => [
    (lng - lngDeg) * scale * METRES_PER_DEG,
    (lat - latDeg) * METRES_PER_DEG,
  ]) as [number, number][];
  let nearest = Infinity;
  corners.forEach(([ax, ay], i) => {
    const [bx, by] = corners[(i + 1) % corners.length] as [number, number];
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.min(1, Math.max(0, -(ax * dx + ay * dy) / (dx * dx + dy * dy)));
    nearest = Math.min(nearest, Math.hypot(ax + along * dx, ay + along * dy));
  });
  return nearest;
}

/**
 * Points 0.01 nm to 1 mm (log-uniform) to either side of an edge of a random cell of the resolution asked for. The
 * edges are those that h3-js draws, so for coarse cells "on the edge" is as exact as its vertices.
 */
export function pointsByEdges(random: () => number): PointSource {
  const uniform = uniformPoints(random);
  return (n, put) =>
    uniform(n, (latDeg, lngDeg, resolution) => {
      const corners = cellToBoundary(latLngToCell(latDeg, lngDeg, resolution));
      const i = Math.floor(random() * corners.length);
      const [aLat, aLng] = corners[i] as [number, number];
      const [bLat, bLng] = corners[(i + 1) % corners.length] as [number, number];
      const along = random();
      beside(
        aLat + along * (bLat - aLat),
        aLng + along * (bLng - aLng),
        bLat - aLat,
        bLng - aLng,
        random,
        (lat, lng) => {
          const { south, north, west, east } = DOMAIN;
          const inside = lat >= south && lat <= north && lng >= west && lng <= east;
          put(inside ? lat : latDeg, inside ? lng : lngDeg, resolution);
        },
      );
    });
}

// Centres of icosahedron faces 5 and 10 (H3): the border between both is where a point is equally far from them.
const FACE_5 = [-0.1055498149613921, 0.9794457296411413, 0.1718874610009365] as const;
const FACE_10 = [-0.7405621473854481, 0.6673299564565524, 0.0789837646326737] as const;

/** Longitude of the border of faces 5 and 10 at a latitude, degrees. */
export function faceBorderLngDeg(latDeg: number): number {
  const [x, y, z] = [0, 1, 2].map((i) => FACE_5[i]! - FACE_10[i]!) as [number, number, number];
  // x cos λ + y sin λ = -z tan φ, as a cosine of λ - φ₀; the other root lies in the west
  const rad = Math.atan2(y, x) - Math.acos((-z * Math.tan(latDeg * RAD_PER_DEG)) / Math.hypot(x, y));
  const deg = rad / RAD_PER_DEG;
  const other = (2 * Math.atan2(y, x) - rad) / RAD_PER_DEG;
  return deg > DOMAIN.west && deg < 130 ? deg : other;
}

/** Points 0.01 nm to 1 mm beside the border of faces 5 and 10, as far as it lies in the domain. */
export function pointsByFaceBorder(random: () => number): PointSource {
  return (n, put) => {
    for (;;) {
      const latDeg = DOMAIN.south + (DOMAIN.north - DOMAIN.south) * random();
      const lngDeg = faceBorderLngDeg(latDeg);
      if (lngDeg > DOMAIN.east - 0.001 || lngDeg < DOMAIN.west) continue;
      beside(latDeg, lngDeg, 0.01, faceBorderLngDeg(latDeg + 0.01) - lngDeg, random, (lat, lng) =>
        put(lat, lng, resolutionOf(n)),
      );
      return;
    }
  };
}

function beside(
  latDeg: number,
  lngDeg: number,
  alongLat: number,
  alongLng: number,
  random: () => number,
  put: (latDeg: number, lngDeg: number) => void,
): void {
  const scale = Math.cos(latDeg * RAD_PER_DEG);
  const norm = Math.hypot(alongLat, alongLng * scale) || 1;
  const offsetDeg = (10 ** (8 * random() - 11) / METRES_PER_DEG) * (random() < 0.5 ? -1 : 1);
  put(latDeg + (offsetDeg * alongLng * scale) / norm, lngDeg - (offsetDeg * alongLat) / norm / scale);
}

/** One line for a difference, as proofs and failing tests print it. */
export function differenceLine(d: Difference): string {
  return `${d.latDeg}, ${d.lngDeg} resolution ${d.resolution}: ${d.path} ${d.kernel}, h3-js ${d.h3js}, ${(d.edgeDistanceM * 1e9).toFixed(2)} nm from the edge`;
}
