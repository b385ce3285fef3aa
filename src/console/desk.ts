// The things that all parts of the console share: the library, the place that is chosen, and the map.
import type { Hexcodes } from '../hexcodes/library/hexcodes.js';
import type { Place } from './place/place.js';
import type { PointsToDraw } from './points/drawn-points.js';
import type { Value } from './shell/value.js';

/** Degrees. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Mainland and coast; the archipelagos are in view where the screen is wide enough. */
export const COUNTRY: Box = { west: 101.8, south: 8.2, east: 112, north: 23.5 };

/** The map as other parts see it; the drawing without WebGL is one too. */
export interface MapView {
  /** The middle of the box that is shown, degrees. */
  center(): { lat: number; lng: number };
  /** The box that is shown. */
  bounds(): Box;
  /** The pixel of a position, from the upper left corner of the map; and the position of a pixel. */
  project(lng: number, lat: number): { readonly x: number; readonly y: number };
  positionAt(x: number, y: number): { readonly lat: number; readonly lng: number };
  /** Calls `listener` at each drawing of the map. */
  onMove(listener: () => void): void;
  /** The resolution of the hexagons that are drawn. */
  gridResolution(): number;
  /** Shows the cell of a place, large enough to be seen. */
  show(place: Place): void;
  showBox(box: Box): void;
  /** Zooms in by a number of levels, each of which doubles the scale; out by negative ones. */
  zoomBy(levels: number): void;
}

export interface Desk {
  readonly library: Hexcodes;
  /** The place that is shown; undefined: none yet. */
  readonly place: Value<Place | undefined>;
  /** Rings of cells around it that are shown, 0 to 10. */
  readonly rings: Value<number>;
  /** Undefined until the map is drawn. */
  readonly map: Value<MapView | undefined>;
  /** Whether a zone is drawn by hand, so that a click on the map chooses no place. */
  readonly isDrawing: Value<boolean>;
  /** Points of the file that was converted last. */
  readonly points: Value<PointsToDraw | undefined>;
}
