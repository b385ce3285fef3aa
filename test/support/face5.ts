// Tests of the fast path share this: the exports of the open world's kernel, and points beside cell edges.
import { cellToBoundary, latLngToCell } from 'h3-js';
import type { KernelExports } from '#hexcodes';
import { type Build, openKernel } from './open-world.js';

/** Every position of the domain is in a province, and every admin code is allowed everywhere. */
export function fastKernel(build: Build = 'kernel'): KernelExports {
  return openKernel(build).exports;
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
