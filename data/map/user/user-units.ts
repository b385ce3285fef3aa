// Turns a user's polygons into provinces that meet exactly. Lines between polygons of one province cancel, the rest is
// arranged, and each face is asked which provinces cover it and how often. Slivers that come from rounding are mended;
// overlaps and gaps that a person could see are faults.
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { type Arrangement, arrange } from '../plane/arrangement.js';
import { findFaces, type Point, pointsInside } from '../plane/faces.js';
import { METRES_PER_STEP, ringArea, STEPS_PER_DEGREE, shrink } from '../plane/grid.js';
import { borders, type LabelledLines, label, OUTSIDE, taggedLinesOfMap } from '../plane/labelled-lines.js';
import { LineField } from '../plane/line-field.js';
import { thin } from '../plane/simplify.js';
import type { TaggedLines } from '../plane/tagged-lines.js';
import { BoundaryFileError, type UserPolygon } from './user-file.js';

export interface UserUnits {
  readonly map: LabelledLines;
  /** Holes inside a single province, which became part of it. */
  readonly filledHoles: number;
  /** Narrow overlaps and gaps, which were given to one province. */
  readonly mendedSlivers: number;
}

/** Mean width (area by half the outline) below which an overlap or a gap is a sliver. */
const SLIVER_M = 5;
const MAX_FAULTS = 20;
/** The search for the province nearest to a gap ends here. */
const FAR_M = 300_000;

/**
 * Throws a BoundaryFileError.
 *
 * @param toleranceM lines may move by this much
 * @param mend overlaps go to the province that ADMIN_UNITS has first, gaps to the nearest, and nothing is a fault
 */
export function unitsOf(polygons: readonly UserPolygon[], toleranceM: number, mend: boolean): UserUnits {
  const given = netLines(polygons);
  const field = new LineField(given.lines, given.tags);
  const arrangement = arrange(given.lines);
  const faces = findFaces(arrangement);
  const { areas, lengths, around } = measure(arrangement, faces.faceOf, faces.count);
  const points = pointsInside(arrangement, faces);
  const holders = points.map((point) => (point ? field.holdersOf(point.x, point.y) : []));
  const faults: string[] = [];
  let filledHoles = 0;
  let mendedSlivers = 0;
  const units = points.map((point, face) => {
    const [first, ...more] = holders[face]!;
    if (!point) return OUTSIDE;
    const reversed = field.reversedAt(point.x, point.y);
    if (first !== undefined && more.length === 0 && reversed < 0) return first;
    const neighbours = new Set([...around[face]!].flatMap((other) => holders[other]!));
    const isSliver = areas[face]! / (lengths[face]! / 2) < SLIVER_M;
    const isOpen = around[face]!.has(faces.outer);
    if (isSliver) mendedSlivers++;
    else if (first === undefined && neighbours.size === 1 && !isOpen) filledHoles++;
    else if (!mend) faults.push(faultText(point, areas[face]!, first, more, neighbours, reversed));
    return first ?? field.nearest(point.x, point.y, FAR_M)?.tag ?? OUTSIDE;
  });
  if (faults.length > 0) {
    const rest = faults.length > MAX_FAULTS ? [`… and ${faults.length - MAX_FAULTS} more.`] : [];
    throw new BoundaryFileError([...faults.slice(0, MAX_FAULTS), ...rest]);
  }
  const map = borders(arrangement, faces, units);
  return { map: toleranceM > 0 ? thinned(map, toleranceM) : map, filledHoles, mendedSlivers };
}

function faultText(
  { x, y }: Point,
  areaM2: number,
  first: number | undefined,
  more: readonly number[],
  neighbours: ReadonlySet<number>,
  reversed: number,
): string {
  const codes = (admins: Iterable<number>) =>
    [...new Set(admins)].map((admin) => ADMIN_UNITS[admin]!.code).join(', ');
  const where = `${(y / STEPS_PER_DEGREE).toFixed(5)} N, ${(x / STEPS_PER_DEGREE).toFixed(5)} E, ${(areaM2 / 1e6).toFixed(3)} km²`;
  if (reversed >= 0)
    return `A hole of ${codes([reversed])} lies outside its polygon, or a ring crosses itself, at ${where}.`;
  if (first === undefined) return `A gap between ${codes(neighbours)} at ${where}.`;
  if (more.every((admin) => admin === first)) return `${codes([first])} covers a place twice at ${where}.`;
  return `${codes([first, ...more])} overlap at ${where}.`;
}

