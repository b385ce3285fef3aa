// Positions -> hexagon lattice of face 5, two at a time, or one without SIMD: the fast path's arithmetic and its
// certain decision.

import { LATTICE, VECTORS } from "../memory";
import {
  add, all, CENTER, div, EVEN_I, EVEN_J, HALF_LAT_DEG, HALF_LNG_DEG, MIDDLE_LAT_DEG, MIDDLE_LNG_DEG, mul, ODD_I, ODD_J,
  sub, UNITS,
} from "./frame";
import { isFine, NOWHERE, NOWHERE_FINE, TO_FINEST } from "./digits";

// In the plane of the face (gnomonic: p / (p·c), c the face centre) a cell is a point of the lattice with axes
// i and j, 120° apart. Twice the projections of a point on i, j and k = -(i + j), in lattice units,
//
//   f1 = 2 i·p / c·p    f2 = 2 j·p / c·p    f3 = -(f1 + f2)
//
// take integer values at cell centres and on cell edges, and a hexagon is |fn - fn(centre)| < 1 for all three;
// so with Fn = floor(fn) the nearest lattice point is i = round((F1 - F3) / 3), j = round((F2 - F3) / 3).
//
// Certainty. The floors are right unless some fn lies within its error of an integer. In the box p·c >= 0.91 and the
// point is 0.09 to 0.43 rad from the face centre, so |fn| <= 0.92 in units of the plane (lattice units / UNITS). Errors
// in those units, u = 2⁻⁵³ = 1.1e-16:
//
//   lng − middle is exact, lat − middle too above 7.5° and else within 1.5e-17 rad
//   the polynomials, minimax up to 9°: cos within 7.2e-14, sin within 1.3e-15; rounding of either 4 u
//   p: x, two such cosines in a product, 1.5e-13; y 1.2e-14; z, with the middle latitude, 2.1e-14; in all    < 1.6e-13
//   a dot product: p's error, the frame's (6 u), three products (3 u); twice that for axes of length 2        < 3.2e-13
//   f1, f2 = quotient with c·p (1.6e-13, × 0.92), / 0.91, two roundings                                       < 5.2e-13
//   f3, their sum: k is an axis of length 2 too, so p's error is no larger in it; the roundings of both       < 5.5e-13
//
// H3's own path (h3/projection.ts) rounds the longitude in radians (7 u in p), takes r = acos(1 − s), which near
// 0.09 rad makes 20 u of it, and its tangent (24 u), an azimuth with three reductions to [0, 2π) (20 u across), and 16
// factors (7 u): 55 u in x and y, so fn within 2.5e-14. Both together: 5.8e-13 × UNITS[15] = 5.7e6 is 3.3e-6 lattice
// units. MARGIN is 2⁻¹⁷ = 7.6e-6 of a unit at every resolution, twice the bound, some micrometres of ground at 15.
// MARGIN leaves 5 points in 100,000, and all outside the box, undecided: the careful path decides them.
// test/oracle/kernel/fast-paths.test.ts attacks this; there 5e-7 would do and 1.2e-7 fails.

const MARGIN: f64 = 1.0 / 131072.0;

/** 2⁵² + 2⁵¹: a sum with it is rounded to the nearest integer, and its low 32 bits are that integer. */
const ROUNDER_VALUE: f64 = 6755399441055744.0;

