// State that all parts of the console share: the library, the chosen place, and the map.

import type { Box } from '../hexcodes/geometry/cells.js';
import type { CellFeature } from '../hexcodes/geometry/codebook.js';
import type { Hexcodes } from '../hexcodes/library/hexcodes.js';
import type { Place } from './place/place.js';
import type { Counted, DescribedPoints } from './points/drawn-points.js';
import type { Value } from './shell/value.js';

export type { Box } from '../hexcodes/geometry/cells.js';

/** The smallest box around positions. */
export function boxOf(positions: readonly (readonly [lng: number, lat: number])[]): Box {
  const lngs = positions.map(([lng]) => lng);
  const lats = positions.map(([, lat]) => lat);
  return {
    west: Math.min(...lngs),
    south: Math.min(...lats),
    east: Math.max(...lngs),
    north: Math.max(...lats),
  };
}

/** The smallest box around boxes. */
export const boxOfAll = (boxes: readonly Box[]): Box =>
  boxOf(boxes.flatMap(({ west, south, east, north }) => [[west, south] as const, [east, north] as const]));

/** Hexagons and circles on the map. */
export interface Polygons {
  type: 'FeatureCollection';
  features: {
    type: 'Feature';
    geometry: CellFeature['geometry'];
    properties: { kind: string; code?: string };
  }[];
}

/** Mainland and coast; the archipelagos are in view where the screen is wide enough. */
export const COUNTRY: Box = { west: 101.8, south: 8.2, east: 112, north: 23.5 };

/** The map for other parts of the page; both WebGL and the plain drawing implement it. */
export interface MapView {
  /** The centre of the visible box, in degrees. */
  center(): { lat: number; lng: number };
  /** The visible box. */
  bounds(): Box;
  /** The pixel of a position, from the upper left corner of the map; and the position of a pixel. */
  project(lng: number, lat: number): { readonly x: number; readonly y: number };
  positionAt(x: number, y: number): { readonly lat: number; readonly lng: number };
  /** Calls `listener` each time the map is drawn. */
  onMove(listener: () => void): void;
  /** The resolution of the hexagons that are drawn. */
  gridResolution(): number;
  /** Shows the cell of a place, large enough to be visible. */
  show(place: Place): void;
  showBox(box: Box): void;
  /** Zooms in by a number of levels, each of which doubles the scale; negative ones zoom out. */
  zoomBy(levels: number): void;
}

/** Layers of the map that the visitor can switch. */
export interface Layers {
  readonly grid: boolean;
  readonly codes: boolean;
  readonly points: boolean;
  readonly counts: boolean;
  readonly streets: boolean;
}

/** Hexagons of the view with the number of points in each. */
export interface Counts {
  readonly counted: Counted;
  /** A sentence about the hexagon at a position; undefined if it has no points. */
  textAt(latDeg: number, lngDeg: number): string | undefined;
  /**
   * Lists the rows of the hexagon at a position and zooms in.
   * @returns false if it has none
   */
  open(latDeg: number, lngDeg: number): boolean;
}

export interface Desk {
  readonly library: Hexcodes;
  /** The shown place; undefined before the first. */
  readonly place: Value<Place | undefined>;
  /** Rings of cells around it that are shown, 0 to 10. */
  readonly rings: Value<number>;
  /** Undefined until the map is drawn. */
  readonly map: Value<MapView | undefined>;
  /** Whether a zone is being drawn, so that a click on the map chooses no place. */
  readonly isDrawing: Value<boolean>;
  /** Points of the last converted file, or of the fleet. */
  readonly points: Value<DescribedPoints | undefined>;
  readonly layers: Value<Layers>;
  /** Undefined while there are no counts. */
  readonly counts: Value<Counts | undefined>;
}
