// Positions of the coverage in cells that it touches with neither their centre nor a corner: a spit, an islet, a bend
// of the border. They lie along the coverage's edge.

import { getResolution, latLngToCell } from 'h3-js';
import type { Codebook, LatLng } from './codebook.js';

/** Degrees of a square of the table below. */
const SQUARE_DEG = 0.05;
const SQUARES_A_ROW = 100_000;
/** Degrees from the edge to both sides: the index has whole micro-degrees. */
const ASIDE_DEG = [1e-6, 4e-6] as const;

interface Edges {
  /** Segments, four numbers each: lng, lat, lng, lat in degrees. */
  readonly segments: Float64Array;
  /** Offsets in `segments` by square. */
  readonly bySquare: ReadonlyMap<number, readonly number[]>;
}

const KNOWN = new WeakMap<Codebook, Edges>();

const squareOf = (deg: number): number => Math.floor(deg / SQUARE_DEG);

function edgesOf(hexcodes: Codebook): Edges {
  const known = KNOWN.get(hexcodes);
  if (known !== undefined) return known;
  const lines = hexcodes.coverageEdges?.() ?? [];
  const segments = new Float64Array(lines.reduce((sum, line) => sum + 2 * line.length - 4, 0));
  const bySquare = new Map<number, number[]>();
  let at = 0;
  for (const line of lines)
    for (let i = 2; i < line.length; i += 2) {
      const ends = [line[i - 2]!, line[i - 1]!, line[i]!, line[i + 1]!].map((each) => each / 1e6);
      const [x0, y0, x1, y1] = ends as [number, number, number, number];
      segments.set(ends, at);
      for (let x = squareOf(Math.min(x0, x1)); x <= squareOf(Math.max(x0, x1)); x++)
        for (let y = squareOf(Math.min(y0, y1)); y <= squareOf(Math.max(y0, y1)); y++) {
          const square = bySquare.get(y * SQUARES_A_ROW + x);
          if (square === undefined) bySquare.set(y * SQUARES_A_ROW + x, [at]);
          else square.push(at);
        }
      at += 4;
    }
  const edges = { segments, bySquare };
  KNOWN.set(hexcodes, edges);
  return edges;
}

/**
 * Positions of a cell, in degrees, at both sides of the coverage's edge, wherever the edge runs through it.
 *
 * @param hexcodes a loaded library
 * @param cell an H3 index in hexadecimal
 * @param ring its corners, longitude first, counter-clockwise, the first one repeated at the end
 */
export function* edgePositions(
  hexcodes: Codebook,
  cell: string,
  ring: readonly (readonly [lng: number, lat: number])[],
): Generator<LatLng> {
  const { segments, bySquare } = edgesOf(hexcodes);
  const resolution = getResolution(cell);
  const isInCell = (lng: number, lat: number): boolean => latLngToCell(lat, lng, resolution) === cell;
  const lngs = ring.map(([lng]) => lng);
  const lats = ring.map(([, lat]) => lat);
  const [west, east] = [squareOf(Math.min(...lngs)), squareOf(Math.max(...lngs))];
  const [south, north] = [squareOf(Math.min(...lats)), squareOf(Math.max(...lats))];
  for (const [square, offsets] of squaresWithin(bySquare, { west, south, east, north }))
    for (const at of offsets) {
      const [x0, y0, x1, y1] = segments.subarray(at, at + 4) as unknown as [number, number, number, number];
      // A long segment has pieces in several squares, of which the first of the cell is enough.
      if (square !== undefined && Math.max(squareOf(Math.min(x0, x1)), west) !== square % SQUARES_A_ROW)
        continue;
      const piece = withinRing(ring, x0, y0, x1, y1);
      if (piece === null) continue;
      const [from, to] = piece;
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [acrossX, acrossY] = [(y0 - y1) / length, (x1 - x0) / length];
      for (const t of [(from + to) / 2, from, to, from + (to - from) * 0.01, to - (to - from) * 0.01]) {
        const [lng, lat] = [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
        if (isInCell(lng, lat)) yield [lat, lng];
        for (const aside of ASIDE_DEG)
          for (const side of [-aside, aside]) {
            const [x, y] = [lng + side * acrossX, lat + side * acrossY];
            if (isInCell(x, y)) yield [y, x];
          }
      }
    }
}

interface Squares {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Squares with segments; all of the table where a cell is so large that it has more squares than the table. */
function* squaresWithin(
  bySquare: ReadonlyMap<number, readonly number[]>,
  { west, south, east, north }: Squares,
): Generator<readonly [square: number | undefined, offsets: readonly number[]]> {
  if ((east - west + 1) * (north - south + 1) > bySquare.size) {
    for (const offsets of bySquare.values()) yield [undefined, offsets];
    return;
  }
  for (let y = south; y <= north; y++)
    for (let x = west; x <= east; x++) {
      const square = y * SQUARES_A_ROW + x;
      const offsets = bySquare.get(square);
      if (offsets !== undefined) yield [square, offsets];
    }
}

/** The piece of a segment in a convex ring, as shares of its length; null for none. */
function withinRing(
  ring: readonly (readonly [number, number])[],
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): [from: number, to: number] | null {
  let [from, to] = [0, 1];
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1]!;
    const [bx, by] = ring[i]!;
    // Distances to the left of the edge, inside, scaled by its length.
    const atStart = (bx - ax) * (y0 - ay) - (by - ay) * (x0 - ax);
    const atEnd = (bx - ax) * (y1 - ay) - (by - ay) * (x1 - ax);
    if (atStart < 0 && atEnd < 0) return null;
    if (atStart < 0) from = Math.max(from, atStart / (atStart - atEnd));
    else if (atEnd < 0) to = Math.min(to, atStart / (atStart - atEnd));
  }
  return from <= to ? [from, to] : null;
}
