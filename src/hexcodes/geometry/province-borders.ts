// Borders of the provinces as GeoJSON, made from the arcs of the boundary index: the coverage of the kernel, with
// islands, sea and zones.
import { type IndexArc, readIndexArcs, readIndexMeta } from '../kernel/index-file.js';

type Position = [lng: number, lat: number];

/** GeoJSON (RFC 7946): outer rings counter-clockwise, each followed by its holes. */
export interface ProvinceGeometry {
  type: 'MultiPolygon';
  coordinates: Position[][][];
}

/** An arc in the direction in which the region is on its left. */
interface Course {
  readonly vertices: Int32Array;
  used: boolean;
}

interface Ring {
  readonly xy: number[];
  /** Twice the area in square micro-degrees, positive counter-clockwise. */
  readonly area: number;
}

/** Geometry of a province that has no unit in the index. */
const EMPTY: ProvinceGeometry = { type: 'MultiPolygon', coordinates: [] };

/** The coverage of provinces and units of one index file. */
export class ProvinceBorders {
  readonly #arcs: readonly IndexArc[];
  readonly #adminOfUnit: readonly number[];

  constructor(indexFile: Uint8Array) {
    this.#arcs = readIndexArcs(indexFile);
    this.#adminOfUnit = readIndexMeta(indexFile).units.map(({ admin }) => admin);
  }

  /** @param admin number of the province: its index in ADMIN_UNITS */
  ofAdmin(admin: number): ProvinceGeometry {
    return this.#of((unit) => this.#adminOfUnit[unit] === admin);
  }

  /** @param id of a unit of the index; in the shipped map a unit is a province from before July 2025 */
  ofUnit(id: number): ProvinceGeometry {
    return this.#of((unit) => unit === id);
  }

  #of(belongs: (unit: number) => boolean): ProvinceGeometry {
    const courses: Course[] = [];
    for (const { left, right, vertices } of this.#arcs)
      if (belongs(left) !== belongs(right))
        courses.push({ vertices: belongs(left) ? vertices : reversed(vertices), used: false });
    if (courses.length === 0) return EMPTY;
    return { type: 'MultiPolygon', coordinates: polygonsOf(ringsOf(courses)) };
  }
}

function reversed(vertices: Int32Array): Int32Array {
  const turned = new Int32Array(vertices.length);
  for (let i = 0; i < vertices.length; i += 2) {
    turned[vertices.length - 2 - i] = vertices[i]!;
    turned[vertices.length - 1 - i] = vertices[i + 1]!;
  }
  return turned;
}

function ringsOf(courses: readonly Course[]): Ring[] {
  const startingAt = new Map<string, Course[]>();
  for (const course of courses) {
    const key = `${course.vertices[0]} ${course.vertices[1]}`;
    const list = startingAt.get(key);
    if (list) list.push(course);
    else startingAt.set(key, [course]);
  }
  const rings: Ring[] = [];
  for (const first of courses) {
    if (first.used) continue;
    const xy: number[] = [];
    for (let course: Course | undefined = first; course !== undefined && !course.used; ) {
      course.used = true;
      // The last vertex is the first of the next course.
      for (let i = 0; i < course.vertices.length - 2; ++i) xy.push(course.vertices[i]!);
      const [x, y] = course.vertices.subarray(-2) as unknown as Position;
      course = nextCourse(
        course,
        (startingAt.get(`${x} ${y}`) ?? []).filter(({ used }) => !used),
      );
    }
    rings.push({ xy, area: twiceAreaOf(xy) });
  }
  return rings;
}

/** The course, among those that leave a vertex, that bounds the same wedge of the region: rings never cross. */
function nextCourse({ vertices }: Course, leaving: readonly Course[]): Course | undefined {
  if (leaving.length < 2) return leaving[0];
  const [fromX, fromY, x, y] = vertices.subarray(-4) as unknown as [number, number, number, number];
  const back = Math.atan2(fromY - y, fromX - x);
  const clockwise = ({ vertices: [, , toX, toY] }: Course): number => {
    const turn = back - Math.atan2(toY! - y, toX! - x);
    return turn <= 0 ? turn + 2 * Math.PI : turn;
  };
  return leaving.reduce((best, course) => (clockwise(course) < clockwise(best) ? course : best));
}

function twiceAreaOf(xy: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < xy.length; i += 2) {
    const next = (i + 2) % xy.length;
    // Relative to the first vertex: the products stay small, so that no digits are lost.
    sum += (xy[i]! - xy[0]!) * (xy[next + 1]! - xy[1]!) - (xy[next]! - xy[0]!) * (xy[i + 1]! - xy[1]!);
  }
  return sum;
}

function polygonsOf(rings: readonly Ring[]): Position[][][] {
  const outer = rings.filter(({ area }) => area > 0).sort((a, b) => a.area - b.area);
  const holesOf = new Map<Ring, Ring[]>(outer.map((ring) => [ring, []]));
  for (const hole of rings) {
    if (hole.area > 0) continue;
    const [x0, y0, x1, y1] = hole.xy as [number, number, number, number];
    // The smallest ring around the hole. The middle of the hole's first edge lies on no other line.
    const around = outer.find(({ xy }) => isInside(xy, (x0 + x1) / 2, (y0 + y1) / 2));
    if (around) holesOf.get(around)!.push(hole);
  }
  return outer.reverse().map((ring) => [ring, ...holesOf.get(ring)!].map(positionsOf));
}

function isInside(xy: readonly number[], x: number, y: number): boolean {
  let inside = false;
  for (let i = 0, j = xy.length - 2; i < xy.length; j = i, i += 2) {
    const [x0, y0, x1, y1] = [xy[j]!, xy[j + 1]!, xy[i]!, xy[i + 1]!];
    if (y0 > y !== y1 > y && x < x0 + ((x1 - x0) * (y - y0)) / (y1 - y0)) inside = !inside;
  }
  return inside;
}

function positionsOf({ xy }: Ring): Position[] {
  const positions: Position[] = [];
  for (let i = 0; i < xy.length; i += 2) positions.push([xy[i]! / 1e6, xy[i + 1]! / 1e6]);
  positions.push([xy[0]! / 1e6, xy[1]! / 1e6]);
  return positions;
}
