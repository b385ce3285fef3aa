// A kernel for tests that are not about boundaries: 63 rectangles over 4-26 N, 99-120 E as the index, so that every
// province occurs, and a reach that allows every province everywhere.

import { readFileSync } from 'node:fs';
import { Hexcodes, type Kernel } from '#hexcodes';
import { writeIndexFile, writeReachFile } from '../../data/map/index-file.js';
import type { Partition } from '../../data/map/partition.js';
import { randomFrom } from './random.js';

export { randomFrom };

export type Build = 'kernel' | 'kernel.debug';

export const KERNEL_FILES: Record<Build, string> = {
  kernel: 'dist/kernel.wasm',
  'kernel.debug': 'dist/kernel.debug.wasm',
};

const WEST = 99_000_000;
const SOUTH = 4_000_000;
const COLUMNS = 7;
const ROWS = 9;
const WIDTH = 3_000_000;
const HEIGHT = 2_500_000;
const OUTSIDE = 63;

/** Admin number of a position in degrees in the open world, 255 outside. */
export function openWorldAdmin(latDeg: number, lngDeg: number): number {
  const column = Math.floor((Math.floor(lngDeg * 1e6 + 0.5) - WEST) / WIDTH);
  const row = Math.floor((Math.floor(latDeg * 1e6 + 0.5) - SOUTH) / HEIGHT);
  return column < 0 || column >= COLUMNS || row < 0 || row >= ROWS ? 255 : (row * COLUMNS + column) % 34;
}

function rectangles(): Partition {
  const segments: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  const unit = (column: number, row: number): number =>
    column < 0 || column >= COLUMNS || row < 0 || row >= ROWS ? OUTSIDE : row * COLUMNS + column;
  for (let row = 0; row <= ROWS; row++)
    for (let column = 0; column <= COLUMNS; column++) {
      const x = WEST + column * WIDTH;
      const y = SOUTH + row * HEIGHT;
      if (row < ROWS) {
        segments.push(x, y, x, y + HEIGHT);
        left.push(unit(column - 1, row));
        right.push(unit(column, row));
      }
      if (column < COLUMNS) {
        segments.push(x, y, x + WIDTH, y);
        left.push(unit(column, row));
        right.push(unit(column, row - 1));
      }
    }
  return {
    units: Array.from({ length: COLUMNS * ROWS }, (_, i) => ({ name: `unit ${i}`, admin: i % 34 })),
    segments: Int32Array.from(segments),
    left: Uint8Array.from(left),
    right: Uint8Array.from(right),
    notice: 'made up',
    source: { name: 'made up', date: '2026-01-01' },
  };
}

export const OPEN_INDEX = writeIndexFile(rectangles(), 'none');

/** The file of a reach, by 401 masks of provinces for each head of a code. @throws RangeError */
export const reachOf = writeReachFile;

/** Every row that a hexcode can have allows all 34 provinces. */
export const OPEN_MASKS = BigUint64Array.from({ length: 16 * 401 }, (_, row) => {
  const [head, firstPair] = [Math.floor(row / 401), row % 401];
  // Nothing follows the head of a base cell.
  const isRow = firstPair < 400 && (firstPair === 0 || ![0, 6, 11].includes(head));
  return isRow ? (1n << 34n) - 1n : 0n;
});
export const OPEN_REACH = reachOf(OPEN_MASKS);

/** The three binaries of the open world, for `Hexcodes.from`. */
export function openWorld(build: Build = 'kernel') {
  return { kernel: readFileSync(KERNEL_FILES[build]), index: OPEN_INDEX, reach: OPEN_REACH };
}

export function openKernel(build: Build = 'kernel'): Kernel {
  return Hexcodes.from(openWorld(build)).kernel;
}

/** Points all over the open world, some of them outside it or no coordinates. */
export function pointsOf(seed: number, count: number): Float64Array {
  const random = randomFrom(seed);
  return Float64Array.from({ length: count * 2 }, (_, i) => {
    if (random() < 0.01) return Number.NaN;
    return i % 2 === 0 ? 3.8 + random() * 23 : 98.8 + random() * 21.5;
  });
}
