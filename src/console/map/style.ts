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

/** Our layers and their sources, from below to above. `hasBasemap`: a map of the operator's shows land and sea. */
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
    {
      id: 'provinces',
      type: 'fill',
      source: 'provinces',
      paint: { 'fill-color': ['get', 'color'], 'fill-antialias': false },
    },
  ];
  const sea: LayerSpecification[] = [
    { id: 'sea', type: 'fill', source: 'sea', paint: { 'fill-color': palette.sea } },
    {
      id: 'coast',
      type: 'line',
      source: 'sea',
      paint: { 'line-color': palette.coast, 'line-width': WIDTHS.middle },
    },
  ];
  const layers: LayerSpecification[] = [
    ...(hasBasemap ? [] : sheet),
    {
      id: 'borders',
      type: 'line',
      source: 'provinces',
      paint: { 'line-color': palette.border, 'line-width': WIDTHS.thin },
    },
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
    {
      id: 'limit',
      type: 'line',
      source: 'provinces',
      paint: {
        'line-color': palette.limit,
        'line-width': WIDTHS.thin,
        'line-dasharray': [3, 4],
        'line-opacity': 0.7,
      },
    },
    ...gridLayers(palette, hasBasemap),
    ...placeLayers(palette),
    ...(hasBasemap
      ? []
      : [{ id: 'beyond', type: 'fill', source: 'beyond', paint: { 'fill-color': palette.ground } } as const]),
  ];
  return { sources, layers };
}

/** The hexagons; over a map of the operator's they are stronger, and have a halo. */
export function gridLayers(palette: Palette, hasBasemap: boolean): LayerSpecification[] {
  const halo: LayerSpecification = {
    id: 'grid-halo',
    type: 'line',
    source: 'grid',
    paint: { 'line-color': palette.ground, 'line-width': WIDTHS.strong, 'line-opacity': 0.6 },
  };
  const grid: LayerSpecification = {
    id: 'grid',
    type: 'line',
    source: 'grid',
    paint: { 'line-color': palette.grid, 'line-width': WIDTHS.thin, 'line-opacity': hasBasemap ? 0.8 : 0.45 },
  };
  return hasBasemap ? [halo, grid] : [grid];
}

function placeLayers(palette: Palette): LayerSpecification[] {
  const only = (kind: string): ['==', ['get', string], string] => ['==', ['get', 'kind'], kind];
  return [
    {
      id: 'ring',
      type: 'fill',
      source: 'place',
      filter: only('ring'),
      paint: { 'fill-color': palette.ring, 'fill-opacity': 0.18, 'fill-outline-color': palette.ring },
    },
    {
      id: 'error',
      type: 'fill',
      source: 'place',
      filter: only('error'),
      paint: { 'fill-color': palette.error, 'fill-opacity': 0.12 },
    },
    {
      id: 'error-edge',
      type: 'line',
      source: 'place',
      filter: only('error'),
      paint: { 'line-color': palette.error, 'line-width': WIDTHS.middle },
    },
    {
      id: 'parent',
      type: 'line',
      source: 'place',
      filter: only('parent'),
      paint: { 'line-color': palette.parent, 'line-width': WIDTHS.middle },
    },
    {
      id: 'cell-fill',
      type: 'fill',
      source: 'place',
      filter: only('cell'),
      paint: { 'fill-color': palette.cell, 'fill-opacity': 0.4 },
    },
    {
      id: 'cell',
      type: 'line',
      source: 'place',
      filter: only('cell'),
      paint: { 'line-color': palette.cell, 'line-width': WIDTHS.strong },
    },
    {
      id: 'point',
      type: 'circle',
      source: 'point',
      paint: {
        'circle-radius': 5,
        'circle-color': palette.cell,
        'circle-stroke-width': 2,
        'circle-stroke-color': palette.ground,
      },
    },
  ];
}

/** Pictures are made for light pages; a dark one dims them, or its grid could not be seen. */
export const picturePaint = (palette: Palette): NonNullable<RasterLayerSpecification['paint']> =>
  palette === paletteOf(true) ? { 'raster-brightness-max': 0.55, 'raster-saturation': -0.35 } : {};

/** The whole style without a style of the operator's. @param tiles raster tiles of the operator's, if there are any */
export function styleOf(shapes: Shapes, palette: Palette, tiles: string | undefined): StyleSpecification {
  const { sources, layers } = ownStyle(shapes, palette, tiles !== undefined);
  if (tiles === undefined) return { version: 8, sources, layers };
  return {
    version: 8,
    sources: { tiles: { type: 'raster', tiles: [tiles], tileSize: 256 }, ...sources },
    layers: [{ id: 'tiles', type: 'raster', source: 'tiles', paint: picturePaint(palette) }, ...layers],
  };
}
