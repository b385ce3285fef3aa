// sin, cos, tan, asin, acos, atan and atan2 in f64, for the ranges that the H3 projection needs, so that every
// machine gives the same bits. Ported from fdlibm 5.3 (s_sin.c, s_cos.c, k_*.c, e_asin.c, e_acos.c, s_atan.c,
// e_atan2.c, e_rem_pio2.c), Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at
// SunSoft, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is
// freely granted, provided that this notice is preserved.

/** Sign-less high word: fdlibm's branches compare it instead of the number. */
// @ts-ignore: decorator
@inline
function highWord(x: f64): u32 {
  return <u32>(reinterpret<u64>(x) >> 32) & 0x7fffffff;
}

/** x with its low word cleared: 21 significant bits, so that its square is exact. */
// @ts-ignore: decorator
@inline
function headOf(x: f64): f64 {
  return reinterpret<f64>(reinterpret<u64>(x) & 0xffffffff00000000);
}

/** sin(x + y) on |x| <= π/4, y the tail of x. */
function sinKernel(x: f64, y: f64): f64 {
  if (highWord(x) < 0x3e400000) return x;
  const z = x * x;
  const v = z * x;
  const r = 8.33333333332248946124e-3 + z * (-1.98412698298579493134e-4 + z * (2.75573137070700676789e-6
    + z * (-2.50507602534068634195e-8 + z * 1.58969099521155010221e-10)));
  const S1: f64 = -1.66666666666666324348e-1;
  return y == 0 ? x + v * (S1 + z * r) : x - ((z * (0.5 * y - v * r) - y) - v * S1);
}

/** cos(x + y) on |x| <= π/4, y the tail of x. */
function cosKernel(x: f64, y: f64): f64 {
  const high = highWord(x);
  if (high < 0x3e400000) return 1;
  const z = x * x;
  const r = z * (4.16666666666666019037e-2 + z * (-1.38888888888741095749e-3 + z * (2.48015872894767294178e-5
    + z * (-2.75573143513906633035e-7 + z * (2.08757232129817482790e-9 + z * -1.13596475577881948265e-11)))));
  if (high < 0x3fd33333) return 1.0 - (0.5 * z - (z * r - x * y));
  // about x / 4, so that 1 - quarter is exact
  const quarter = high > 0x3fe90000 ? 0.28125 : reinterpret<f64>(<u64>(high - 0x00200000) << 32);
  const half = 0.5 * z - quarter;
  return (1.0 - quarter) - (half - (z * r - x * y));
}

/** The reduced argument of reduce(): head and tail. */
let reduced: f64 = 0;
let reducedTail: f64 = 0;

/** Brings |x| <= 2¹⁹·π/2 to [-π/4, π/4] (π/2 in three parts of 33 bits); returns the quadrant. */
function reduce(x: f64): i32 {
  let t = abs(x);
  const n = <i32>(t * 6.36619772367581382433e-1 + 0.5);
  const f = <f64>n;
  let r = t - f * 1.57079632673412561417;
  let w = f * 6.07710050650619224932e-11;
  const exponent = highWord(x) >> 20;
  let y = r - w;
  if (<i32>(exponent - (highWord(y) >> 20)) > 16) {
    t = r;
    w = f * 6.07710050630396597660e-11;
    r = t - w;
    w = f * 2.02226624879595063154e-21 - ((t - r) - w);
    y = r - w;
    if (<i32>(exponent - (highWord(y) >> 20)) > 49) {
      t = r;
      w = f * 2.02226624871116645580e-21;
      r = t - w;
      w = f * 8.47842766036889956997e-32 - ((t - r) - w);
      y = r - w;
    }
  }
  const tail = (r - y) - w;
  if (x < 0) {
    reduced = -y;
    reducedTail = -tail;
    return -n & 3;
  }
  reduced = y;
  reducedTail = tail;
  return n & 3;
}

/** Sine of x radians, |x| <= 2¹⁹·π/2. */
export function sin(x: f64): f64 {
  if (highWord(x) <= 0x3fe921fb) return sinKernel(x, 0);
  switch (reduce(x)) {
    case 0: return sinKernel(reduced, reducedTail);
    case 1: return cosKernel(reduced, reducedTail);
    case 2: return -sinKernel(reduced, reducedTail);
    default: return -cosKernel(reduced, reducedTail);
  }
}

/** Cosine of x radians, |x| <= 2¹⁹·π/2. */
export function cos(x: f64): f64 {
  if (highWord(x) <= 0x3fe921fb) return cosKernel(x, 0);
  switch (reduce(x)) {
    case 0: return cosKernel(reduced, reducedTail);
    case 1: return -sinKernel(reduced, reducedTail);
    case 2: return -cosKernel(reduced, reducedTail);
    default: return sinKernel(reduced, reducedTail);
  }
}

