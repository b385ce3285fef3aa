// How far a point is from the nearest border between two provinces, a second time: every line of the file is asked, and
// the distance is that of two points of the WGS84 ellipsoid in space. At 5 km the chord is 0.13 mm shorter than the
// arc.

import { Hexcodes, type Kernel } from '#hexcodes';
import { openWorld } from '../open-world.js';

export const FARTHEST_M = 5000;

const NO_ADMIN = 255;
const OUTSIDE_UNIT = 63;

const EQUATOR_M = 6_378_137;
const ECCENTRICITY_2 = 0.006_694_379_990_141_317;
const RAD = Math.PI / 180;
/**
 * Lines that the plane of the point finds this much farther than the nearest are not asked: it errs by less than 3 m.
 */
const PLANE_MARGIN_M = 20;
const STEPS = 60;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

interface Nearest {
  readonly metres: number;
  /** Admin numbers on either side of the nearest line, and of every other one that is less than a metre farther. */
  readonly sides: readonly number[];
}

/** A point of the ellipsoid in space, metres. */
function inSpace(latDeg: number, lngDeg: number): readonly [x: number, y: number, z: number] {
  const [lat, lng] = [latDeg * RAD, lngDeg * RAD];
  const sine = Math.sin(lat);
  const radius = EQUATOR_M / Math.sqrt(1 - ECCENTRICITY_2 * sine * sine);
  return [
    radius * Math.cos(lat) * Math.cos(lng),
    radius * Math.cos(lat) * Math.sin(lng),
    radius * (1 - ECCENTRICITY_2) * sine,
  ];
}

export class BorderPeer {
  /** lng0, lat0, lng1, lat1 of each line in degrees, and its sides. */
  readonly lines: Float64Array;
  readonly #sides: Uint8Array;

  constructor(file: Uint8Array) {
    const { arcs, meta } = Hexcodes.from({ ...openWorld(), index: file }).kernel;
    const adminOf = (unit: number): number => (unit === OUTSIDE_UNIT ? NO_ADMIN : meta!.units[unit]!.admin);
    const lines: number[] = [];
    const sides: number[] = [];
    for (const { left, right, vertices } of arcs) {
      const [a, b] = [adminOf(left), adminOf(right)];
      if (a === b || a === NO_ADMIN || b === NO_ADMIN) continue;
      for (let i = 2; i < vertices.length; i += 2) {
        lines.push(...vertices.subarray(i - 2, i + 2));
        sides.push(a, b);
      }
    }
    this.lines = Float64Array.from(lines, (micro) => micro / 1e6);
    this.#sides = Uint8Array.from(sides);
  }