// Constants lie in memory: V8 builds a vector literal by two instructions in every turn of the loop. The first
// eight are the coefficients of sin x and cos x, x in degrees, by Remez' exchange over x² up to 81.
const s1: f64 = 0.017453292519943156;
const s3: f64 = -8.860961556463048e-7;
const s5: f64 = 1.3496012836760815e-11;
const s7: f64 = -9.781678171174597e-17;
const c0: f64 = 0.9999999999999282;
const c2: f64 = -0.00015230870986499956;
const c4: f64 = 3.866322101126745e-9;
const c6: f64 = -3.922373848017155e-14;
const sinMiddle: f64 = 0.25881904510252074;
const cosMiddle: f64 = 0.9659258262890683;
const halfLatSquare: f64 = HALF_LAT_DEG * HALF_LAT_DEG;
const halfLngSquare: f64 = HALF_LNG_DEG * HALF_LNG_DEG;
const within: f64 = 0.5 - MARGIN;
const third: f64 = 1.0 / 3.0;
const CONSTANTS: usize = memory.data<f64>([
  s1, s3, s5, s7, c0, c2, c4, c6, 1, sinMiddle, cosMiddle, MIDDLE_LAT_DEG, MIDDLE_LNG_DEG, halfLatSquare, halfLngSquare,
  -1.5, ROUNDER_VALUE, within, third,
]);
const S1: usize = CONSTANTS;
const S3: usize = CONSTANTS + 8;
const S5: usize = CONSTANTS + 16;
const S7: usize = CONSTANTS + 24;
const C0: usize = CONSTANTS + 32;
const C2: usize = CONSTANTS + 40;
const C4: usize = CONSTANTS + 48;
const C6: usize = CONSTANTS + 56;
const ONE: usize = CONSTANTS + 64;
const SIN_MIDDLE: usize = CONSTANTS + 72;
const COS_MIDDLE: usize = CONSTANTS + 80;
const MIDDLE_LAT: usize = CONSTANTS + 88;
const MIDDLE_LNG: usize = CONSTANTS + 96;
const HALF_LAT_SQUARE: usize = CONSTANTS + 104;
const HALF_LNG_SQUARE: usize = CONSTANTS + 112;
const MINUS_THREE_HALVES: usize = CONSTANTS + 120;
const ROUNDER: usize = CONSTANTS + 128;
const WITHIN: usize = CONSTANTS + 136;
const THIRD: usize = CONSTANTS + 144;

/**
 * Values of one resolution. AXES: f64 × 3 of each axis. MATRIX: the matrix to the finest resolution as i32x4 × 2, its
 * diagonal and the rest; then twice the point (i, 0) that lies in no cell, for what is undecided.
 */
const AXES: usize = memory.data(48, 16);
const MATRIX: usize = memory.data(48, 16);

// Both polynomials are summed in pairs of terms, which makes the chains of dependent operations shorter.

// @ts-ignore: decorator
@inline
function sinDeg<T>(x: T, x2: T, x4: T): T {
  const low = add<T>(mul<T>(x2, all<T>(S3, s3)), all<T>(S1, s1));
  const high = add<T>(mul<T>(x2, all<T>(S7, s7)), all<T>(S5, s5));
  return mul<T>(add<T>(mul<T>(high, x4), low), x);
}

// @ts-ignore: decorator
@inline
function cosDeg<T>(x2: T, x4: T): T {
  const low = add<T>(mul<T>(x2, all<T>(C2, c2)), all<T>(C0, c0));
  const high = add<T>(mul<T>(x2, all<T>(C6, c6)), all<T>(C4, c4));
  return add<T>(mul<T>(high, x4), low);
}

// @ts-ignore: decorator
@inline
function dot<T>(ax: T, ay: T, az: T, x: T, y: T, z: T): T {
  return add<T>(add<T>(mul<T>(ax, x), mul<T>(ay, y)), mul<T>(az, z));
}

/** The distance of the point from the parallel's axis: x = parallel · cos lng, y = parallel · sin lng. */
// @ts-ignore: decorator
@inline
function parallelOf<T>(sinLat: T, cosLat: T): T {
  return sub<T>(mul<T>(cosLat, all<T>(COS_MIDDLE, cosMiddle)), mul<T>(sinLat, all<T>(SIN_MIDDLE, sinMiddle)));
}

// @ts-ignore: decorator
@inline
function heightOf<T>(sinLat: T, cosLat: T): T {
  return add<T>(mul<T>(cosLat, all<T>(SIN_MIDDLE, sinMiddle)), mul<T>(sinLat, all<T>(COS_MIDDLE, cosMiddle)));
}

// @ts-ignore: decorator
@inline
function both(address: usize): v128 {
  return v128.load64_splat(address);
}

/** The resolution of which AXES and MATRIX are; calls for single points mostly have that of the one before. */
let resolutionInUse: u32 = 255;

