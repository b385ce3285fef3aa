// Outlines for the plain map: of thousands of corners only those needed for the view are drawn. The rest is clipped
// first, because a canvas follows a border of kilometres, dash by dash, even if only ten metres of it are visible.

import { mercatorX, mercatorY } from '../points/drawn-points.js';

export type Line = readonly (readonly [lng: number, lat: number])[];

/** The centre of the view in Web Mercator, 0 to 1; the width of the world and the sizes of the map in CSS pixels. */
export interface Window {
  readonly x: number;
  readonly y: number;
  readonly worldPx: number;
  readonly widthPx: number;
  readonly heightPx: number;
}

/** Receives the corners, in pixels from the top left, as `Path2D` does. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
}

/** Margin around the view in pixels, which hides the edges made by clipping. */
const PAD_PX = 16;
/** Distance below which corners are merged. */
const MIN_PX = 0.5;

/** Fills a path. */
export function fill(context: CanvasRenderingContext2D, path: Path2D, color: string, alpha = 1): void {
  context.globalAlpha = alpha;
  context.fillStyle = color;
  context.fill(path, 'evenodd');
  context.globalAlpha = 1;
}

/** Draws the line of a path. */
export function stroke(
  context: CanvasRenderingContext2D,
  path: Path2D,
  color: string,
  widthPx: number,
  alpha = 1,
): void {
  context.globalAlpha = alpha;
  context.strokeStyle = color;
  context.lineWidth = widthPx;
  context.stroke(path);
  context.globalAlpha = 1;
}

/** A disc with a rim. */
export function drawDot(
  context: CanvasRenderingContext2D,
  { x, y }: { readonly x: number; readonly y: number },
  radiusPx: number,
  color: string,
  rim: string,
): void {
  const path = new Path2D();
  path.arc(x, y, radiusPx, 0, 2 * Math.PI);
  fill(context, path, color);
  stroke(context, path, rim, 2);
}

interface Part {
  /** x and y of the corners, alternating. */
  readonly corners: Float64Array;
  readonly west: number;
  readonly east: number;
  readonly north: number;
  readonly south: number;
}

export class Outline {
  readonly #parts: readonly Part[];

  /** @param isClosed whether the lines are the rims of areas */
  constructor(
    lines: readonly Line[],
    private readonly isClosed: boolean,
  ) {
    this.#parts = lines.map((line) => {
      const corners = new Float64Array(2 * line.length);
      let [west, east, north, south] = [1, 0, 1, 0];
      line.forEach(([lng, lat], i) => {
        const [x, y] = [mercatorX(lng), mercatorY(lat)];
        corners[2 * i] = x;
        corners[2 * i + 1] = y;
        west = Math.min(west, x);
        east = Math.max(east, x);
        north = Math.min(north, y);
        south = Math.max(south, y);
      });
      return { corners, west, east, north, south };
    });
  }

  draw(pen: Pen, { x, y, worldPx, widthPx, heightPx }: Window): void {
    const halfX = (widthPx / 2 + PAD_PX) / worldPx;
    const halfY = (heightPx / 2 + PAD_PX) / worldPx;
    const [left, right, top, bottom] = [x - halfX, x + halfX, y - halfY, y + halfY];
    for (const { corners, west, east, north, south } of this.#parts) {
      if (east < left || west > right || south < top || north > bottom) continue;
      const isInside = west >= left && east <= right && north >= top && south <= bottom;
      const pieces = isInside
        ? [corners]
        : this.isClosed
          ? // Sutherland and Hodgman: an area cut by the four sides of a box, one after the other.
            [cut(cut(cut(cut(corners, 0, left, 1), 0, right, -1), 1, top, 1), 1, bottom, -1)]
          : cutLine(corners, left, right, top, bottom);
      for (const piece of pieces) {
        let [lastX, lastY] = [Number.NaN, Number.NaN];
        for (let i = 0; i < piece.length; i += 2) {
          const atX = (piece[i]! - x) * worldPx + widthPx / 2;
          const atY = (piece[i + 1]! - y) * worldPx + heightPx / 2;
          const isFirst = i === 0;
          const isNear = Math.abs(atX - lastX) < MIN_PX && Math.abs(atY - lastY) < MIN_PX;
          if (isNear && i + 2 < piece.length) continue;
          if (isFirst) pen.moveTo(atX, atY);
          else pen.lineTo(atX, atY);
          [lastX, lastY] = [atX, atY];
        }
        if (this.isClosed && piece.length > 0) pen.closePath();
      }
    }
  }
}

/**
 * The part of an area on one side of a line across the map.
 * @param axis 0: a line of one x, 1: of one y
 * @param side 1: what is larger than `limit` stays, -1: what is smaller
 */
function cut(corners: ArrayLike<number>, axis: 0 | 1, limit: number, side: 1 | -1): number[] {
  const kept: number[] = [];
  const count = corners.length;
  if (count === 0) return kept;
  let beforeX = corners[count - 2]!;
  let beforeY = corners[count - 1]!;
  let wasIn = side * ((axis === 0 ? beforeX : beforeY) - limit) >= 0;
  for (let i = 0; i < count; i += 2) {
    const x = corners[i]!;
    const y = corners[i + 1]!;
    const isIn = side * ((axis === 0 ? x : y) - limit) >= 0;
    if (isIn !== wasIn) {
      if (axis === 0) kept.push(limit, beforeY + ((y - beforeY) * (limit - beforeX)) / (x - beforeX));
      else kept.push(beforeX + ((x - beforeX) * (limit - beforeY)) / (y - beforeY), limit);
    }
    if (isIn) kept.push(x, y);
    [beforeX, beforeY, wasIn] = [x, y, isIn];
  }
  return kept;
}

/** Liang and Barsky: the pieces of a line in a box. */
function cutLine(
  corners: ArrayLike<number>,
  left: number,
  right: number,
  top: number,
  bottom: number,
): number[][] {
  const pieces: number[][] = [];
  let piece: number[] = [];
  for (let i = 2; i < corners.length; i += 2) {
    const [fromX, fromY] = [corners[i - 2]!, corners[i - 1]!];
    const [dx, dy] = [corners[i]! - fromX, corners[i + 1]! - fromY];
    let [start, end] = [0, 1];
    for (const [by, to] of [
      [-dx, fromX - left],
      [dx, right - fromX],
      [-dy, fromY - top],
      [dy, bottom - fromY],
    ] as const) {
      if (by === 0) {
        if (to < 0) end = -1;
      } else if (by < 0) start = Math.max(start, to / by);
      else end = Math.min(end, to / by);
    }
    if (start > end) {
      if (piece.length > 0) pieces.push(piece);
      piece = [];
      continue;
    }
    if (start > 0 || piece.length === 0) {
      if (piece.length > 0) pieces.push(piece);
      piece = [fromX + start * dx, fromY + start * dy];
    }
    piece.push(fromX + end * dx, fromY + end * dy);
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}