  /** The nearest border; null beyond `limitM`. */
  nearest(latDeg: number, lngDeg: number, limitM = FARTHEST_M): Nearest | null {
    const scaleY = 111_000;
    const scaleX = EQUATOR_M * RAD * Math.cos(latDeg * RAD);
    const { lines } = this;
    const reach = ((limitM + 100) / scaleY) * 1.01;
    const found: [line: number, planeM: number][] = [];
    let least = limitM + 100;
    for (let i = 0; i < lines.length; i += 4) {
      const lat0 = lines[i + 1]! - latDeg;
      const lat1 = lines[i + 3]! - latDeg;
      if ((lat0 > reach && lat1 > reach) || (lat0 < -reach && lat1 < -reach)) continue;
      const x = (lines[i]! - lngDeg) * scaleX;
      const y = lat0 * scaleY;
      const dx = (lines[i + 2]! - lines[i]!) * scaleX;
      const dy = (lat1 - lat0) * scaleY;
      const t = Math.max(0, Math.min(1, -(x * dx + y * dy) / (dx * dx + dy * dy)));
      const planeM = Math.hypot(x + t * dx, y + t * dy);
      if (planeM > least * 1.005 + PLANE_MARGIN_M) continue;
      least = Math.min(least, planeM);
      found.push([i, planeM]);
    }
    const measured = found
      .filter(([, planeM]) => planeM <= least * 1.005 + PLANE_MARGIN_M)
      .map(([line]) => [line, this.#metres(line, latDeg, lngDeg)] as const);
    const metres = Math.min(...measured.map(([, each]) => each));
    if (!(metres <= limitM)) return null;
    const sides = measured.flatMap(([line, each]) =>
      each < metres + 1 ? [...this.#sides.subarray(line / 2, line / 2 + 2)] : [],
    );
    return { metres, sides: [...new Set(sides)] };
  }

  /** From a point to a line, which is straight in degrees, by golden section. */
  #metres(line: number, latDeg: number, lngDeg: number): number {
    const [lng0, lat0, lng1, lat1] = this.lines.subarray(line, line + 4) as unknown as [
      number,
      number,
      number,
      number,
    ];
    const [x, y, z] = inSpace(latDeg, lngDeg);
    const at = (t: number): number => {
      const [u, v, w] = inSpace(lat0 + t * (lat1 - lat0), lng0 + t * (lng1 - lng0));
      return Math.hypot(u - x, v - y, w - z);
    };
    let [from, to] = [0, 1];
    let [a, b] = [1 - GOLDEN, GOLDEN];
    let [fa, fb] = [at(a), at(b)];
    for (let step = 0; step < STEPS; step++) {
      if (fa < fb) {
        [to, b, fb] = [b, a, fa];
        a = to - GOLDEN * (to - from);
        fa = at(a);
      } else {
        [from, a, fa] = [a, b, fb];
        b = from + GOLDEN * (to - from);
        fb = at(b);
      }
    }
    return Math.min(at(0), at(1), fa, fb);
  }
}

// The kernel's border_m and neighbour at random points against the peer that asks every line.

/** Answers of the kernel where there is no border, and no province. */
const NO_BORDER = 65_535;

const METRES_PER_DEGREE = 111_195;

interface BorderCheck {
  readonly points: number;
  /** Points with a border within 5 km. */
  readonly near: number;
  /** The largest difference, metres; the answer is a whole number, so half a metre of it is rounding. */
  readonly worstM: number;
  /** Sentences for points that are off by more than a metre, or have another neighbour. */
  readonly wrong: readonly string[];
}

/**
 * A position: anywhere in the box of the map's land, or so far from a random border as `random` has it, up to 300 m or
 * 7 km.
 */
function drawPosition(
  { lines }: BorderPeer,
  random: () => number,
): readonly [latDeg: number, lngDeg: number] {
  const kind = random();
  if (kind < 0.3) return [8 + random() * 16, 102 + random() * 8];
  const line = 4 * Math.floor((random() * lines.length) / 4);
  const t = random();
  const width = (kind < 0.6 ? 300 : 7000) / METRES_PER_DEGREE;
  const lat = lines[line + 1]! + t * (lines[line + 3]! - lines[line + 1]!);
  const lng = lines[line]! + t * (lines[line + 2]! - lines[line]!);
  return [lat + (2 * random() - 1) * width, lng + (2 * random() - 1) * width];
}

/** Why the kernel's answer for a position differs from the peer's; undefined where it does not. */
export function borderFault(
  { exports }: Kernel,
  peer: BorderPeer,
  latDeg: number,
  lngDeg: number,
): { fault?: string; offM: number; isNear: boolean } {
  const seen = exports.borderOf(latDeg, lngDeg);
  const wanted = peer.nearest(latDeg, lngDeg, FARTHEST_M + 1);
  const at = `${latDeg}, ${lngDeg}`;
  if (wanted === null || seen === NO_BORDER) {
    // Beyond the box of all lines the kernel looks for nothing.
    const isAway = exports.regionOf(latDeg, lngDeg) === NO_ADMIN;
    const isRight = seen === NO_BORDER && (wanted === null || isAway || wanted.metres > FARTHEST_M - 1);
    const fault = `${at}: ${seen} m, not ${wanted?.metres ?? 'beyond 5 km'}`;
    return { ...(isRight ? {} : { fault }), offM: 0, isNear: false };
  }
  const offM = Math.abs(seen - wanted.metres);
  if (offM > 1) return { fault: `${at}: ${seen} m, not ${wanted.metres}`, offM, isNear: true };
  const own = exports.regionOf(latDeg, lngDeg);
  const neighbour = exports.neighbourOf(latDeg, lngDeg);
  const isSide = wanted.sides.includes(own) ? wanted.sides.includes(neighbour) && neighbour !== own : true;
  if (!isSide)
    return { fault: `${at}: neighbour ${neighbour} of ${own}, not of ${wanted.sides}`, offM, isNear: true };
  return { offM, isNear: true };
}

export function checkBorders(
  kernel: Kernel,
  file: Uint8Array,
  points: number,
  random: () => number,
): BorderCheck {
  const peer = new BorderPeer(file);
  const wrong: string[] = [];
  let near = 0;
  let worstM = 0;
  for (let n = 0; n < points; n++) {
    const { fault, offM, isNear } = borderFault(kernel, peer, ...drawPosition(peer, random));
    if (fault !== undefined) wrong.push(fault);
    near += Number(isNear);
    worstM = Math.max(worstM, offM);
  }
  return { points, near, worstM, wrong };
}
