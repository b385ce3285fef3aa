// Cells as a vector tile (Mapbox Vector Tile 2.1): one layer of polygons, whole ones also where they reach beyond the
// tile, so that the outline of a cell is the same in each tile that it touches.
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { CellFeature } from '../../hexcodes/geometry/geojson.js';
import { inTile, type Tile } from './tile.js';

const LAYER = 'grid';
/** Steps across a tile. */
const EXTENT = 4096;
const POLYGON = 3;

/** No layer, and so no bytes, where there are no cells. */
export function vectorTileOf(tile: Tile, cells: readonly CellFeature[]): Uint8Array {
  if (cells.length === 0) return new Uint8Array(0);
  const features = cells.map(({ geometry, properties }) => {
    const ring = geometry.coordinates[0]!.map(([lng, lat]): [number, number] => {
      const [right, down] = inTile(tile, lng, lat);
      return [Math.round(right * EXTENT), Math.round(down * EXTENT)];
    });
    // Counter-clockwise on the map; a tile has its outer rings the other way round.
    return { type: POLYGON, geometry: [ring.reverse()], tags: { ...properties } };
  });
  return fromGeojsonVt({ [LAYER]: { features } as never }, { version: 2, extent: EXTENT });
}