/**
 * The map with fewer vertices: lines thinned and arranged again, each face with the province that its inside had
 * before.
 */
function thinned(map: LabelledLines, toleranceM: number): LabelledLines {
  const { lines, tags } = taggedLinesOfMap(map);
  const before = new LineField(lines, tags);
  const after = thin(map.lines, () => toleranceM / METRES_PER_STEP);
  return label(arrange(after), (x, y) => {
    const holder = before.holderOf(x, y);
    return holder >= 0 ? holder : OUTSIDE;
  });
}

/** The lines of the polygons, without those where two polygons of one province meet. */
function netLines(polygons: readonly UserPolygon[]): TaggedLines {
  /**
   * Keyed by the lower end of a line, three numbers for each upper end and province: these two, and how many polygons
   * of the province lie on the left of the line less how many lie on its right.
   */
  const sides = new Map<number, number[]>();
  const add = (x0: number, y0: number, x1: number, y1: number, admin: number) => {
    const upward = y0 < y1 || (y0 === y1 && x0 < x1);
    const from = upward ? x0 * 2 ** 24 + y0 : x1 * 2 ** 24 + y1;
    const to = upward ? x1 * 2 ** 24 + y1 : x0 * 2 ** 24 + y0;
    const turn = upward ? 1 : -1;
    const at = sides.get(from);
    if (!at) {
      sides.set(from, [to, admin, turn]);
      return;
    }
    for (let k = 0; k < at.length; k += 3) {
      if (at[k] === to && at[k + 1] === admin) {
        at[k + 2]! += turn;
        return;
      }
    }
    at.push(to, admin, turn);
  };
  for (const { admin, rings } of polygons) {
    rings.forEach((ring, k) => {
      // Outer rings counter-clockwise, holes clockwise: the province is on the left of both.
      const order = ringArea(ring) > 0 === (k === 0);
      for (let i = 0; i < ring.length; i += 2) {
        const j = (i + 2) % ring.length;
        const [from, to] = order ? [i, j] : [j, i];
        add(ring[from]!, ring[from + 1]!, ring[to]!, ring[to + 1]!, admin);
      }
    });
  }
  const lines: number[] = [];
  const tags: number[] = [];
  for (const [from, at] of sides) {
    for (let k = 0; k < at.length; k += 3) {
      const net = at[k + 2]!;
      const [a, b] = net > 0 ? [from, at[k]!] : [at[k]!, from];
      for (let n = Math.abs(net); n > 0; n--) {
        lines.push(Math.floor(a / 2 ** 24), a % 2 ** 24, Math.floor(b / 2 ** 24), b % 2 ** 24);
        tags.push(at[k + 1]!);
      }
    }
  }
  return { lines: Int32Array.from(lines), tags: Int16Array.from(tags) };
}

/** Measures each face: its area in square metres, the metres of its outline, and the faces around it. */
function measure(
  { xs, ys, edges }: Arrangement,
  faceOf: Int32Array,
  count: number,
): { areas: Float64Array; lengths: Float64Array; around: Set<number>[] } {
  const areas = new Float64Array(count);
  const lengths = new Float64Array(count);
  const around = Array.from({ length: count }, () => new Set<number>());
  for (let half = 0; half < edges.length; half++) {
    const [a, b] = [edges[half]!, edges[half ^ 1]!];
    const [x0, y0, x1, y1] = [xs[a]! * METRES_PER_STEP, ys[a]!, xs[b]! * METRES_PER_STEP, ys[b]!];
    const cos = shrink((y0 + y1) / 2);
    const face = faceOf[half]!;
    // The area between the equator and the half-edge: what lies below the face cancels between its upper and lower
    // sides.
    areas[face]! -= (x1 - x0) * ((heightM(y0) + heightM(y1)) / 2);
    lengths[face]! += Math.hypot((x1 - x0) * cos, (y1 - y0) * METRES_PER_STEP);
    around[face]!.add(faceOf[half ^ 1]!);
  }
  return { areas, lengths, around };
}

/** Metres from the equator in the cylindrical equal-area projection of the sphere. */
function heightM(y: number): number {
  const radiusM = (METRES_PER_STEP * STEPS_PER_DEGREE * 180) / Math.PI;
  return radiusM * Math.sin((y / STEPS_PER_DEGREE) * (Math.PI / 180));
}
