// From a definition to the partition that the index is written from: lines of the units, lines that the
// definition itself draws (strip, sea, zones, the middle between units), arranged; each area then asks the
// definition at a place well inside it, and lines with the same unit on both sides go.

import { type Definition, STRIP_M } from './coverage.js';
import { OUTSIDE, type Partition, VERTEX_STEP } from './partition.js';
import { type Arrangement, arrange } from './plane/arrangement.js';
import { BLOCK_RADIUS, contour } from './plane/contour.js';
import { type Faces, findFaces, placesInside } from './plane/faces.js';
import { METRES_PER_STEP, type TaggedLines } from './plane/line-field.js';
import { thin } from './plane/simplify.js';
import { STEPS_PER_DEGREE } from './sources.js';

/** Degrees; holds everything that can belong to a unit. */
const BOX = { west: 101.6, south: 6.4, east: 118.4, north: 23.8 };

/** A drawn line may move by this part of its distance to land and unit lines, within these metres. */
const TOLERANCE = { part: 0.035, leastM: 6, mostM: 80 };

/** Drawn lines go on this far inside the units, so that they cross the units' own ends: over a square. */
const DEPTH_M = 120;

export interface LabelledLines {
  /** x0, y0, x1, y1 in steps. */
  readonly lines: Int32Array;
  readonly left: Uint8Array;
  readonly right: Uint8Array;
}

export function drawMap(definition: Definition, unitLines: Int32Array): LabelledLines {
  const box = {
    west: BOX.west * STEPS_PER_DEGREE,
    south: BOX.south * STEPS_PER_DEGREE,
    east: BOX.east * STEPS_PER_DEGREE,
    north: BOX.north * STEPS_PER_DEGREE,
  };
  // Inside a unit's own polygon the unit lines say everything, except where the map ends there.
  const drawn = contour(
    box,
    definition.unitAt,
    (x, y, unit) => unit !== OUTSIDE && definition.deepInside(x, y, DEPTH_M),
    // Land borders fold back on themselves: pockets of another country open by less than two strips are islands.
    (x, y) => definition.atLandBorder(x, y, BLOCK_RADIUS * METRES_PER_STEP + 2 * STRIP_M),
  );
  const thinned = thin(drawn, (x, y) => {
    const farM = TOLERANCE.mostM / TOLERANCE.part;
    const metres = TOLERANCE.part * definition.clearanceM(x, y, farM);
    return Math.max(TOLERANCE.leastM, metres) / METRES_PER_STEP;
  });
  return label(arrange(joined(unitLines, thinned)), definition.unitAt);
}

/** Asks each area's value and keeps the lines between different ones; runs of straight lines become one. */
export function label(arrangement: Arrangement, valueAt: (x: number, y: number) => number): LabelledLines {
  const faces = findFaces(arrangement);
  const values = placesInside(arrangement, faces).map((place) =>
    place ? valueAt(place.x, place.y) : OUTSIDE,
  );
  return borders(arrangement, faces, values);
}

/** The lines between areas of different value. */
export function borders(
  { xs, ys, edges }: Arrangement,
  { faceOf }: Faces,
  values: readonly number[],
): LabelledLines {
  const unitOf = (half: number) => values[faceOf[half]!]!;
  const kept: number[] = [];
  const degree = new Int32Array(xs.length);
  const spokes = new Int32Array(xs.length * 2);
  for (let half = 0; half < edges.length; half++) {
    if (unitOf(half) === unitOf(half ^ 1)) continue;
    if (half % 2 === 0) kept.push(half);
    const vertex = edges[half]!;
    if (degree[vertex]! < 2) spokes[vertex * 2 + degree[vertex]!] = half;
    degree[vertex]!++;
  }
  /** The half-edge that goes straight on behind this one's end, or -1. */
  const onward = (half: number): number => {
    const vertex = edges[half ^ 1]!;
    if (degree[vertex] !== 2) return -1;
    const other = spokes[vertex * 2] === (half ^ 1) ? spokes[vertex * 2 + 1]! : spokes[vertex * 2]!;
    const from = edges[half]!;
    const to = edges[other ^ 1]!;
    const dx = xs[vertex]! - xs[from]!;
    const dy = ys[vertex]! - ys[from]!;
    const ex = xs[to]! - xs[vertex]!;
    const ey = ys[to]! - ys[vertex]!;
    return dx * ey === dy * ex && dx * ex + dy * ey > 0 ? other : -1;
  };
  const lines: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  const done = new Uint8Array(edges.length / 2);
  for (const half of kept) {
    if (done[half >> 1]) continue;
    let back = half ^ 1;
    done[half >> 1] = 1;
    for (let next = onward(back); next >= 0; next = onward(back)) {
      back = next;
      done[back >> 1] = 1;
    }
    let ahead = half;
    for (let next = onward(ahead); next >= 0; next = onward(ahead)) {
      ahead = next;
      done[ahead >> 1] = 1;
    }
    const from = edges[back ^ 1]!;
    const to = edges[ahead ^ 1]!;
    lines.push(xs[from]!, ys[from]!, xs[to]!, ys[to]!);
    left.push(unitOf(half));
    right.push(unitOf(half ^ 1));
  }
  return { lines: Int32Array.from(lines), left: Uint8Array.from(left), right: Uint8Array.from(right) };
}

/** Labelled lines as the interface of the index wants them. */
export function toPartition(
  { lines, left, right }: LabelledLines,
  about: Pick<Partition, 'units' | 'notice' | 'source'>,
): Partition {
  return { ...about, segments: lines.map((steps) => steps * VERTEX_STEP), left, right };
}

export function joined(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** The lines with each unit on the left, as a field wants them. */
export function taggedLinesOfMap({ lines, left, right }: LabelledLines): TaggedLines {
  const walked: number[] = [];
  const tags: number[] = [];
  for (let i = 0; i < left.length; i++) {
    const [x0, y0, x1, y1] = [lines[i * 4]!, lines[i * 4 + 1]!, lines[i * 4 + 2]!, lines[i * 4 + 3]!];
    if (left[i] !== OUTSIDE) {
      walked.push(x0, y0, x1, y1);
      tags.push(left[i]!);
    }
    if (right[i] !== OUTSIDE) {
      walked.push(x1, y1, x0, y0);
      tags.push(right[i]!);
    }
  }
  return { lines: Int32Array.from(walked), tags: Int16Array.from(tags) };
}
