// Makes a map from a user's boundaries, with sea, zones and land strip as in the shipped map, and reports how the two
// differ.
import { readFileSync } from 'node:fs';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { decodeReach, readIndexArcs, readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { OFFICIAL_KM2 } from '../area-table.js';
import { define, sortLand, unitNamed, type Zone } from '../coverage.js';
import { drawMap, INDEX_FILE, OSM_NOTICE, toPartition } from '../draw-map.js';
import { checkPartition, FORMER_PROVINCES, type Partition } from '../partition.js';
import { type Arrangement, arrange, findFaces, type Point, pointsInside } from '../plane/arrangement.js';
import { METRES_PER_STEP, ringArea, STEPS_PER_DEGREE, shrink, VERTEX_STEP } from '../plane/grid.js';
import {
  areasOfUnits,
  borders,
  joined,
  type LabelledLines,
  label,
  OUTSIDE,
  pairAreas,
  taggedLinesOfMap,
} from '../plane/labelled-lines.js';
import { LineField, linesOf, type TaggedLines, type TaggedRing, taggedLinesOf } from '../plane/line-field.js';
import { thin } from '../plane/simplify.js';
import { isBeyondReach, positionText, REACH_FILE } from '../reach.js';
import { readLand } from '../sources.js';
import { BoundaryFileError, readUserFile, type UserPolygon } from './user-file.js';

// Turns a user's polygons into provinces that meet exactly. Lines between polygons of one province cancel, the rest is
// arranged, and each face is asked which provinces cover it and how often. Slivers that come from rounding are mended;
// overlaps and gaps that a person could see are faults.

interface UserUnits {
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

interface UserMapOptions {
  readonly path: string;
  readonly codeProperty: string;
  readonly toleranceM: number;
  readonly mend: boolean;
  readonly notice: string | undefined;
  readonly name: string;
  readonly date: string;
}

interface UserMap {
  readonly partition: Partition;
  /** Many lines of text, for people. */
  readonly report: string;
  /** Parts of the file that are not in the map, a sentence each. */
  readonly warnings: readonly string[];
}

/** An island of the sources with a vertex nearer than this to the file's land is taken for land of the file. */
const SAME_ISLAND_M = 500;

const PROVINCES = ADMIN_UNITS.map(({ name }, admin) => ({ name, admin }));

export function buildUserMap(options: UserMapOptions): UserMap {
  const file = readUserFile(options.path, options.codeProperty);
  const notice = options.notice ?? file.notice;
  if (notice === undefined)
    throw new Error('Say whose boundaries these are: --notice TEXT, or a "notice" beside the "features".');
  const { within, warnings } = withinReach(file.polygons);
  const own = unitsOf(within, options.toleranceM, options.mend);
  const provinces = taggedLinesOfMap(own.map);
  const sorted = sortLand(readLand());
  const zoneUnitOf = (zone: Zone) => FORMER_PROVINCES[unitNamed(zone.unitName)]!.admin;
  const shipped = shippedProvinces();
  const shippedField = fieldOf(shipped);
  const islands = missing(
    [
      ...sorted.zoneIslets.map(({ zone, ring }) => ({ tag: zoneUnitOf(zone), ring })),
      ...sorted.own.map((ring) => ({ tag: shippedField.holderOf(ring[0]!, ring[1]!), ring })),
    ],
    new LineField(provinces.lines, provinces.tags),
  );
  const isletLines = taggedLinesOf(islands);
  const lines = joined(provinces.lines, isletLines.lines);
  const tags = Int16Array.from([...provinces.tags, ...isletLines.tags]);
  const definition = define(
    {
      units: { lines, tags },
      land: joined(outlinesOf(own.map), isletLines.lines),
      foreign: linesOf(sorted.foreign),
    },
    zoneUnitOf,
  );
  const map = drawMap(definition, lines);
  const partition = toPartition(map, {
    units: PROVINCES,
    notice: `${notice}; sea, zones and land of others: ${OSM_NOTICE}`,
    source: { name: options.name, date: options.date },
  });
  checkPartition(partition);
  const head = [
    `${options.path}: ${file.featureCount} features, ${file.vertexCount} vertices`,
    `${own.filledHoles} holes inside one province filled, ${own.mendedSlivers} slivers mended`,
    `${islands.length} islands that the file lacks taken from the shipped map's sources`,
    `${map.left.length} lines; notice: ${partition.notice}`,
  ];
  return { partition, report: [...head, '', ...compared(own.map, map, shipped)].join('\n'), warnings };
}

/** The polygons without those that lie wholly where no hexcode may name their province. */
function withinReach(polygons: readonly UserPolygon[]): { within: UserPolygon[]; warnings: string[] } {
  const rows = decodeReach(readFileSync(REACH_FILE));
  const within: UserPolygon[] = [];
  const warnings: string[] = [];
  for (const polygon of polygons) {
    const { name, admin, rings } = polygon;
    const [outer] = rings;
    if (!isBeyondReach(outer!, admin, rows)) within.push(polygon);
    else {
      const km2 = (Math.abs(ringArea(outer!)) / 2) * shrink(outer![1]!) * (METRES_PER_STEP / 1000) ** 2;
      const at = positionText(outer![1]! / STEPS_PER_DEGREE, outer![0]! / STEPS_PER_DEGREE);
      warnings.push(
        `${name}: ${km2.toFixed(2)} km² at ${at} left out: no hexcode may name ${ADMIN_UNITS[admin]!.code} there, as the reach is frozen`,
      );
    }
  }
  const left = new Set(within.map(({ admin }) => admin));
  const lost = ADMIN_UNITS.filter((_, admin) => !left.has(admin)).map(({ code }) => code);
  if (lost.length > 0) throw new BoundaryFileError([...warnings, `Nothing is left of ${lost.join(', ')}.`]);
  return { within, warnings };
}

/** The islands of the sources with no vertex on or near the file's land. */
function missing(islands: readonly TaggedRing[], field: LineField): TaggedRing[] {
  return islands.filter(({ ring }) =>
    ring.every(
      (x, i) =>
        i % 2 === 1 ||
        (field.holderOf(x, ring[i + 1]!) < 0 && !field.nearest(x, ring[i + 1]!, SAME_ISLAND_M)),
    ),
  );
}

function fieldOf(map: LabelledLines): LineField {
  const { lines, tags } = taggedLinesOfMap(map);
  return new LineField(lines, tags);
}

/** The lines with a province on one side only, directed so that it is on their left. */
function outlinesOf({ lines, left, right }: LabelledLines): Int32Array {
  const kept: number[] = [];
  for (let i = 0; i < left.length; i++) {
    const [x0, y0, x1, y1] = [lines[i * 4]!, lines[i * 4 + 1]!, lines[i * 4 + 2]!, lines[i * 4 + 3]!];
    if (right[i] === OUTSIDE) kept.push(x0, y0, x1, y1);
    else if (left[i] === OUTSIDE) kept.push(x1, y1, x0, y0);
  }
  return Int32Array.from(kept);
}

/** The shipped map, without the lines between former provinces of one province. */
function shippedProvinces(): LabelledLines {
  const index = readFileSync(INDEX_FILE);
  const { units } = readIndexMeta(index);
  const lines: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  const adminOf = (unit: number) => units[unit]?.admin ?? OUTSIDE;
  for (const arc of readIndexArcs(index)) {
    if (adminOf(arc.left) === adminOf(arc.right)) continue;
    for (let i = 0; i + 3 < arc.vertices.length; i += 2) {
      lines.push(...arc.vertices.subarray(i, i + 4).map((micro) => micro / VERTEX_STEP));
      left.push(adminOf(arc.left));
      right.push(adminOf(arc.right));
    }
  }
  return { lines: Int32Array.from(lines), left: Uint8Array.from(left), right: Uint8Array.from(right) };
}

function compared(own: LabelledLines, map: LabelledLines, shipped: LabelledLines): string[] {
  const count = ADMIN_UNITS.length;
  const [land, now, before] = [own, map, shipped].map((lines) => areasOfUnits(lines, count)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const number = (km2: number, digits = 1) => km2.toFixed(digits).padStart(11);
  const rows = ADMIN_UNITS.map(
    ({ code }, admin) =>
      code.padEnd(5) +
      number(land[admin]!) +
      number(OFFICIAL_KM2[code]!) +
      number(now[admin]!) +
      number(before[admin]!) +
      number(now[admin]! - before[admin]!),
  );
  const code = (admin: number) => ADMIN_UNITS[admin]?.code ?? 'outside';
  const moved = pairAreas(shipped, map)
    .filter(({ from, to, km2 }) => from !== to && km2 >= 0.05)
    .sort((a, b) => b.km2 - a.km2);
  return [
    'square kilometres; covered is land, sea, zones and strip',
    'code    your land   official    covered    shipped     change',
    ...rows,
    '',
    `moved, of 0.05 km² and more: ${moved.reduce((sum, { km2 }) => sum + km2, 0).toFixed(1)} km²`,
    ...moved.map(({ from, to, km2 }) => `${code(from).padEnd(8)}→ ${code(to).padEnd(8)}${number(km2, 2)}`),
  ];
}