/** Tangent of x radians, |x| < 0.6744; a point is at most 0.6524 rad (37.38°) from its face's centre. */
export function tan(x: f64): f64 {
  assert(abs(x) < 0.6744);
  if (highWord(x) < 0x3e300000) return x;
  const z = x * x;
  const w = z * z;
  const r = 1.33333333333201242699e-1 + w * (2.18694882948595424599e-2 + w * (3.59207910759131235356e-3
    + w * (5.88041240820264096874e-4 + w * (7.81794442939557092300e-5 + w * -1.85586374855275456654e-5))));
  const v = z * (5.39682539762260521377e-2 + w * (8.86323982359930005737e-3 + w * (1.45620945432529025516e-3
    + w * (2.46463134818469906812e-4 + w * (7.14072491382608190305e-5 + w * 2.59073051863633712884e-5)))));
  const s = z * x;
  return x + (z * (s * (r + v)) + 3.33333333333334091986e-1 * s);
}

/** (asin(x) - x) / x³ as a rational function of x². */
function asinRatio(t: f64): f64 {
  const p = t * (1.66666666666666657415e-1 + t * (-3.25565818622400915405e-1 + t * (2.01212532134862925881e-1
    + t * (-4.00555345006794114027e-2 + t * (7.91534994289814532176e-4 + t * 3.47933107596021167570e-5)))));
  const q = 1.0 + t * (-2.40339491173441421878 + t * (2.02094576023350569471 + t * (-6.88283971605453293030e-1
    + t * 7.70381505559019352791e-2)));
  return p / q;
}

/** Arc cosine in radians, 0.5 < x <= 1. */
export function acos(x: f64): f64 {
  assert(x > 0.5 && x <= 1);
  if (x >= 1) return 0;
  const z = (1.0 - x) * 0.5;
  const s = sqrt(z);
  const head = headOf(s);
  const c = (z - head * head) / (s + head);
  const w = asinRatio(z) * s + c;
  return 2.0 * (head + w);
}

/** Arc sine in radians, |x| < 0.975. */
export function asin(x: f64): f64 {
  assert(abs(x) < 0.975);
  const high = highWord(x);
  if (high < 0x3fe00000) return high < 0x3e400000 ? x : x + x * asinRatio(x * x);
  let t = (1.0 - abs(x)) * 0.5;
  const r = asinRatio(t);
  const s = sqrt(t);
  const head = headOf(s);
  const c = (t - head * head) / (s + head);
  const p = 2.0 * s * r - (6.12323399573676603587e-17 - 2.0 * c);
  const QUARTER_PI: f64 = 7.85398163397448278999e-1;
  const q = QUARTER_PI - 2.0 * head;
  t = QUARTER_PI - (p - q);
  return x > 0 ? t : -t;
}

/** Arc tangent in radians, x finite and not negative. */
export function atan(x: f64): f64 {
  assert(x >= 0);
  const high = highWord(x);
  let base: f64 = 0;
  let baseTail: f64 = 0;
  if (high >= 0x44100000) return 1.57079632679489655800 + 6.12323399573676603587e-17;
  if (high < 0x3e200000) return x;
  if (high >= 0x3fdc0000) {
    if (high < 0x3fe60000) {
      base = 4.63647609000806093515e-1;
      baseTail = 2.26987774529616870924e-17;
      x = (2.0 * x - 1.0) / (2.0 + x);
    } else if (high < 0x3ff30000) {
      base = 7.85398163397448278999e-1;
      baseTail = 3.06161699786838301793e-17;
      x = (x - 1.0) / (x + 1.0);
    } else if (high < 0x40038000) {
      base = 9.82793723247329054082e-1;
      baseTail = 1.39033110312309984516e-17;
      x = (x - 1.5) / (1.0 + 1.5 * x);
    } else {
      base = 1.57079632679489655800;
      baseTail = 6.12323399573676603587e-17;
      x = -1.0 / x;
    }
  }
  const z = x * x;
  const w = z * z;
  const odd = z * (3.33333333333329318027e-1 + w * (1.42857142725034663711e-1 + w * (9.09088713343650656196e-2
    + w * (6.66107313738753120669e-2 + w * (4.97687799461593236017e-2 + w * 1.62858201153657823623e-2)))));
  const even = w * (-1.99999999998764832476e-1 + w * (-1.11111104054623557880e-1 + w * (-7.69187620504482999495e-2
    + w * (-5.83357013379057348645e-2 + w * -3.65315727442169155270e-2))));
  if (base == 0) return x - x * (odd + even);
  return base - ((x * (odd + even) - baseTail) - x);
}

/** The angle of (x, y) in radians, -π to π; not both 0. */
export function atan2(y: f64, x: f64): f64 {
  const PI: f64 = 3.1415926535897931160;
  const PI_TAIL: f64 = 1.2246467991473531772e-16;
  if (y == 0) return x >= 0 ? y : y < 0 || reinterpret<i64>(y) < 0 ? -PI : PI;
  let z: f64;
  const gap = (<i32>highWord(y) - <i32>highWord(x)) >> 20;
  if (x == 0 || gap > 60) {
    z = 1.57079632679489655800;
    return y < 0 ? -z : z;
  }
  z = x < 0 && gap < -60 ? 0 : atan(abs(y / x));
  if (x > 0) return y < 0 ? -z : z;
  return y < 0 ? (z - PI_TAIL) - PI : PI - (z - PI_TAIL);
}
