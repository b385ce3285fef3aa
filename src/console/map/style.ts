// The style of the map for MapLibre: sheet, provinces, the sea over them, grid, and the place that is chosen. No glyphs
// and no images: names are HTML (labels.ts).
import type {
  LayerSpecification,
  RasterLayerSpecification,
  SourceSpecification,
  StyleSpecification,
} from 'maplibre-gl';
import type { Polygons } from '../desk.js';
import { type Palette, paletteOf, WIDTHS } from './palette.js';
import { type Ring, SHEET, type Shapes } from './shapes.js';

export const EMPTY: Polygons = { type: 'FeatureCollection', features: [] };

/** The whole world but the sheet. */
const BEYOND: Ring[] = [
  [
    [-180, -85],
    [180, -85],
    [180, 85],
    [-180, 85],
    [-180, -85],
  ],
  [
    [SHEET.west, SHEET.south],
    [SHEET.east, SHEET.south],
    [SHEET.east, SHEET.north],
    [SHEET.west, SHEET.north],
    [SHEET.west, SHEET.south],
  ],
];

const geojson = (data: object): SourceSpecification => ({ type: 'geojson', data: data as never });

const polygon = (coordinates: readonly Ring[]): object => ({
  type: 'Feature',
  properties: {},
  geometry: { type: 'Polygon', coordinates },
});

type Paint<Type extends LayerSpecification['type']> = Extract<LayerSpecification, { type: Type }>['paint'];

const fill = (id: string, source: string, paint: Paint<'fill'>): LayerSpecification => ({
  id,
  type: 'fill',
  source,
  paint: paint!,
});

const line = (
  id: string,
  source: string,
  color: string,
  width: number,
  more: Paint<'line'> = {},
): LayerSpecification => ({
  id,
  type: 'line',
  source,
  paint: { 'line-color': color, 'line-width': width, ...more },
});

/** Our layers and their sources, from below to above. `hasBasemap`: the operator's map shows land and sea. */
export function ownStyle(
  shapes: Shapes,
  palette: Palette,
  hasBasemap: boolean,
): { sources: Record<string, SourceSpecification>; layers: LayerSpecification[] } {
  const features = shapes.provinces.map((geometry, admin) => ({
    type: 'Feature',
    geometry,
    properties: { color: palette.provinces[(shapes.colors[admin] ?? 0) % palette.provinces.length] },
  }));
  const sources = {
    provinces: geojson({ type: 'FeatureCollection', features }),
    sea: geojson(polygon(shapes.sea)),
    rivers: geojson({
      type: 'FeatureCollection',
      features: (hasBasemap ? [] : shapes.rivers).map(({ level, line }) => ({
        type: 'Feature',
        properties: { level },
        geometry: { type: 'LineString', coordinates: line },
      })),
    }),
    beyond: geojson(polygon(BEYOND)),
    grid: geojson(EMPTY),
    place: geojson(EMPTY),
    point: geojson(EMPTY),
  };
  const sheet: LayerSpecification[] = [
    { id: 'land', type: 'background', paint: { 'background-color': palette.land } },
    fill('provinces', 'provinces', { 'fill-color': ['get', 'color'], 'fill-antialias': false }),
  ];
  const sea: LayerSpecification[] = [
    fill('sea', 'sea', { 'fill-color': palette.sea }),
    line('coast', 'sea', palette.coast, WIDTHS.middle),
  ];
  const layers: LayerSpecification[] = [
    ...(hasBasemap ? [] : sheet),
    line('borders', 'provinces', palette.border, WIDTHS.thin),
    {
      id: 'rivers',
      type: 'line',
      source: 'rivers',
      layout: { 'line-join': 'round' },
      paint: {
        'line-color': palette.river,
        'line-width': [
          'interpolate',
          ['linear'],
          ['zoom'],
          4,
          ['-', 1.4, ['*', 0.25, ['get', 'level']]],
          12,
          2.5,
        ],
      },
    },
    ...(hasBasemap ? [] : sea),
    line('limit', 'provinces', palette.limit, WIDTHS.thin, { 'line-dasharray': [3, 4], 'line-opacity': 0.7 }),
    ...gridLayers(palette, hasBasemap),
    ...placeLayers(palette),
    ...(hasBasemap ? [] : [fill('beyond', 'beyond', { 'fill-color': palette.ground })]),
  ];
  return { sources, layers };
}

/** The hexagons; over the operator's map they are stronger, and have a halo. */
export function gridLayers(palette: Palette, hasBasemap: boolean): LayerSpecification[] {
  const halo = line('grid-halo', 'grid', palette.ground, WIDTHS.strong, { 'line-opacity': 0.6 });
  const opacity = hasBasemap ? 0.8 : 0.45;
  const grid = line('grid', 'grid', palette.grid, WIDTHS.thin, { 'line-opacity': opacity });
  return hasBasemap ? [halo, grid] : [grid];
}

function placeLayers({ ring, error, parent, cell, ground }: Palette): LayerSpecification[] {
  const only = (kind: string, layer: LayerSpecification): LayerSpecification =>
    ({ ...layer, filter: ['==', ['get', 'kind'], kind] }) as LayerSpecification;
  return [
    only(
      'ring',
      fill('ring', 'place', { 'fill-color': ring, 'fill-opacity': 0.18, 'fill-outline-color': ring }),
    ),
    only('error', fill('error', 'place', { 'fill-color': error, 'fill-opacity': 0.12 })),
    only('error', line('error-edge', 'place', error, WIDTHS.middle)),
    only('parent', line('parent', 'place', parent, WIDTHS.middle)),
    only('cell', fill('cell-fill', 'place', { 'fill-color': cell, 'fill-opacity': 0.4 })),
    only('cell', line('cell', 'place', cell, WIDTHS.strong)),
    {
      id: 'point',
      type: 'circle',
      source: 'point',
      paint: {
        'circle-radius': 5,
        'circle-color': cell,
        'circle-stroke-width': 2,
        'circle-stroke-color': ground,
      },
    },
  ];
}

/** Pictures are made for light pages; a dark one dims them, or its grid could not be seen. */
export const picturePaint = (palette: Palette): NonNullable<RasterLayerSpecification['paint']> =>
  palette === paletteOf(true) ? { 'raster-brightness-max': 0.55, 'raster-saturation': -0.35 } : {};

/** The whole style where the operator has none. @param tiles the operator's raster tiles, if there are any */
export function styleOf(shapes: Shapes, palette: Palette, tiles: string | undefined): StyleSpecification {
  const { sources, layers } = ownStyle(shapes, palette, tiles !== undefined);
  if (tiles === undefined) return { version: 8, sources, layers };
  return {
    version: 8,
    sources: { tiles: { type: 'raster', tiles: [tiles], tileSize: 256 }, ...sources },
    layers: [{ id: 'tiles', type: 'raster', source: 'tiles', paint: picturePaint(palette) }, ...layers],
  };
}
