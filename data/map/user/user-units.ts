// Turns a user's polygons into exact provinces: lines between polygons of one province go, the rest is arranged,
// and each area asks how often which province covers it. Slivers from rounding are mended in silence; overlaps
// and gaps that a person could see are faults.
import { ADMIN_UNITS } from '#dist/admin-units.js';
import { borders, type LabelledLines, label, taggedLinesOfMap } from '../map.js';
import { OUTSIDE } from '../partition.js';
import { arrange } from '../plane/arrangement.js';
import { findFaces, placesInside } from '../plane/faces.js';
import { LineField, METRES_PER_STEP, ringArea, shrink, type TaggedLines } from '../plane/line-field.js';
import { thin } from '../plane/simplify.js';
import { STEPS_PER_DEGREE } from '../sources.js';
import { BoundaryFileError, type UserPolygon } from './user-file.js';

export interface UserUnits {
  readonly map: LabelledLines;
  /** Holes inside one province, which became part of it. */
  readonly filledHoles: number;
  /** Narrow overlaps and gaps that were given to one side. */
  readonly mendedSlivers: number;
}

/** Overlaps and gaps narrower than this on average come from rounding and careless drawing. */
const SLIVER_M = 5;
const MOST_FAULTS = 20;
/** No gap is farther from its provinces. */
const FAR_M = 300_000;

/**
 * @param toleranceM lines may move by this
 * @param mend overlaps go to the province that table 2.4 has first, gaps to the nearest; no faults
 */
export function unitsOf(polygons: readonly UserPolygon[], toleranceM: number, mend: boolean): UserUnits {
  const given = netLines(polygons);
  const field = new LineField(given.lines, given.tags);
  const arrangement = arrange(given.lines);
  const faces = findFaces(arrangement);
  const { areas, lengths, around } = measure(arrangement, faces.faceOf, faces.count);
  const places = placesInside(arrangement, faces);
  const holders = places.map((place) => (place ? field.holdersOf(place.x, place.y) : []));
  const faults: string[] = [];
  let filledHoles = 0;
  let mendedSlivers = 0;
  const values = places.map((place, face) => {
    const [first, ...more] = holders[face]!;
    if (!place) return OUTSIDE;
    const reversed = field.reversedAt(place.x, place.y);
    if (first !== undefined && more.length === 0 && reversed < 0) return first;
    const neighbours = new Set([...around[face]!].flatMap((other) => holders[other]!));
    const isSliver = areas[face]! / (lengths[face]! / 2) < SLIVER_M;
    const isOpen = around[face]!.has(faces.outer);
    if (isSliver) mendedSlivers++;
    else if (first === undefined && neighbours.size === 1 && !isOpen) filledHoles++;
    else if (!mend) faults.push(faultText(place, areas[face]!, first, more, neighbours, reversed));
    return first ?? field.nearest(place.x, place.y, FAR_M)?.tag ?? OUTSIDE;
  });
  if (faults.length > 0) {
    const rest = faults.length > MOST_FAULTS ? [`… and ${faults.length - MOST_FAULTS} more.`] : [];
    throw new BoundaryFileError([...faults.slice(0, MOST_FAULTS), ...rest]);
  }
  const map = borders(arrangement, faces, values);
  return { map: toleranceM > 0 ? thinned(map, toleranceM) : map, filledHoles, mendedSlivers };
}

function faultText(
  { x, y }: { x: number; y: number },
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

/** Thinned lines of the provinces, arranged again; each area keeps the province that it had before. */
function thinned(map: LabelledLines, toleranceM: number): LabelledLines {
  const { lines, tags } = taggedLinesOfMap(map);
  const before = new LineField(lines, tags);
  const after = thin(map.lines, () => toleranceM / METRES_PER_STEP);
  return label(arrange(after), (x, y) => {
    const holder = before.holderOf(x, y);
    return holder >= 0 ? holder : OUTSIDE;
  });
}

/** The polygons' lines without those that two polygons of one province share. */
function netLines(polygons: readonly UserPolygon[]): TaggedLines {
  /** By the lower end: upper end, province, how often it is on the left less how often on the right, and so on. */
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
      // Outer rings against the clock, holes with it: the province is on the left.
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

/** Square metres, metres of outline and neighbours of each area. */
function measure(
  { xs, ys, edges }: ReturnType<typeof arrange>,
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
    // Below the line; what is below the whole area is taken off by its lower side.
    areas[face]! -= (x1 - x0) * ((heightM(y0) + heightM(y1)) / 2);
    lengths[face]! += Math.hypot((x1 - x0) * cos, (y1 - y0) * METRES_PER_STEP);
    around[face]!.add(faceOf[half ^ 1]!);
  }
  return { areas, lengths, around };
}

/** Height in the equal-area projection of the sphere. */
function heightM(y: number): number {
  const radiusM = (METRES_PER_STEP * STEPS_PER_DEGREE * 180) / Math.PI;
  return radiusM * Math.sin((y / STEPS_PER_DEGREE) * (Math.PI / 180));
}
