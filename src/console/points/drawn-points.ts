// Points as the map draws them: offsets in Web Mercator from a place in Viet Nam, which 32 bits hold to some
// centimetres there, and the colours of the provinces.

import type { Box } from '../../hexcodes/geometry/cells.js';

export type Rgb = readonly [red: number, green: number, blue: number];

export interface PointsToDraw {
  /** x, y, x, … from ANCHOR; 1 is the circumference of the Earth, y grows to the south. */
  readonly offsets: Float32Array<ArrayBuffer>;
  /** Admin numbers; 255 of a position in no province. With colours of their own: the indexes of these. */
  readonly groups: Uint8Array<ArrayBuffer>;
  /** Latitude, longitude, latitude, … in degrees: offsets are good for pixels, these for cells. */
  readonly positions: Float64Array<ArrayBuffer>;
  /** The row of each in its file, or the number of its vehicle, from 0. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** Colours instead of those of provinces, 34 at most. */
  readonly colors?: readonly Rgb[];
  /** Points left out because there were too many. */
  readonly left: number;
  /** Box around the points in a province; undefined if there are none. */
  readonly box: Box | undefined;
}

/** Hexagons with points, in arrays that go from thread to thread without a copy. */
export interface Counted {
  readonly resolution: number;
  /** H3 indexes. */
  readonly cells: BigUint64Array<ArrayBuffer>;
  /** The number of points of each. */
  readonly points: Uint32Array<ArrayBuffer>;
  /** The least number of each class, from 1. */
  readonly levels: readonly number[];
  /** The class of each hexagon, an index of `levels`. */
  readonly classes: Uint8Array<ArrayBuffer>;
  /** Corners of all: x, y, x, … from ANCHOR, as points are drawn. */
  readonly corners: Float32Array<ArrayBuffer>;
  /** Corners until the end of each hexagon. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** Points with the texts of their rows, which are read on demand. */
export interface DescribedPoints extends PointsToDraw {
  /** @param points indexes. @returns one line for each */
  describe(points: readonly number[]): Promise<readonly string[]>;
}

/** Memory that goes with the points to another thread. */
export const buffersOf = ({ offsets, groups, positions, rows }: PointsToDraw): ArrayBuffer[] =>
  [offsets, groups, positions, rows].map(({ buffer }) => buffer);

export const mercatorX = (lngDeg: number): number => (lngDeg + 180) / 360;
export const mercatorY = (latDeg: number): number =>
  (1 - Math.asinh(Math.tan((latDeg * Math.PI) / 180)) / Math.PI) / 2;

export const ANCHOR = { x: mercatorX(107), y: mercatorY(16) };

/** The circle of hues, cut by the golden angle: provinces with neighbouring numbers look unlike. */
const GOLDEN_ANGLE_DEG = 137.508;

/** The colour of a province as red, green and blue, 0 to 255; grey where there is none. */
export function provinceColor(admin: number): Rgb {
  if (admin > 33) return [110, 110, 110];
  const hue = (admin * GOLDEN_ANGLE_DEG) % 360;
  const lightness = admin % 2 === 0 ? 0.42 : 0.52;
  const part = (n: number): number => {
    const k = (n + hue / 30) % 12;
    const span = 0.62 * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - span * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** The colours of points by group; groups beyond the last colour have the last, which belongs to no group. */
export const pointColors = ({ colors }: PointsToDraw): readonly Rgb[] =>
  Array.from({ length: 35 }, (_, group) =>
    colors === undefined ? provinceColor(group) : (colors[group] ?? provinceColor(34)),
  );

// Positions as the map draws them, collected in a worker: rows of a file while it is converted, vehicles of a fleet.

type Bytes = Uint8Array<ArrayBuffer>;

/** Most points that are drawn: 58 MB. */
const MAX_POINTS = 2_000_000;
const FIRST_POINTS = 65_536;
/** Stands for a position in no province. */
export const NOWHERE = 255;
/** MapLibre draws nothing beyond. */
const MAX_LAT_DEG = 85;

export class PointList {
  #offsets = new Float32Array(2 * FIRST_POINTS);
  #admins = new Uint8Array(FIRST_POINTS);
  #positions = new Float64Array(2 * FIRST_POINTS);
  #rows = new Uint32Array(FIRST_POINTS);
  /** Zones of the points, where there are zones. */
  #zones = new Uint8Array();
  #count = 0;
  #left = 0;
  /** West, south, east, north. */
  readonly #box: [number, number, number, number] = [180, 90, -180, -90];

  /** @param row of the file, or number of the vehicle, from 0 */
  add(latDeg: number, lngDeg: number, admin: number, row: number, zone?: number): void {
    if (!(Math.abs(latDeg) <= MAX_LAT_DEG && Math.abs(lngDeg) <= 180)) return;
    if (this.#count === MAX_POINTS) {
      this.#left++;
      return;
    }
    if (this.#count === this.#admins.length) this.#grow();
    this.#offsets[2 * this.#count] = mercatorX(lngDeg) - ANCHOR.x;
    this.#offsets[2 * this.#count + 1] = mercatorY(latDeg) - ANCHOR.y;
    this.#positions[2 * this.#count] = latDeg;
    this.#positions[2 * this.#count + 1] = lngDeg;
    this.#rows[this.#count] = row;
    if (zone !== undefined) {
      if (this.#zones.length < this.#admins.length) this.#zones = grown(this.#zones, this.#admins.length);
      this.#zones[this.#count] = zone;
    }
    this.#admins[this.#count++] = admin;
    if (admin !== NOWHERE) this.#widen(latDeg, lngDeg);
  }

  /** Zones of the points so far; none where there are no zones. */
  takeZones(): Bytes {
    return this.#zones.slice(0, this.#count);
  }

  /** All points so far, in buffers of their own. */
  take(): PointsToDraw {
    const [west, south, east, north] = this.#box;
    return {
      offsets: this.#offsets.slice(0, 2 * this.#count),
      groups: this.#admins.slice(0, this.#count),
      positions: this.#positions.slice(0, 2 * this.#count),
      rows: this.#rows.slice(0, this.#count),
      left: this.#left,
      box: west > east ? undefined : { west, south, east, north },
    };
  }

  #widen(latDeg: number, lngDeg: number): void {
    const box = this.#box;
    if (lngDeg < box[0]) box[0] = lngDeg;
    if (latDeg < box[1]) box[1] = latDeg;
    if (lngDeg > box[2]) box[2] = lngDeg;
    if (latDeg > box[3]) box[3] = latDeg;
  }

  #grow(): void {
    this.#offsets = grown(this.#offsets, 2 * this.#offsets.length);
    this.#positions = grown(this.#positions, 2 * this.#positions.length);
    this.#rows = grown(this.#rows, 2 * this.#rows.length);
    this.#admins = grown(this.#admins, 2 * this.#admins.length);
  }
}

function grown<T extends Bytes | Uint32Array | Float32Array | Float64Array>(numbers: T, length: number): T {
  const made = new (numbers.constructor as new (length: number) => T)(length);
  made.set(numbers);
  return made;
}
