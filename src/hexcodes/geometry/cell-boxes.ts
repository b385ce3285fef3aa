// Boxes of many cells, equal to those of cellBox in codebook.ts. Inside a face of the icosahedron all cells of one
// resolution have the same shape in the plane of the face, so its corners are added to the centre. Where rounding
// might give another box, cellBox computes it.

import { cellToLatLng, getPentagons } from 'h3-js';
import { cellBox, cellRing } from './codebook.js';

const RADIANS = Math.PI / 180;
/** Fraction of a degree that cellBox rounds to. */
const PARTS = 1e7;
const CORNERS = 6;
/** Fraction of a part by which the two computations may differ: a hundred times the largest difference measured. */
const UNSURE_PARTS = 1e-4;
/**
 * Edges of cells are arcs: in the tropics they bulge beyond their ends by less than this times the square of their
 * angle.
 */
const BULGE = 0.07;

type Vector = readonly [x: number, y: number, z: number];

interface Face {
  readonly center: Vector;
  /** Unit vectors inwards from the three sides. */
  readonly inwards: readonly Vector[];
  /** Shapes of the cells by resolution; null until needed. */
  readonly shapes: (Shape | null)[];
}

interface Shape {
  /** Offsets of the six corners from the centre, in the plane that touches the sphere at the centre of the face. */
  readonly corners: Float64Array;
  /** A cell whose centre is farther than this from the sides lies inside. */
  readonly margin: number;
  readonly unsureParts: number;
}

export class CellBoxes {
  #faces: readonly Face[] | null = null;
  #face: Face | null = null;
  #high = -1;
  #low = -1;
  readonly #box = new Float64Array(4);

  /**
   * The box of a cell: west, south, east, north, in degrees. The array is reused by the next call.
   * @param high upper half of its H3 index
   * @param low lower half
   * @param latDeg of its centre
   * @param lngDeg of its centre
   */
  boxOf(high: number, low: number, latDeg: number, lngDeg: number, resolution: number): Float64Array {
    if (high === this.#high && low === this.#low) return this.#box;
    this.#high = high;
    this.#low = low;
    if (!this.#fill(high, low, latDeg * RADIANS, lngDeg * RADIANS, resolution))
      this.#box.set(cellBox(textOf(high, low)));
    return this.#box;
  }

  #fill(high: number, low: number, lat: number, lng: number, resolution: number): boolean {
    const cosLat = Math.cos(lat);
    const x = cosLat * Math.cos(lng);
    const y = cosLat * Math.sin(lng);
    const z = Math.sin(lat);
    const face = this.#faceOf(x, y, z);
    face.shapes[resolution] ??= shapeOf(face, high, low, x, y, z);
    const shape = face.shapes[resolution];
    if (shape === null || shape === undefined) return false;
    const { corners, margin, unsureParts } = shape;
    for (const side of face.inwards) if (side[0] * x + side[1] * y + side[2] * z < margin) return false;
    const { center } = face;
    const scale = 1 / (center[0] * x + center[1] * y + center[2] * z);
    const [px, py, pz] = [x * scale, y * scale, z * scale];
    let [minLat, maxLat, minLng, maxLng] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < 3 * CORNERS; at += 3) {
      const qx = px + corners[at]!;
      const qy = py + corners[at + 1]!;
      const tangent = (pz + corners[at + 2]!) / Math.sqrt(qx * qx + qy * qy);
      if (tangent < minLat) minLat = tangent;
      if (tangent > maxLat) maxLat = tangent;
      // The tangent of the angle between both meridians.
      const turn = (px * qy - py * qx) / (px * qx + py * qy);
      if (turn < minLng) minLng = turn;
      if (turn > maxLng) maxLng = turn;
    }
    const box = this.#box;
    return (
      rounded(box, 0, (lng + Math.atan(minLng)) / RADIANS, Math.floor, unsureParts) &&
      rounded(box, 1, Math.atan(minLat) / RADIANS, Math.floor, unsureParts) &&
      rounded(box, 2, (lng + Math.atan(maxLng)) / RADIANS, Math.ceil, unsureParts) &&
      rounded(box, 3, Math.atan(maxLat) / RADIANS, Math.ceil, unsureParts)
    );
  }

