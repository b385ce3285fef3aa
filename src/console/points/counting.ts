// Counts points by hexagon: by the cells that the kernel gives their positions. Without a network or a page.
import { cellRing } from '../../hexcodes/geometry/codebook.js';
import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import { cellStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { Box } from '../desk.js';
import { edgeM } from '../place/place.js';
import type { KernelPaths } from '../shell/worker-kernel.js';
import { ANCHOR, type Counted, mercatorX, mercatorY } from './drawn-points.js';

// The messages between the page and its worker that counts points.

export type CountTask =
  /** The first message. */
  | { readonly kind: 'open'; readonly paths: KernelPaths }
  /** Other points. */
  | { readonly kind: 'points'; readonly positions: Float64Array }
  | { readonly kind: 'count'; readonly box: Box; readonly finest: number }
  /** The points of a cell that the last answer has; `box` is around it. */
  | { readonly kind: 'cell'; readonly cell: bigint; readonly box: Box; readonly resolution: number };

/** One answer for each task but the first two. */
export type CountNews =
  | {
      readonly kind: 'counted';
      readonly counted: Counted;
      /** Points without a code. */
      readonly uncounted: number;
    }
  /** Indexes of the first points of the cell. */
  | { readonly kind: 'cell'; readonly cell: bigint; readonly points: readonly number[] };

/** Classes of a legend, each with a colour. */
export const LEVELS = 6;
/**
 * Share of hexagons below the last class: otherwise one crowded hexagon would leave a single colour to all others.
 */
const LAST_SHARE = 0.98;
/** Mean number of points below which hexagons show where points are but not where they are many. */
const MIN_MEAN = 4;
/** Steps to larger hexagons, of which each is two and a half times as wide. */
const MAX_COARSER = 2;
/** Metres of a degree of latitude, and the least of a degree of longitude in Viet Nam. */
export const LAT_DEGREE_M = 110_000;
export const LNG_DEGREE_M = 100_000;

/** Lower bounds of at most LEVELS classes, rounded to one digit: equal steps of the logarithm. */
export function levelsOf(counts: readonly number[]): number[] {
  const sorted = [...counts].sort((a, b) => a - b);
  const most = sorted[Math.floor(LAST_SHARE * (sorted.length - 1))] ?? 1;
  const levels = [1];
  for (let step = 1; step < LEVELS; step++) {
    const exact = Math.max(1, most) ** (step / LEVELS);
    const digit = 10 ** Math.floor(Math.log10(exact));
    const round = Math.round(exact / digit) * digit;
    if (round > levels.at(-1)! && round <= most) levels.push(round);
  }
  return levels;
}

export class Counter {
  constructor(
    private readonly kernel: Kernel,
    /** Latitude, longitude, latitude, … in degrees. */
    private readonly positions: Float64Array,
  ) {}

  /** Points without a code, which no hexagon counts. */
  uncounted(): number {
    let counted = 0;
    this.#each(EVERYWHERE, 0, () => counted++);
    return this.positions.length / 2 - counted;
  }

  /** The hexagons of a view: larger ones where few points are. @param finest resolution that can be seen */
  view(box: Box, finest: number): Counted {
    let resolution = finest;
    for (;;) {
      const counted = this.count(box, resolution);
      const points = counted.points.reduce((sum, each) => sum + each, 0);
      const isCoarsest = resolution === 0 || finest - resolution === MAX_COARSER;
      if (isCoarsest || points >= MIN_MEAN * counted.cells.length) return counted;
      resolution--;
    }
  }

  /** The hexagons that touch a box, with all of their points. */
  count(box: Box, resolution: number): Counted {
    const cells = new Map<bigint, number>();
    const near = wider(box, resolution, 1);
    const shown = new Set<bigint>();
    this.#each(wider(box, resolution, 2), resolution, (cell, lat, lng) => {
      cells.set(cell, (cells.get(cell) ?? 0) + 1);
      if (isWithin(near, lat, lng)) shown.add(cell);
    });
    const found = BigUint64Array.from(shown);
    const points = Uint32Array.from(found, (cell) => cells.get(cell)!);
    const levels = levelsOf([...points]);
    const classes = Uint8Array.from(points, (each) => levels.findLastIndex((least) => each >= least));
    const corners: number[] = [];
    const ends = Uint32Array.from(found, (cell) => {
      // The last corner of a ring is its first.
      for (const [lng, lat] of cellRing(cell.toString(16)).slice(1))
        corners.push(mercatorX(lng) - ANCHOR.x, mercatorY(lat) - ANCHOR.y);
      return corners.length / 2;
    });
    return { resolution, cells: found, points, levels, classes, corners: Float32Array.from(corners), ends };
  }

  /** The points of a cell, by their indexes. @param most that are returned */
  inCell(cell: bigint, box: Box, resolution: number, most: number): number[] {
    const found: number[] = [];
    this.#each(wider(box, resolution, 1), resolution, (each, _lat, _lng, index) => {
      if (each === cell && found.length < most) found.push(index);
    });
    return found;
  }

  /** Calls `take` for each point of a box that has a code. */
  #each(box: Box, resolution: number, take: TakeCell): void {
    eachCell(this.kernel, this.positions, box, resolution, take);
  }
}

/** @param index of the position */
type TakeCell = (cell: bigint, lat: number, lng: number, index: number) => void;

/** Calls `take` for each position in a box that has a code. */
export function eachCell(
  { capacity, exports, input, output, outputCells }: Kernel,
  positions: Float64Array,
  box: Box,
  resolution: number,
  take: TakeCell,
): void {
  const indexes = new Uint32Array(capacity);
  let count = 0;
  const flush = (): void => {
    if (count === 0) return;
    exports.encodeCells(count, resolution);
    for (let i = 0; i < count; i++)
      if (output[cellStatusAt(count, i)] === OK)
        take(outputCells[i]!, input[2 * i]!, input[2 * i + 1]!, indexes[i]!);
    count = 0;
  };
  for (let index = 0; index < positions.length / 2; index++) {
    const [lat, lng] = [positions[2 * index]!, positions[2 * index + 1]!];
    if (!isWithin(box, lat, lng)) continue;
    input[2 * count] = lat;
    input[2 * count + 1] = lng;
    indexes[count++] = index;
    if (count === capacity) flush();
  }
  flush();
}

const EVERYWHERE: Box = { west: -180, south: -90, east: 180, north: 90 };

const isWithin = ({ west, south, east, north }: Box, lat: number, lng: number): boolean =>
  lat >= south && lat <= north && lng >= west && lng <= east;

/** The box with a number of widths of a hexagon more on each side. */
function wider({ west, south, east, north }: Box, resolution: number, widths: number): Box {
  // Hexagons are up to a fifth larger than on average.
  const metres = widths * 2.4 * edgeM(resolution);
  const [lat, lng] = [metres / LAT_DEGREE_M, metres / LNG_DEGREE_M];
  return { west: west - lng, south: south - lat, east: east + lng, north: north + lat };
}
