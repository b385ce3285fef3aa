// The hexagons on the map as GeoJSON: the grid of the view, and the place that is chosen with its rings and its parent.

import { cellsWithin, estimatedCells, gridDisk, parent } from '../../hexcodes/geometry/cells.js';
import { type CellFeature, cellFeature, cellRing } from '../../hexcodes/geometry/codebook.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/number.js';
import { type Box, boxOf, type Desk, type Polygons } from '../desk.js';
import { chosenResolution, edgeM, type Place, resolutionFor } from '../place/place.js';
import { h3 } from '../shell/h3.js';

/** The part of the desk that the shapes of a place are made of. */
type PlacedOn = Pick<Desk, 'library' | 'place' | 'rings' | 'points'>;

const EARTH_M = 40_075_017;
/** Minimum width of a hexagon of the grid on the screen; the maximum is the square root of seven times as large. */
const MIN_WIDTH_PX = 44;
/** Number of hexagons beyond which the screen would be all lines. */
const MAX_CELLS = 12_000;

/** The finest resolution whose hexagons are wide enough; `worldPx`: the width of the world on the screen. */
export const gridResolutionAt = (worldPx: number, latDeg: number, minPx = MIN_WIDTH_PX): number =>
  resolutionFor((minPx * pixelM(worldPx, latDeg)) / 2);

/** The resolution of the hexagons on the map: as fine as is legible, but no finer than codes are wanted. */
export function drawnResolution(worldPx: number, latDeg: number): number {
  return Math.min(gridResolutionAt(worldPx, latDeg), Math.max(DEFAULT_RESOLUTION, chosenResolution.now));
}

/** Width of a pixel, metres. */
export const pixelM = (worldPx: number, latDeg: number): number =>
  (EARTH_M * Math.cos((latDeg * Math.PI) / 180)) / worldPx;

/** The cells of the view that have codes; none before h3-js is loaded. */
export function gridOf(library: Hexcodes, view: Box, resolution: number): Polygons {
  if (h3.now === undefined) return collection([]);
  // Cells at the edge of the view have their centres outside it.
  const padLat = (view.north - view.south) * 0.15;
  const padLng = (view.east - view.west) * 0.15;
  const box = {
    west: view.west - padLng,
    south: Math.max(-89, view.south - padLat),
    east: view.east + padLng,
    north: Math.min(89, view.north + padLat),
  };
  if (estimatedCells(box, resolution) > MAX_CELLS) return collection([]);
  const rings = cellsWithin(box, resolution).map(cellRing);
  return collection(
    rings
      .filter((ring) => ring.some(([lng, lat]) => library.adminCodeOf(lat, lng) !== null))
      .map((ring) => feature('grid', [ring])),
  );
}

/**
 * The chosen place: the circle of its error, its rings, the next larger hexagon, and its own last. Over points of a
 * file or fleet the larger one is omitted. Empty before h3-js is loaded.
 */
export function placeShapes({ library, place: { now: place }, rings, points }: PlacedOn): Polygons {
  if (place === undefined || h3.now === undefined) return collection([]);
  const shape = (kind: string, code: string) =>
    feature(kind, cellFeature(library, code).geometry.coordinates, code);
  const around = rings.now === 0 ? [] : gridDisk(library, place.hexcodes, rings.now);
  const hasParent = place.resolution > 0 && points.now === undefined;
  return collection([
    ...errorCircle(place),
    ...around.filter((code) => code !== place.hexcodes).map((code) => shape('ring', code)),
    ...(hasParent ? [shape('parent', parent(library, place.hexcodes, place.resolution - 1))] : []),
    shape('cell', place.hexcodes),
  ]);
}

/** The circle that a measured position lies in. */
function errorCircle({ from, accuracyM }: Place): Polygons['features'] {
  if (from === undefined || accuracyM === undefined) return [];
  const degrees = (accuracyM / EARTH_M) * 360;
  const ring = Array.from({ length: 73 }, (_, i): [number, number] => {
    const angle = (i / 36) * Math.PI;
    const lat = from.lat + degrees * Math.sin(angle);
    return [from.lng + (degrees * Math.cos(angle)) / Math.cos((lat * Math.PI) / 180), lat];
  });
  return [feature('error', [ring])];
}

/** The position itself where codes are, else the middle of the nearest hexagon of a grid; undefined without any. */
export function nearestWithCode(
  library: Hexcodes,
  at: { lat: number; lng: number },
  grid: Polygons['features'],
): { lat: number; lng: number } | undefined {
  if (library.adminCodeOf(at.lat, at.lng) !== null) return at;
  const middles = grid.map(middleOf);
  const far = ({ lat, lng }: { lat: number; lng: number }): number =>
    (lat - at.lat) ** 2 + (lng - at.lng) ** 2;
  return middles
    .filter(({ lat, lng }) => library.adminCodeOf(lat, lng) !== null)
    .sort((a, b) => far(a) - far(b))[0];
}

/** The middle of a hexagon, by its corners, of which the last is the first. */
export function middleOf({ geometry }: Polygons['features'][0]): { lat: number; lng: number } {
  const ring = (geometry.coordinates[0] ?? []).slice(1);
  const [lng, lat] = [0, 1].map((i) => ring.reduce((sum, corner) => sum + corner[i]!, 0) / ring.length);
  return { lat: lat!, lng: lng! };
}

/** Widths of its cell that a view of a place is wide: of a house its surroundings, of a town its neighbours. */
const VIEW_CELLS = { fine: 6, coarse: 3 };
const FINE_FROM = 9;

/** The box of a place with room for its rings, by the mean size of cells. */
export function boxAround(place: Place, rings: number): Box {
  const far = (place.resolution > FINE_FROM ? VIEW_CELLS.fine : VIEW_CELLS.coarse) + 2 * rings;
  const halfM = far * edgeM(place.resolution);
  const halfLat = (halfM / EARTH_M) * 360;
  const { lat, lng } = place;
  const halfLng = halfLat / Math.cos((lat * Math.PI) / 180);
  return boxOf([
    [lng - halfLng, lat - halfLat],
    [lng + halfLng, lat + halfLat],
    ...errorCircle(place).flatMap(({ geometry }) => geometry.coordinates.flat()),
  ]);
}

const collection = (features: Polygons['features']): Polygons => ({ type: 'FeatureCollection', features });

const feature = (
  kind: string,
  coordinates: CellFeature['geometry']['coordinates'],
  code?: string,
): Polygons['features'][0] => ({
  type: 'Feature',
  geometry: { type: 'Polygon', coordinates },
  properties: { kind, ...(code === undefined ? {} : { code }) },
});