  #faceOf(x: number, y: number, z: number): Face {
    const last = this.#face;
    if (last?.inwards.every((side) => side[0] * x + side[1] * y + side[2] * z > 0)) return last;
    this.#faces ??= facesOf();
    const dot = ({ center }: Face): number => center[0] * x + center[1] * y + center[2] * z;
    this.#face = this.#faces.reduce((best, each) => (dot(each) > dot(best) ? each : best));
    return this.#face;
  }
}

/** Whether the rounding of a side of the box is certain; if so, sets the side. */
function rounded(
  box: Float64Array,
  side: number,
  deg: number,
  round: (parts: number) => number,
  unsure: number,
): boolean {
  const parts = deg * PARTS;
  if (Math.abs(parts - Math.round(parts)) < unsure) return false;
  box[side] = round(parts) / PARTS;
  return true;
}

function textOf(high: number, low: number): string {
  return high.toString(16) + low.toString(16).padStart(8, '0');
}

/** The faces: each lies between three neighbours among the twelve pentagons. */
function facesOf(): Face[] {
  const points = getPentagons(0).map((cell) => {
    const [lat, lng] = cellToLatLng(cell);
    return vectorOf(lat, lng);
  });
  const areNear = (a: Vector, b: Vector): boolean => dotOf(a, b) > 0.4 && dotOf(a, b) < 0.5;
  const faces: Face[] = [];
  for (const [i, a] of points.entries())
    for (const [j, b] of points.entries())
      for (const [k, c] of points.entries()) {
        if (i >= j || j >= k || !areNear(a, b) || !areNear(b, c) || !areNear(a, c)) continue;
        const center = unitOf([a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]]);
        const inwards = [crossOf(a, b), crossOf(b, c), crossOf(c, a)].map((side) => {
          const unit = unitOf(side);
          return dotOf(unit, center) > 0 ? unit : ([-unit[0], -unit[1], -unit[2]] as const);
        });
        faces.push({ center, inwards, shapes: [] });
      }
  return faces;
}

const NO_SHAPE: Shape = { corners: new Float64Array(3 * CORNERS), margin: Infinity, unsureParts: 1 };

/** The shape of the cells of one resolution, measured at one of them; null for a cell that leaves its face. */
function shapeOf(
  { center, inwards }: Face,
  high: number,
  low: number,
  x: number,
  y: number,
  z: number,
): Shape | null {
  const ring = cellRing(textOf(high, low));
  if (ring.length !== CORNERS + 1) return null;
  const vectors = ring.slice(1).map(([lng, lat]) => vectorOf(lat, lng));
  if (vectors.some((vector) => inwards.some((side) => dotOf(side, vector) <= 0))) return null;
  const scale = 1 / dotOf(center, [x, y, z]);
  const corners = new Float64Array(3 * CORNERS);
  let farthest = 0;
  for (const [k, vector] of vectors.entries()) {
    const own = 1 / dotOf(center, vector);
    const corner = [
      vector[0] * own - x * scale,
      vector[1] * own - y * scale,
      vector[2] * own - z * scale,
    ] as const;
    corners.set(corner, 3 * k);
    farthest = Math.max(farthest, Math.hypot(...corner));
  }
  const unsureParts = UNSURE_PARTS + (BULGE * farthest * farthest * PARTS) / RADIANS;
  return unsureParts > 0.25 ? NO_SHAPE : { corners, margin: 2 * farthest, unsureParts };
}

function vectorOf(latDeg: number, lngDeg: number): Vector {
  const [lat, lng] = [latDeg * RADIANS, lngDeg * RADIANS];
  return [Math.cos(lat) * Math.cos(lng), Math.cos(lat) * Math.sin(lng), Math.sin(lat)];
}

function dotOf(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function crossOf(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unitOf([x, y, z]: Vector): Vector {
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
}
