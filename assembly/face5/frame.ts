// Icosahedron face 5 as vectors, computed from h3/faces.ts when the module starts. All of the coverage lies on this
// face but the sea east of 116.75° E. The axes are turned about the pole so that the box's middle meridian is y = 0:
// longitudes are counted from it. In the plane's own axes i = (1, 0), j = (-1/2, √3/2); the grids of odd resolutions
// (Class III) are turned by asin(√(3/28)).

import {
  axisAzimuthRad, centerX, centerY, centerZ, eastX, eastY, eastZ, FACE_5, northX, northY, northZ,
} from "../h3/faces";
import { cos, sin } from "../h3/trig";

/** The box of the fast path, all of it on face 5: its middle and half its sides, in degrees, exact in binary. */
export const MIDDLE_LAT_DEG: f64 = 15;
export const MIDDLE_LNG_DEG: f64 = 109.125;
export const HALF_LAT_DEG: f64 = 9;
export const HALF_LNG_DEG: f64 = 7.625;

const RAD: f64 = 0.017453292519943295;
const ROOT_3: f64 = 1.7320508075688772;
/** cos and sin of asin(√(3/28)). */
const COS_TURN: f64 = 0.944911182523068;
const SIN_TURN: f64 = 0.32732683535398854;

/** f64 × 3 each: the face's centre; twice the unit vectors along i and along j, for even and for odd resolutions. */
const FRAME: usize = memory.data(15 * 8, 16);
export const CENTER: usize = FRAME;
export const EVEN_I: usize = FRAME + 24;
export const EVEN_J: usize = FRAME + 48;
export const ODD_I: usize = FRAME + 72;
export const ODD_J: usize = FRAME + 96;

/** Lattice units of a resolution per unit of the plane, (3 + √5) / 2 · √7^resolution: f64 × 16. */
export const UNITS: usize = memory.data(16 * 8);
/**
 * (3 + √5) / 2, rounded to the nearest double. H3's constant in h3/projection.ts ends in 6, as H3 cuts its inverse
 * after fifteen digits. Neither may replace the other: the careful path needs H3's bits, and centres in the box are
 * defined with this one.
 */
const UNITS_0: f64 = 2.618033988749895;
const ROOT_7: f64 = 2.6457513110645907;

/** Stores a vector, turned about the pole into the frame's axes. */
function setVector(vector: usize, x: f64, y: f64, z: f64): void {
  const c = cos(MIDDLE_LNG_DEG * RAD);
  const s = sin(MIDDLE_LNG_DEG * RAD);
  store<f64>(vector, c * x + s * y);
  store<f64>(vector, c * y - s * x, 8);
  store<f64>(vector, z, 16);
}

/** Stores a vector of the tangent plane, given by its components to the north and to the east. */
function setTangent(vector: usize, north: f64, east: f64): void {
  setVector(
    vector,
    north * northX(FACE_5) + east * eastX(FACE_5),
    north * northY(FACE_5) + east * eastY(FACE_5),
    north * northZ(FACE_5) + east * eastZ(FACE_5),
  );
}

/** Stores twice the axes i and j of a grid turned counter-clockwise by an angle; azimuths are clockwise and lose it. */
function setAxes(i: usize, j: usize, cosTurn: f64, sinTurn: f64): void {
  const c = cos(axisAzimuthRad(FACE_5));
  const s = sin(axisAzimuthRad(FACE_5));
  // the direction of i: cosine and sine of its azimuth less the turn
  const north = c * cosTurn + s * sinTurn;
  const east = s * cosTurn - c * sinTurn;
  setTangent(i, 2 * north, 2 * east);
  setTangent(j, ROOT_3 * east - north, -ROOT_3 * north - east);
}

setVector(CENTER, centerX(FACE_5), centerY(FACE_5), centerZ(FACE_5));
setAxes(EVEN_I, EVEN_J, 1, 0);
setAxes(ODD_I, ODD_J, COS_TURN, SIN_TURN);
for (let r = 0, even: f64 = UNITS_0; r < 16; r += 2, even *= 7) {
  store<f64>(UNITS + 8 * r, even);
  store<f64>(UNITS + 8 * r, even * ROOT_7, 8);
}

// Formulas of the fast path are written once: with T = v128 they work on two points at a time, with T = f64 on one, by
// the same operations in the same order, so that both builds give the same bits (docs/kernel-abi.md).

/**
 * A constant in each lane. It is given twice: a vector is loaded from memory, as V8 builds a literal by two
 * instructions at every use; one number is a literal, as a load of a host like Chicory checks its address.
 */
// @ts-ignore: decorator
@inline
export function all<T>(address: usize, value: f64): T {
  if (isVector<T>()) return v128.load64_splat(address);
  else return value;
}

// @ts-ignore: decorator
@inline
export function add<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.add(a, b);
  else return a + b;
}

// @ts-ignore: decorator
@inline
export function sub<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.sub(a, b);
  else return a - b;
}

// @ts-ignore: decorator
@inline
export function mul<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.mul(a, b);
  else return a * b;
}

// @ts-ignore: decorator
@inline
export function div<T>(a: T, b: T): T {
  if (isVector<T>()) return f64x2.div(a, b);
  else return a / b;
}

// @ts-ignore: decorator
@inline
export function root<T>(a: T): T {
  if (isVector<T>()) return f64x2.sqrt(a);
  else return sqrt(a);
}
