// Points as the map draws them: offsets in Web Mercator from a place in Viet Nam, which 32 bits hold to some
// centimetres there, and the colours of the provinces.

import type { Box } from '../../hexcodes/geometry/cover.js';

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
  /** Points that are not among them because they were too many. */
  readonly left: number;
  /** Around those in a province; undefined where there are none. */
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

/** Points with the texts of their rows, which are read when somebody asks for them. */
export interface DescribedPoints extends PointsToDraw {
  /** @param points indexes. @returns one line for each */
  describe(points: readonly number[]): Promise<readonly string[]>;
}

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

/** The colours of points by their groups; those beyond the last are of the last, which is of no group. */
export const pointColors = ({ colors }: PointsToDraw): readonly Rgb[] =>
  Array.from({ length: 35 }, (_, group) =>
    colors === undefined ? provinceColor(group) : (colors[group] ?? provinceColor(34)),
  );
