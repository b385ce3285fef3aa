// The two icosahedron faces under the kernel's domain (5-25 N, 100-119 E), and the four base cells on them.
// From H3 4.5 (faceijk.c, baseCells.c), Copyright Uber Technologies, Inc., Apache License 2.0: faces 5 and 10,
// which meet along their IJ edges.

/** H3's numbers of the two faces, and our index of them: 0 and 1. */
export const FACE_5: i32 = 0;
export const FACE_10: i32 = 1;

/**
 * A face is f64 × 10: its centre, north and east = north × centre as unit vectors, and the azimuth of the i-axis.
 * North, where azimuths start, is (0, 0, 1) - z·centre, normalised.
 */
const FACE_BYTES: i32 = 80;
const FACES: usize = memory.data<f64>([
  -0.1055498149613921, 0.9794457296411413, 0.1718874610009365,
  0, 0, 0,
  0, 0, 0,
  2.692877706530642877,
  -0.7405621473854481, 0.6673299564565524, 0.0789837646326737,
  0, 0, 0,
  0, 0, 0,
  5.930472956509811562,
]);

// @ts-ignore: decorator
@inline
export function centerX(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES); }
// @ts-ignore: decorator
@inline
export function centerY(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 8); }
// @ts-ignore: decorator
@inline
export function centerZ(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 16); }
// @ts-ignore: decorator
@inline
export function northX(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 24); }
// @ts-ignore: decorator
@inline
export function northY(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 32); }
// @ts-ignore: decorator
@inline
export function northZ(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 40); }
// @ts-ignore: decorator
@inline
export function eastX(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 48); }
// @ts-ignore: decorator
@inline
export function eastY(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 56); }
// @ts-ignore: decorator
@inline
export function eastZ(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 64); }
/** Azimuth in radians from the face's centre to its first vertex: the i-axis of Class II grids. */
// @ts-ignore: decorator
@inline
export function axisAzimuthRad(face: i32): f64 { return load<f64>(FACES + face * FACE_BYTES, 72); }

/** Fills in north and east, in H3's order of operations (_vec3TangentBasis). */
function setTangentBasis(face: i32): void {
  const row = FACES + face * FACE_BYTES;
  const x = centerX(face);
  const y = centerY(face);
  const z = centerZ(face);
  const s = -(0.0 * x + 0.0 * y + 1.0 * z);
  let nx = s * x;
  let ny = s * y;
  let nz = 1.0 + s * z;
  const inverse = 1.0 / sqrt(nx * nx + ny * ny + nz * nz);
  nx *= inverse;
  ny *= inverse;
  nz *= inverse;
  store<f64>(row, nx, 24);
  store<f64>(row, ny, 32);
  store<f64>(row, nz, 40);
  store<f64>(row, ny * z - nz * y, 48);
  store<f64>(row, nz * x - nx * z, 56);
  store<f64>(row, nx * y - ny * x, 64);
}
setTangentBasis(FACE_5);
setTangentBasis(FACE_10);

// Lattice positions of resolution 0 are (i, j) with k = 0. Seen from face 5 (from face 10 the same cell lies at
// (2 - i, 2 - j), turned by 180 degrees):
//
//   base cell   32 at (0, 1)   37 at (1, 2)   50 at (0, 0)   52 at (1, 1)
//
// 32 and 50 have face 5 as their home, whose orientation their digits follow; 37 and 52 have face 10.

/** The base cell at (i, j) of a face, or -1; bit 7 is set where it is at home on the other face. */
export function baseCellAt(face: i32, i: i32, j: i32): i32 {
  if (face == FACE_10) {
    i = 2 - i;
    j = 2 - j;
  }
  let turned: i32;
  let cell: i32;
  if (i == 0 && j == 1) cell = 32;
  else if (i == 0 && j == 0) cell = 50;
  else if (i == 1 && j == 2) cell = 37;
  else if (i == 1 && j == 1) cell = 52;
  else return -1;
  turned = homeOf(cell) == face ? 0 : 128;
  return cell | turned;
}

/** The home face of one of the four base cells. */
// @ts-ignore: decorator
@inline
export function homeOf(baseCell: i32): i32 {
  return baseCell == 32 || baseCell == 50 ? FACE_5 : FACE_10;
}

/** (i, j) of a base cell on its home face, as i << 8 | j, or -1 for a base cell that is not one of the four. */
export function homePosition(baseCell: i32): i32 {
  switch (baseCell) {
    case 32: return 0 << 8 | 1;
    case 37: return 1 << 8 | 0;
    case 50: return 0 << 8 | 0;
    case 52: return 1 << 8 | 1;
    default: return -1;
  }
}