function useResolution(resolution: u32): void {
  if (resolution == resolutionInUse) return;
  resolutionInUse = resolution;
  const units = load<f64>(UNITS + (<usize>resolution << 3));
  const i = resolution & 1 ? ODD_I : EVEN_I;
  const j = resolution & 1 ? ODD_J : EVEN_J;
  for (let at: usize = 0; at < 24; at += 8) {
    // half a unit less, so that rounding to the nearest is the floor
    const half = 0.5 * load<f64>(CENTER + at);
    store<f64>(AXES + at, units * load<f64>(i + at) - half);
    store<f64>(AXES + at, units * load<f64>(j + at) - half, 24);
  }
  if (!ASC_FEATURE_SIMD) return;
  const m = v128.load(TO_FINEST + (<usize>resolution << 4));
  v128.store(MATRIX, v128.shuffle<i32>(m, m, 0, 3, 0, 3));
  v128.store(MATRIX, v128.shuffle<i32>(m, m, 1, 2, 1, 2), 16);
  const nowhere = isFine(resolution) ? NOWHERE_FINE : NOWHERE;
  v128.store(MATRIX, i32x4(nowhere, 0, nowhere, 0), 32);
}

/**
 * Points (f64 latDeg, f64 lngDeg) -> LATTICE: (i32 i, i32 j) of the cell's centre descendant at resolution 13 or 15
 * (isFine) on face 5; where undecided, a point under no base cell. Reads one point more where the count is odd, and
 * fills the array up to a multiple of four.
 */
export function toLattice(points: usize, count: u32, resolution: u32): void {
  useResolution(resolution);
  if (!ASC_FEATURE_SIMD) return toLatticeOneByOne(points, count, resolution);
  let lattice = LATTICE;
  // Two loops instead of one: each step waits for the one before, and in short loops the processor has more points at
  // work.
  let vector = VECTORS;
  for (const end = points + (<usize>count << 4); points < end; points += 32, vector += 48) {
    const first = v128.load(points);
    const second = v128.load(points, 16);
    const lat = sub<v128>(v128.shuffle<f64>(first, second, 0, 2), both(MIDDLE_LAT));
    const lng = sub<v128>(v128.shuffle<f64>(first, second, 1, 3), both(MIDDLE_LNG));
    const lat2 = mul<v128>(lat, lat);
    const lng2 = mul<v128>(lng, lng);
    const lat4 = mul<v128>(lat2, lat2);
    const lng4 = mul<v128>(lng2, lng2);
    const sinLat = sinDeg<v128>(lat, lat2, lat4);
    const cosLat = cosDeg<v128>(lat2, lat4);
    const parallel = parallelOf<v128>(sinLat, cosLat);
    const z = heightOf<v128>(sinLat, cosLat);
    // outside the box z becomes NaN, and so does all that follows; NaN and infinity in the input end the same way
    const outside = v128.or(
      f64x2.gt(lat2, both(HALF_LAT_SQUARE)),
      f64x2.gt(lng2, both(HALF_LNG_SQUARE)),
    );
    v128.store(vector, mul<v128>(parallel, cosDeg<v128>(lng2, lng4)));
    v128.store(vector, mul<v128>(parallel, sinDeg<v128>(lng, lng2, lng4)), 16);
    v128.store(vector, v128.or(z, outside), 32);
  }

  if (resolution == 13) {
    for (let at = VECTORS; at < vector; at += 48, lattice += 16) v128.store(lattice, cellsAt(at, true));
  } else {
    for (let at = VECTORS; at < vector; at += 48, lattice += 16) v128.store(lattice, cellsAt(at, false));
  }
  v128.store(lattice, i64x2.splat(0));
}

/**
 * Two points, their x, y and z at `at` → i j i j of their cells at the finest resolution; where undecided, a point of
 * no cell. At resolution 13 a cell is its own descendant, and (0, 0) serves as the point of no cell: it is far from the
 * box.
 */
