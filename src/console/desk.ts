// The things that all parts of the console share: the library, the place that is chosen, and the map.
import type { Hexcodes } from '../library/hexcodes.js';
import type { Place } from './place/place.js';
import type { PointsToDraw } from './points/drawn-points.js';
import type { Value } from './shell/value.js';

/** The map as other parts see it; the drawing without WebGL is one too. */
export interface MapView {
  /** The middle of what is shown, degrees. */
  center(): { lat: number; lng: number };
  /** The box that is shown, degrees. */
  bounds(): { west: number; south: number; east: number; north: number };
  /** The resolution of the hexagons that are drawn. */
  gridResolution(): number;
  /** Shows the cell of a place, large enough to be seen. */
  show(place: Place): void;
}

export interface Desk {
  readonly library: Hexcodes;
  /** The place that is shown; undefined: none yet. */
  readonly place: Value<Place | undefined>;
  /** Undefined until the map is drawn. */
  readonly map: Value<MapView | undefined>;
  /** Of the file that was converted last. */
  readonly points: Value<PointsToDraw | undefined>;
}
