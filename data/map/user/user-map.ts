// Makes a map from a user's boundaries, with sea, zones and land strip as in the shipped map, and reports how the two
// differ.
import { readFileSync } from 'node:fs';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { decodeReach, readIndexArcs, readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { OFFICIAL_KM2 } from '../area-table.js';
import { checkPartition } from '../check-partition.js';
import { define, unitNamed, type Zone } from '../coverage.js';
import { drawMap, toPartition } from '../draw-map.js';
import { sortLand } from '../neighbourhood.js';
import { FORMER_PROVINCES, type Partition } from '../partition.js';
import { areasOfUnits, pairAreas } from '../plane/areas.js';
import { METRES_PER_STEP, ringArea, STEPS_PER_DEGREE, shrink, VERTEX_STEP } from '../plane/grid.js';
import { joined, type LabelledLines, OUTSIDE, taggedLinesOfMap } from '../plane/labelled-lines.js';
import { LineField } from '../plane/line-field.js';
import { linesOf, type TaggedRing, taggedLinesOf } from '../plane/tagged-lines.js';
import { isBeyondReach, positionText, REACH_FILE } from '../reach.js';
import { INDEX_FILE, OSM_NOTICE } from '../shipped-map.js';
import { readLand } from '../sources.js';
import { BoundaryFileError, readUserFile, type UserPolygon } from './user-file.js';
import { unitsOf } from './user-units.js';

export interface UserMapOptions {
  readonly path: string;
  readonly codeProperty: string;
  readonly toleranceM: number;
  readonly mend: boolean;
  readonly notice: string | undefined;
  readonly name: string;
  readonly date: string;
}

export interface UserMap {
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
