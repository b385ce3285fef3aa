// Areas of the map in square kilometres on the WGS84 ellipsoid: of its regions, of their land alone, and of the
// provinces as the units' source has them, to be set beside the official ones.
import { ADMIN_UNITS } from '#dist/admin-units.js';
import type { Definition } from '../coverage.js';
import { joined, type LabelledLines, label, taggedLinesOfMap } from '../map.js';
import { OUTSIDE, type PartitionUnit } from '../partition.js';
import { type Polygon, STEPS_PER_DEGREE } from '../sources.js';
import { arrange } from './arrangement.js';
import { findFaces, placesInside } from './faces.js';
import { LineField, linesOf } from './line-field.js';

/** Resolution 202/2025/QH15 for the 23 merged provinces, the government's figures of 2025 for the other 11. */
export const OFFICIAL_KM2: Readonly<Record<string, number>> = {
  TQ: 13795.5,
  CB: 6700.39,
  LCU: 9068.73,
  LCI: 13256.92,
  TN: 8375.21,
  DB: 9539.93,
  LS: 8310.18,
  SL: 14109.83,
  PT: 9361.38,
  BN: 4718.6,
  QNH: 6207.93,
  HN: 3359.84,
  HP: 3194.72,
  HY: 2514.81,
  NB: 3942.62,
  TH: 11114.71,
  NA: 16486.49,
  HT: 5994.45,
  QT: 12700,
  HUE: 4947.11,
  DNG: 11859.59,
  QNG: 14832.55,
  GL: 21576.53,
  DLK: 18096.4,
  KH: 8555.86,
  LD: 24233.07,
  DN: 12737.18,
  TNH: 8536.44,
  HCM: 6772.59,
  DT: 5938.64,
  AG: 9888.91,
  VL: 6296.2,
  CT: 6360.83,
  CM: 7942.39,
};

/** WGS84. */
const SEMI_MAJOR_KM = 6378.137;
const ECCENTRICITY = 0.081819190842622;

/** Height of a latitude in the equal-area cylindrical projection, in kilometres. */
function equalAreaHeight(y: number): number {
  const s = Math.sin((y / STEPS_PER_DEGREE) * (Math.PI / 180));
  const e = ECCENTRICITY;
  const q = s / (1 - e * e * s * s) - Math.log((1 - e * s) / (1 + e * s)) / (2 * e);
  return (SEMI_MAJOR_KM * (1 - e * e) * q) / 2;
}

const equalAreaWidth = (x: number) => SEMI_MAJOR_KM * (x / STEPS_PER_DEGREE) * (Math.PI / 180);

/** Area to the left of a closed run of lines is half the sum of this over them. */
function swept(lines: Int32Array, i: number): number {
  const width = equalAreaWidth(lines[i + 2]!) - equalAreaWidth(lines[i]!);
  return -width * (equalAreaHeight(lines[i + 1]!) + equalAreaHeight(lines[i + 3]!));
}

/** Area of each unit of labelled lines. */
export function areasOfUnits({ lines, left, right }: LabelledLines, unitCount: number): Float64Array {
  const areas = new Float64Array(unitCount);
  for (let i = 0; i < left.length; i++) {
    const twice = swept(lines, i * 4);
    if (left[i] !== OUTSIDE) areas[left[i]!]! += twice / 2;
    if (right[i] !== OUTSIDE) areas[right[i]!]! -= twice / 2;
  }
  return areas;
}

/** Where two maps give which units to the same places: every pair that occurs, with its area. */
export function pairAreas(
  before: LabelledLines,
  after: LabelledLines,
): { from: number; to: number; km2: number }[] {
  const fields = [before, after].map((map) => {
    const { lines, tags } = taggedLinesOfMap(map);
    return new LineField(lines, tags);
  }) as [LineField, LineField];
  const arrangement = arrange(joined(before.lines, after.lines));
  const faces = findFaces(arrangement);
  const { xs, ys, edges } = arrangement;
  const lines = Int32Array.from([...edges].flatMap((vertex) => [xs[vertex]!, ys[vertex]!]));
  const areas = new Float64Array(faces.count);
  for (let e = 0; e < edges.length / 2; e++) {
    areas[faces.faceOf[2 * e]!]! += swept(lines, e * 4) / 2;
    areas[faces.faceOf[2 * e + 1]!]! -= swept(lines, e * 4) / 2;
  }
  const pairs = new Map<number, { from: number; to: number; km2: number }>();
  placesInside(arrangement, faces).forEach((place, face) => {
    if (!place) return;
    const [from, to] = fields.map((field) => field.holderOf(place.x, place.y)) as [number, number];
    const pair = pairs.get(from * 100 + to) ?? { from, to, km2: 0 };
    pair.km2 += areas[face]!;
    pairs.set(from * 100 + to, pair);
  });
  return [...pairs.values()];
}

/** Area of each unit's land, before sea, zones and strip. */
export function landAreasOfUnits(
  map: LabelledLines,
  definition: Definition,
  unitCount: number,
): Float64Array {
  const lines = joined(map.lines, definition.land);
  return overlayAreas(lines, unitCount, (x, y) =>
    definition.onLand(x, y) ? definition.unitAt(x, y) : OUTSIDE,
  );
}

/** Area of each unit where it is the value of what lines cut the plane into. */
export function overlayAreas(
  lines: Int32Array,
  unitCount: number,
  valueAt: (x: number, y: number) => number,
): Float64Array {
  return areasOfUnits(label(arrange(lines), valueAt), unitCount);
}

/** Area of each unit's polygons as the source has them. */
export function sourceAreasOfUnits(polygons: readonly Polygon[], unitCount: number): Float64Array {
  const areas = new Float64Array(unitCount);
  for (const { unit, ring } of polygons) {
    const lines = linesOf([ring]);
    let twice = 0;
    for (let i = 0; i < lines.length; i += 4) twice += swept(lines, i);
    areas[unit]! += Math.abs(twice) / 2;
  }
  return areas;
}

/** Areas of units added up by province, by place in table 2.4. */
export function byProvince(areas: Float64Array, units: readonly PartitionUnit[]): Float64Array {
  const sums = new Float64Array(ADMIN_UNITS.length);
  units.forEach(({ admin }, unit) => {
    sums[admin]! += areas[unit]!;
  });
  return sums;
}
