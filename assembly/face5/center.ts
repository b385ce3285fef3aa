// Lattice points of face 5 at resolution 15 -> positions, two at a time. This is the definition of a cell's centre
// inside the box of frame.ts: findCenter() and the batch loop both call it.

import {
  CENTER, HALF_LAT_DEG, HALF_LNG_DEG, MIDDLE_LAT_DEG, MIDDLE_LNG_DEG, ODD_I, ODD_J, UNITS,
} from "./frame";

// On the tangent plane of the face the point is p = c + i·a + j·b; a and b are one step along each axis. With
// ρ² = x² + y²,
//
//   tan(lng − middle) = y / x,  tan(lat − middle) = (z cos m − ρ sin m) / (ρ cos m + z sin m),  m the middle latitude
//
// and within 9° of the middle atan t = t − t³/3 + … + t¹⁷/17 leaves out less than t¹⁹/19 = 4e-17 rad. Farther out the
// series is larger than atan t in size, so a point outside the box is never taken for one inside. Nor is a cell of
// another face: the plane continues beyond the face's border, and that lies east of the box.

/** f64: cos m, sin m, the middle, the halves, then the coefficients of atan t in degrees: ±180 / (π (2n + 1)). */
const CONSTANTS: usize = memory.data<f64>([
  0.9659258262890683, 0.25881904510252074, MIDDLE_LAT_DEG, MIDDLE_LNG_DEG, HALF_LAT_DEG, HALF_LNG_DEG,
  57.29577951308232, -19.09859317102744, 11.459155902616464, -8.18511135901176, 6.366197723675813,
  -5.208707228462029, 4.407367654852487, -3.819718634205488, 3.3703399713577835,
]);
const COS_MIDDLE: usize = CONSTANTS;
const SIN_MIDDLE: usize = CONSTANTS + 8;
const MIDDLE_LAT: usize = CONSTANTS + 16;
const MIDDLE_LNG: usize = CONSTANTS + 24;
const HALF_LAT: usize = CONSTANTS + 32;
const HALF_LNG: usize = CONSTANTS + 40;
const A1: usize = CONSTANTS + 48;
const A3: usize = CONSTANTS + 56;
const A5: usize = CONSTANTS + 64;
const A7: usize = CONSTANTS + 72;
const A9: usize = CONSTANTS + 80;
const A11: usize = CONSTANTS + 88;
const A13: usize = CONSTANTS + 96;
const A15: usize = CONSTANTS + 104;
const A17: usize = CONSTANTS + 112;

/** f64 × 3: one step along i, and along j, of resolution 15 on the tangent plane. */
const STEP_I: usize = memory.data(24);
const STEP_J: usize = memory.data(24);

for (let at = 0; at < 24; at += 8) {
  store<f64>(STEP_I + at, load<f64>(ODD_I + at) / (2 * load<f64>(UNITS, 120)));
  store<f64>(STEP_J + at, load<f64>(ODD_J + at) / (2 * load<f64>(UNITS, 120)));
}

// @ts-ignore: decorator
@inline
function both(constant: usize): v128 {
  return v128.load64_splat(constant);
}

// @ts-ignore: decorator
@inline
function term(x: v128, coefficient: usize, rest: v128): v128 {
  return f64x2.add(f64x2.mul(x, both(coefficient)), rest);
}

/** atan t in degrees, summed in pairs of terms. */
// @ts-ignore: decorator
@inline
function atanDeg(t: v128): v128 {
  const t2 = f64x2.mul(t, t);
  const t4 = f64x2.mul(t2, t2);
  let sum = term(t2, A15, both(A13));
  sum = f64x2.add(f64x2.mul(t4, both(A17)), sum);
  sum = f64x2.add(f64x2.mul(sum, t4), term(t2, A11, both(A9)));
  sum = f64x2.add(f64x2.mul(sum, t4), term(t2, A7, both(A5)));
  sum = f64x2.add(f64x2.mul(sum, t4), term(t2, A3, both(A1)));
  return f64x2.mul(sum, t);
}

/** One coordinate of c + i·a + j·b: `at` is 0, 8 or 16. */
// @ts-ignore: decorator
@inline
function onPlane(at: usize, i: v128, j: v128): v128 {
  return term(j, STEP_J + at, term(i, STEP_I + at, both(CENTER + at)));
}

/**
 * Two lattice points (i32 i, j, i, j) -> (f64 latDeg, f64 lngDeg) twice at `to`. Returns a bit for each point that lies
 * in the box; the position of a point outside is wrong and must not be used.
 */
// @ts-ignore: decorator
@inline
export function storeCenters(cells: v128, to: usize): i32 {
  const i = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(cells, cells, 0, 2, 0, 2));
  const j = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(cells, cells, 1, 3, 1, 3));
  const x = onPlane(0, i, j);
  const y = onPlane(8, i, j);
  const z = onPlane(16, i, j);
  const rho = f64x2.sqrt(f64x2.add(f64x2.mul(x, x), f64x2.mul(y, y)));
  const up = f64x2.sub(f64x2.mul(z, both(COS_MIDDLE)), f64x2.mul(rho, both(SIN_MIDDLE)));
  const out = f64x2.add(f64x2.mul(rho, both(COS_MIDDLE)), f64x2.mul(z, both(SIN_MIDDLE)));
  let lat = atanDeg(f64x2.div(up, out));
  let lng = atanDeg(f64x2.div(y, x));
  const inside = v128.and(f64x2.le(f64x2.abs(lat), both(HALF_LAT)), f64x2.le(f64x2.abs(lng), both(HALF_LNG)));
  lat = f64x2.add(lat, both(MIDDLE_LAT));
  lng = f64x2.add(lng, both(MIDDLE_LNG));
  v128.store(to, v128.shuffle<f64>(lat, lng, 0, 2));
  v128.store(to, v128.shuffle<f64>(lat, lng, 1, 3), 16);
  return i64x2.bitmask(inside);
}

/** Two positions, where a single point is computed. */
const ALONE: usize = memory.data(32, 16);

/** Results of centerInBox(). */
export let centerLatDeg: f64 = 0;
export let centerLngDeg: f64 = 0;

/** One lattice point of resolution 15; false outside the box. */
export function centerInBox(i: i32, j: i32): bool {
  if (storeCenters(i32x4(i, j, i, j), ALONE) != 3) return false;
  centerLatDeg = load<f64>(ALONE);
  centerLngDeg = load<f64>(ALONE, 8);
  return true;
}
