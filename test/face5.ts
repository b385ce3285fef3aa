// What the tests of the kernel's fast path share: a kernel that covers its whole domain and lets every code through,
// seeded points, and points beside cell edges.

import { cellToBoundary, latLngToCell } from 'h3-js';
import { writeIndexFile } from '../data/build/index-file.js';
import { OUTSIDE, type Partition } from '../data/build/partition.js';
import { type BareKernel, type Build, bareKernel, putIndex } from './region/bare-kernel.js';

export interface FastKernel extends BareKernel {
  readonly REACH: WebAssembly.Global;
  readonly RESOLUTIONS: WebAssembly.Global;
  useReach(): number;
  encodeBatch(count: number, resolution: number): number;
  encodeCells(count: number, resolution: number): number;
  encodeOne(latDeg: number, lngDeg: number, resolution: number): number;
  decodeBatch(count: number): number;
  readText(units: number): number;
  cellOf(latDeg: number, lngDeg: number, resolution: number): bigint;
  centerOf(cell: bigint): number;
  pack(cell: bigint, admin: number): number;
}

const [WEST, SOUTH, EAST, NORTH] = [100e6, 5e6, 119e6, 25e6] as const;

/** The whole domain of the kernel as 34 strips from west to east, one to each admin code. */
export function stripes(): Uint8Array {
  const units = Array.from({ length: 34 }, (_, admin) => ({ name: `strip ${admin}`, admin }));
  const lines: [x0: number, y0: number, x1: number, y1: number, left: number, right: number][] = [];
  const xAt = (strip: number) => WEST + 10 * Math.round((strip * (EAST - WEST)) / 340);
  for (let strip = 0; strip <= 34; strip++) {
    const right = strip < 34 ? strip : OUTSIDE;
    lines.push([xAt(strip), SOUTH, xAt(strip), NORTH, strip > 0 ? strip - 1 : OUTSIDE, right]);
    if (strip === 34) break;
    lines.push([xAt(strip), SOUTH, xAt(strip + 1), SOUTH, strip, OUTSIDE]);
    lines.push([xAt(strip), NORTH, xAt(strip + 1), NORTH, OUTSIDE, strip]);
  }
  const partition: Partition = {
    units,
    segments: Int32Array.from(lines.flatMap((line) => line.slice(0, 4))),
    left: Uint8Array.from(lines, (line) => line[4]),
    right: Uint8Array.from(lines, (line) => line[5]),
    notice: 'made for tests',
    source: { name: 'stripes', date: '2025-07-01' },
  };
  return writeIndexFile(partition, 'none');
}

/** A kernel whose reach lets every admin code stand anywhere. */
export function fastKernel(build: Build = 'kernel', index: Uint8Array = stripes()): FastKernel {
  const kernel = bareKernel(build) as FastKernel;
  const everywhere = 2n ** 34n - 1n;
  new BigUint64Array(kernel.memory.buffer, kernel.REACH.value as number, 16 * 401).fill(everywhere);
  if (kernel.useReach() !== 0) throw new Error('reach refused');
  const refusal = putIndex(kernel, index);
  if (refusal !== 0) throw new Error(`index refused: ${refusal}`);
  return kernel;
}

/** Numbers in [0, 1) from a seed: 53 bits of two steps of mulberry32. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  const step = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return () => ((step() >>> 5) * 2 ** 26 + (step() >>> 6)) / 2 ** 53;
}

export type Position = readonly [latDeg: number, lngDeg: number];

type Vector = [number, number, number];
const RAD = Math.PI / 180;
const EARTH_METRES = 6_371_007;

function vectorOf([latDeg, lngDeg]: Position): Vector {
  const parallel = Math.cos(latDeg * RAD);
  return [parallel * Math.cos(lngDeg * RAD), parallel * Math.sin(lngDeg * RAD), Math.sin(latDeg * RAD)];
}

function positionOf([x, y, z]: Vector): Position {
  return [Math.atan2(z, Math.hypot(x, y)) / RAD, Math.atan2(y, x) / RAD];
}

/** A point on a random edge of the position's cell, moved across it by 0.01 nm to 1 mm, either way. */
export function besideEdge(position: Position, resolution: number, next: () => number): Position {
  const corners = cellToBoundary(latLngToCell(position[0], position[1], resolution));
  const at = Math.floor(next() * corners.length);
  const from = vectorOf(corners[at] as Position);
  const to = vectorOf(corners[(at + 1) % corners.length] as Position);
  const along = next();
  const metres = 10 ** (8 * next() - 11) * (next() < 0.5 ? 1 : -1);
  const across: Vector = [
    from[1] * to[2] - from[2] * to[1],
    from[2] * to[0] - from[0] * to[2],
    from[0] * to[1] - from[1] * to[0],
  ];
  const scale = metres / EARTH_METRES / Math.hypot(...across);
  return positionOf(
    [0, 1, 2].map((k) => from[k]! + along * (to[k]! - from[k]!) + scale * across[k]!) as Vector,
  );
}
