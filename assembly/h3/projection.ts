// Between a position in degrees and a point of a face's hexagon plane: H3's gnomonic projection in H3's own
// order of operations (_vec3ToHex2d, _hex2dToVec3 of faceijk.c, H3 4.5, Copyright Uber Technologies, Inc.,
// Apache License 2.0). Plane coordinates: unit = distance of neighbouring cell centres of the resolution,
// x along the i-axis, y counter-clockwise from it.

import { acos, asin, atan, atan2, cos, sin, tan } from "./trig";
import { axisAzimuthRad, centerX, centerY, centerZ, eastX, eastY, eastZ, FACE_10, FACE_5, northX, northY, northZ } from "./faces";

const PI: f64 = 3.141592653589793;
const TWO_PI: f64 = 6.283185307179586;

/** √7: each resolution is finer by it. */
const SQRT7: f64 = 2.6457513110645907;
/** 1 / √7, as H3 rounds it. */
const RSQRT7: f64 = 0.37796447300922722721;
/** asin(√(3/28)): the turn between Class II (even) and Class III (odd) grids, radians. */
const CLASS_III_TURN_RAD: f64 = 0.3334731722518321;
/**
 * Unit of resolution 0 in the gnomonic plane, 2 / (3 + √5), and its inverse, both as H3 has them: the unit is cut after
 * fifteen digits, so the inverse ends in 6. The nearest double to (3 + √5) / 2 ends in 5 and is in face5/frame.ts; with
 * that one here, cells could differ from H3's.
 */
const UNIT_0: f64 = 0.38196601125010500003;
const INVERSE_UNIT_0: f64 = 2.618033988749896;
/** A point nearer than this to the face's centre is the centre. */
const EPSILON: f64 = 1e-16;

/** Results of toPlane(). */
export let planeX: f64 = 0;
export let planeY: f64 = 0;
export let planeFace: i32 = 0;
/** Results of toPosition(), degrees. */
export let positionLatDeg: f64 = 0;
export let positionLngDeg: f64 = 0;

/** The angle reduced to [0, 2π) from at most one turn away. */
// @ts-ignore: decorator
@inline
function positiveAngle(rad: f64): f64 {
  const r = rad < 0 ? rad + TWO_PI : rad;
  return rad >= TWO_PI ? r - TWO_PI : r;
}

// @ts-ignore: decorator
@inline
function squareDistance(face: i32, x: f64, y: f64, z: f64): f64 {
  const dx = centerX(face) - x;
  const dy = centerY(face) - y;
  const dz = centerZ(face) - z;
  return dx * dx + dy * dy + dz * dz;
}

/** Sets planeX, planeY and planeFace: the position in the plane of its nearest face, in units of `resolution`. */
export function toPlane(latDeg: f64, lngDeg: f64, resolution: i32): void {
  const latRad = latDeg * PI / 180;
  const lngRad = lngDeg * PI / 180;
  const parallel = cos(latRad);
  const x = cos(lngRad) * parallel;
  const y = sin(lngRad) * parallel;
  const z = sin(latRad);

  let face = FACE_5;
  let square = squareDistance(FACE_5, x, y, z);
  const square10 = squareDistance(FACE_10, x, y, z);
  if (square10 < square) {
    face = FACE_10;
    square = square10;
  }
  planeFace = face;

  // cos r = 1 - 2 sin²(r / 2) = 1 - square / 2
  let r = acos(1.0 - square * 0.5);
  if (r < EPSILON) {
    planeX = 0;
    planeY = 0;
    return;
  }

  // the direction on the tangent plane of the face's centre
  const s = -(x * centerX(face) + y * centerY(face) + z * centerZ(face));
  let tx = x + s * centerX(face);
  let ty = y + s * centerY(face);
  let tz = z + s * centerZ(face);
  const norm = sqrt(tx * tx + ty * ty + tz * tz);
  const inverse = norm > 0 ? 1.0 / norm : 0.0;
  tx *= inverse;
  ty *= inverse;
  tz *= inverse;
  const azimuth = atan2(
    tx * eastX(face) + ty * eastY(face) + tz * eastZ(face),
    tx * northX(face) + ty * northY(face) + tz * northZ(face),
  );
  let theta = positiveAngle(axisAzimuthRad(face) - positiveAngle(azimuth));
  if (resolution & 1) theta = positiveAngle(theta - CLASS_III_TURN_RAD);

  r = tan(r) * INVERSE_UNIT_0;
  for (let i = 0; i < resolution; i++) r *= SQRT7;
  planeX = r * cos(theta);
  planeY = r * sin(theta);
}

/** Sets positionLatDeg and positionLngDeg to a position that was computed elsewhere (face5/center.ts). */
// @ts-ignore: decorator
@inline
export function setPosition(latDeg: f64, lngDeg: f64): void {
  positionLatDeg = latDeg;
  positionLngDeg = lngDeg;
}

/** Sets positionLatDeg and positionLngDeg: the position of (x, y) of a face's plane of `resolution`. */
export function toPosition(face: i32, x: f64, y: f64, resolution: i32): void {
  let px = centerX(face);
  let py = centerY(face);
  let pz = centerZ(face);
  let r = sqrt(x * x + y * y);
  if (r >= EPSILON) {
    let theta = atan2(y, x);
    for (let i = 0; i < resolution; i++) r *= RSQRT7;
    r = atan(r * UNIT_0);
    if (resolution & 1) theta = positiveAngle(theta + CLASS_III_TURN_RAD);
    theta = positiveAngle(axisAzimuthRad(face) - theta);

    const north = cos(theta);
    const east = sin(theta);
    const dx = north * northX(face) + east * eastX(face);
    const dy = north * northY(face) + east * eastY(face);
    const dz = north * northZ(face) + east * eastZ(face);
    const along = cos(r);
    const across = sin(r);
    px = along * px + across * dx;
    py = along * py + across * dy;
    pz = along * pz + across * dz;
    const inverse = 1.0 / sqrt(px * px + py * py + pz * pz);
    px *= inverse;
    py *= inverse;
    pz *= inverse;
  }
  positionLatDeg = asin(pz) * 180 / PI;
  positionLngDeg = atan2(py, px) * 180 / PI;
}
