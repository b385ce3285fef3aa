// The kernel's border_m and neighbour at random points against the peer that asks every line.
import type { Kernel } from '#hexcodes';
import { BorderPeer, FARTHEST_M } from '../peers/border-distance.js';

/** Answers of the kernel where there is no border, and no province. */
const NO_BORDER = 65_535;
const NO_ADMIN = 255;

const METRES_PER_DEGREE = 111_195;

export interface BorderCheck {
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
export function drawPosition(
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
