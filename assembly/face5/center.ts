// Lattice points of face 5 at resolution 15 -> positions, two at a time, or one without SIMD. This is the definition of
// a cell's centre inside the box of frame.ts: findCenter() and the batch loop both call it.

import {
  add, all, CENTER, div, HALF_LAT_DEG, HALF_LNG_DEG, MIDDLE_LAT_DEG, MIDDLE_LNG_DEG, mul, ODD_I, ODD_J, root, sub,
  UNITS,
} from "./frame";

// On the tangent plane of the face the point is p = c + i·a + j·b; a and b are one step along each axis. With
// ρ² = x² + y²,
//
//   tan(lng − middle) = y / x,  tan(lat − middle) = (z cos m − ρ sin m) / (ρ cos m + z sin m),  m the middle latitude
//
// and within 9° of the middle atan t = t − t³/3 + … + t¹⁷/17 leaves out less than t¹⁹/19 = 4e-17 rad. Farther out the
// series is larger than atan t in size, so a point outside the box is never taken for one inside. Nor is a cell of
// another face: the plane continues beyond the face's border, and that lies east of the box.

const cosMiddle: f64 = 0.9659258262890683;
const sinMiddle: f64 = 0.25881904510252074;
// The coefficients of atan t in degrees: ±180 / (π (2n + 1)).
const a1: f64 = 57.29577951308232;
const a3: f64 = -19.09859317102744;
const a5: f64 = 11.459155902616464;
const a7: f64 = -8.18511135901176;
const a9: f64 = 6.366197723675813;
const a11: f64 = -5.208707228462029;
const a13: f64 = 4.407367654852487;
const a15: f64 = -3.819718634205488;
const a17: f64 = 3.3703399713577835;

/** f64: cos m, sin m, the middle, the halves, then the coefficients. */
const CONSTANTS: usize = memory.data<f64>([
  cosMiddle, sinMiddle, MIDDLE_LAT_DEG, MIDDLE_LNG_DEG, HALF_LAT_DEG, HALF_LNG_DEG,
  a1, a3, a5, a7, a9, a11, a13, a15, a17,
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

/** atan t in degrees, summed in pairs of terms. */
// @ts-ignore: decorator
@inline
function atanDeg<T>(t: T): T {
  const t2 = mul<T>(t, t);
  const t4 = mul<T>(t2, t2);
  let sum = add<T>(mul<T>(t2, all<T>(A15, a15)), all<T>(A13, a13));
  sum = add<T>(mul<T>(t4, all<T>(A17, a17)), sum);
  sum = add<T>(mul<T>(sum, t4), add<T>(mul<T>(t2, all<T>(A11, a11)), all<T>(A9, a9)));
  sum = add<T>(mul<T>(sum, t4), add<T>(mul<T>(t2, all<T>(A7, a7)), all<T>(A5, a5)));
  sum = add<T>(mul<T>(sum, t4), add<T>(mul<T>(t2, all<T>(A3, a3)), all<T>(A1, a1)));
  return mul<T>(sum, t);
}

/** The f64 at an address, in each lane. */
// @ts-ignore: decorator
@inline
function at<T>(address: usize): T {
  if (isVector<T>()) return v128.load64_splat(address);
  else return load<f64>(address);
}

/** One coordinate of c + i·a + j·b: `axis` is 0, 8 or 16. */
// @ts-ignore: decorator
@inline
function onPlane<T>(axis: usize, i: T, j: T): T {
  return add<T>(mul<T>(j, at<T>(STEP_J + axis)), add<T>(mul<T>(i, at<T>(STEP_I + axis)), at<T>(CENTER + axis)));
}

/** Degrees north of the middle. */
// @ts-ignore: decorator
@inline
function latDegOf<T>(x: T, y: T, z: T): T {
  const rho = root<T>(add<T>(mul<T>(x, x), mul<T>(y, y)));
  const up = sub<T>(mul<T>(z, all<T>(COS_MIDDLE, cosMiddle)), mul<T>(rho, all<T>(SIN_MIDDLE, sinMiddle)));
  const out = add<T>(mul<T>(rho, all<T>(COS_MIDDLE, cosMiddle)), mul<T>(z, all<T>(SIN_MIDDLE, sinMiddle)));
  return atanDeg<T>(div<T>(up, out));
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
  const x = onPlane<v128>(0, i, j);
  const y = onPlane<v128>(8, i, j);
  const z = onPlane<v128>(16, i, j);
  let lat = latDegOf<v128>(x, y, z);
  let lng = atanDeg<v128>(div<v128>(y, x));
  const inside = v128.and(
    f64x2.le(f64x2.abs(lat), at<v128>(HALF_LAT)), f64x2.le(f64x2.abs(lng), at<v128>(HALF_LNG)),
  );
  lat = add<v128>(lat, at<v128>(MIDDLE_LAT));
  lng = add<v128>(lng, at<v128>(MIDDLE_LNG));
  v128.store(to, v128.shuffle<f64>(lat, lng, 0, 2));
  v128.store(to, v128.shuffle<f64>(lat, lng, 1, 3), 16);
  return i64x2.bitmask(inside);
}

/** One lattice point -> (f64 latDeg, f64 lngDeg) at `to`; false where it lies outside the box. */
export function storeCenter(cellI: i32, cellJ: i32, to: usize): bool {
  const i = <f64>cellI;
  const j = <f64>cellJ;
  const x = onPlane<f64>(0, i, j);
  const y = onPlane<f64>(8, i, j);
  const z = onPlane<f64>(16, i, j);
  const lat = latDegOf<f64>(x, y, z);
  const lng = atanDeg<f64>(y / x);
  store<f64>(to, lat + MIDDLE_LAT_DEG);
  store<f64>(to, lng + MIDDLE_LNG_DEG, 8);
  return abs(lat) <= HALF_LAT_DEG && abs(lng) <= HALF_LNG_DEG;
}

/** Two positions, where a single point is computed. */
const ALONE: usize = memory.data(32, 16);

/** Results of centerInBox(). */
export let centerLatDeg: f64 = 0;
export let centerLngDeg: f64 = 0;

/** One lattice point of resolution 15; false outside the box. */
export function centerInBox(i: i32, j: i32): bool {
  if (ASC_FEATURE_SIMD ? storeCenters(i32x4(i, j, i, j), ALONE) != 3 : !storeCenter(i, j, ALONE)) return false;
  centerLatDeg = load<f64>(ALONE);
  centerLngDeg = load<f64>(ALONE, 8);
  return true;
}