// @ts-ignore: decorator
@inline
function cellsAt(at: usize, is13: bool): v128 {
  const x = v128.load(at);
  const y = v128.load(at, 16);
  const z = v128.load(at, 32);
  const scale = div<v128>(both(ONE), dot<v128>(both(CENTER), both(CENTER + 8), both(CENTER + 16), x, y, z));
  const h1 = mul<v128>(dot<v128>(both(AXES), both(AXES + 8), both(AXES + 16), x, y, z), scale);
  const h2 = mul<v128>(dot<v128>(both(AXES + 24), both(AXES + 32), both(AXES + 40), x, y, z), scale);
  const h3 = sub<v128>(both(MINUS_THREE_HALVES), add<v128>(h1, h2));

  const floor1 = f64x2.nearest(h1);
  const floor2 = f64x2.nearest(h2);
  const floor3 = f64x2.nearest(h3);
  const off = f64x2.pmax(
    f64x2.pmax(f64x2.abs(f64x2.sub(h1, floor1)), f64x2.abs(f64x2.sub(h2, floor2))),
    f64x2.abs(f64x2.sub(h3, floor3)),
  );
  const certain = f64x2.lt(off, both(WITHIN));

  const rounder = both(ROUNDER);
  const aThird = both(THIRD);
  const iCell = f64x2.add(f64x2.mul(f64x2.sub(floor1, floor3), aThird), rounder);
  const jCell = f64x2.add(f64x2.mul(f64x2.sub(floor2, floor3), aThird), rounder);
  // low words: i j i j of both points
  const cells = v128.shuffle<i32>(iCell, jCell, 0, 4, 2, 6);
  if (is13) return v128.and(cells, certain);
  const finest = i32x4.add(
    i32x4.mul(cells, v128.load(MATRIX)),
    i32x4.mul(v128.shuffle<i32>(cells, cells, 1, 0, 3, 2), v128.load(MATRIX, 16)),
  );
  return v128.bitselect(finest, v128.load(MATRIX, 32), certain);
}

/** toLattice() without vectors; fills the array up to `count`. Values of all points lie in variables. */
function toLatticeOneByOne(points: usize, count: u32, resolution: u32): void {
  const matrix = TO_FINEST + (<usize>resolution << 4);
  const m00 = load<i32>(matrix);
  const m01 = load<i32>(matrix, 4);
  const m10 = load<i32>(matrix, 8);
  const m11 = load<i32>(matrix, 12);
  const nowhere = <u64>(isFine(resolution) ? NOWHERE_FINE : NOWHERE);
  const centerX = load<f64>(CENTER);
  const centerY = load<f64>(CENTER, 8);
  const centerZ = load<f64>(CENTER, 16);
  const iX = load<f64>(AXES);
  const iY = load<f64>(AXES, 8);
  const iZ = load<f64>(AXES, 16);
  const jX = load<f64>(AXES, 24);
  const jY = load<f64>(AXES, 32);
  const jZ = load<f64>(AXES, 40);
  let lattice = LATTICE;
  for (const end = points + (<usize>count << 4); points < end; points += 16, lattice += 8) {
    store<u64>(lattice, nowhere);
    const lat = load<f64>(points) - MIDDLE_LAT_DEG;
    const lng = load<f64>(points, 8) - MIDDLE_LNG_DEG;
    const lat2 = lat * lat;
    const lng2 = lng * lng;
    // false for NaN, too
    if (!(lat2 <= halfLatSquare && lng2 <= halfLngSquare)) continue;
    const lat4 = lat2 * lat2;
    const lng4 = lng2 * lng2;
    const sinLat = sinDeg<f64>(lat, lat2, lat4);
    const cosLat = cosDeg<f64>(lat2, lat4);
    const parallel = parallelOf<f64>(sinLat, cosLat);
    const x = parallel * cosDeg<f64>(lng2, lng4);
    const y = parallel * sinDeg<f64>(lng, lng2, lng4);
    const z = heightOf<f64>(sinLat, cosLat);
    const scale = 1 / dot<f64>(centerX, centerY, centerZ, x, y, z);
    const h1 = dot<f64>(iX, iY, iZ, x, y, z) * scale;
    const h2 = dot<f64>(jX, jY, jZ, x, y, z) * scale;
    const h3 = -1.5 - (h1 + h2);

    const floor1 = nearest(h1);
    const floor2 = nearest(h2);
    const floor3 = nearest(h3);
    if (!(abs(h1 - floor1) < within && abs(h2 - floor2) < within && abs(h3 - floor3) < within)) continue;
    const iCell = <i32>nearest((floor1 - floor3) * third);
    const jCell = <i32>nearest((floor2 - floor3) * third);
    store<u64>(lattice, <u64><u32>(iCell * m00 + jCell * m01) | <u64>(iCell * m10 + jCell * m11) << 32);
  }
}
