// The hexagons on the map as GeoJSON: the grid of the view, and the place that is chosen with its ring and its
// ancestors.
import { gridDisk, parent } from '../../hexcodes/geometry/family.js';
import { type CellFeature, cellFeature } from '../../hexcodes/geometry/geojson.js';
import { cellsWithin, estimatedCells, ringOf } from '../../hexcodes/geometry/within.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Box } from '../desk.js';
import type { Place } from '../place/place.js';

export interface Polygons {
  type: 'FeatureCollection';
  features: { type: 'Feature'; geometry: CellFeature['geometry']; properties: { kind: string } }[];
}

const EDGE_M_OF_RESOLUTION_0 = 1_281_256;
const EARTH_M = 40_075_017;
/** A hexagon of the grid is at least so wide on the screen, and less than the square root of seven times as wide. */
const LEAST_WIDTH_PX = 44;
/** Beyond this the screen would be all lines. */
const MOST_CELLS = 12_000;

/** The finest resolution whose hexagons are wide enough; `worldPx`: the width of the world on the screen. */
export function gridResolutionAt(worldPx: number, latDeg: number): number {
  const pxPerM = worldPx / (EARTH_M * Math.cos((latDeg * Math.PI) / 180));
  const finest = Math.log((2 * EDGE_M_OF_RESOLUTION_0 * pxPerM) / LEAST_WIDTH_PX) / Math.log(Math.sqrt(7));
  return Math.min(15, Math.max(0, Math.floor(finest)));
}

/** The cells of the view that have codes. */
export function gridOf(library: Hexcodes, view: Box, resolution: number): Polygons {
  // Cells at the edge of the view have their centres outside it.
  const padLat = (view.north - view.south) * 0.15;
  const padLng = (view.east - view.west) * 0.15;
  const box = {
    west: view.west - padLng,
    south: Math.max(-89, view.south - padLat),
    east: view.east + padLng,
    north: Math.min(89, view.north + padLat),
  };
  if (estimatedCells(box, resolution) > MOST_CELLS) return collection([]);
  const rings = cellsWithin(box, resolution).map(ringOf);
  return collection(
    rings
      .filter((ring) => ring.some(([lng, lat]) => library.adminCodeOf(lat, lng) !== null))
      .map((ring) => feature('grid', [ring])),
  );
}

/** The cell of a place last, over its ring and its ancestors. */
export function placeShapes(library: Hexcodes, place: Place, rings: number): Polygons {
  const around = rings === 0 ? [] : gridDisk(library, place.hexcodes, rings);
  const shape = (kind: string, code: string) =>
    feature(kind, cellFeature(library, code).geometry.coordinates);
  const ancestors = Array.from({ length: place.resolution }, (_, resolution) =>
    shape('ancestor', parent(library, place.hexcodes, resolution)),
  );
  return collection([
    ...around.filter((code) => code !== place.hexcodes).map((code) => shape('ring', code)),
    ...ancestors,
    shape('cell', place.hexcodes),
  ]);
}

/** The box of a place's cell with room for its neighbours. */
export function boxAround(library: Hexcodes, place: Place, rings: number): Box {
  const [ring = []] = cellFeature(library, place.hexcodes).geometry.coordinates;
  const lats = ring.map(([, lat]) => lat);
  const lngs = ring.map(([lng]) => lng);
  const far = 1.6 + 2 * rings;
  const halfLat = ((Math.max(...lats) - Math.min(...lats)) / 2) * far;
  const halfLng = ((Math.max(...lngs) - Math.min(...lngs)) / 2) * far;
  const { lat, lng } = place;
  return { west: lng - halfLng, south: lat - halfLat, east: lng + halfLng, north: lat + halfLat };
}

const collection = (features: Polygons['features']): Polygons => ({ type: 'FeatureCollection', features });

const feature = (
  kind: string,
  coordinates: CellFeature['geometry']['coordinates'],
): Polygons['features'][0] => ({
  type: 'Feature',
  geometry: { type: 'Polygon', coordinates },
  properties: { kind },
});
