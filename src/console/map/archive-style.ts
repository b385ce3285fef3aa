// The style of an archive of tiles from the operator's disk: over our own land and sea, where it has none, and below
// borders, hexagons and the chosen place. Vector tiles have the schema of Protomaps' basemap. There are no files of
// glyphs: the map's library draws letters with the fonts of the browser.
import {
  addProtocol,
  type ExpressionSpecification,
  type FilterSpecification,
  type LayerSpecification,
  type SourceSpecification,
  type StyleSpecification,
} from 'maplibre-gl';
import { Protocol } from 'pmtiles';
import type { ShippedArchive } from '../shipped.js';
import { language } from '../words/language.js';
import { type Palette, paletteOf } from './palette.js';
import type { Shapes } from './shapes.js';
import { gridLayers, ownStyle, picturePaint } from './style.js';

const LIGHT = {
  earth: '#f0eee9',
  park: '#d8e6cf',
  built: '#e8e5df',
  water: '#bcd6e6',
  building: '#dcd7cf',
  casing: '#cfc8bd',
  highway: '#f2c48d',
  major: '#fbe6b5',
  minor: '#ffffff',
  rail: '#a9a6a0',
  text: '#4a4f4c',
  waterText: '#3f6f8f',
  halo: '#ffffff',
};

type Streets = Readonly<typeof LIGHT>;

const DARK: Streets = {
  earth: '#1b211f',
  park: '#22302a',
  built: '#202725',
  water: '#13252f',
  building: '#2a312e',
  casing: '#0f1514',
  highway: '#7a5f3c',
  major: '#5a5140',
  minor: '#39423f',
  rail: '#4a504e',
  text: '#b9c6c1',
  waterText: '#7fb0cf',
  halo: '#0f1514',
};

const SOURCE = 'archive';
/** Our layer above which the archive is drawn, and the one below which its names are. */
const ABOVE = 'coast';
const NAMES_BEFORE = 'ring';

/** Its name in the version of the schema before was another. */
const KIND: ExpressionSpecification = ['coalesce', ['get', 'kind'], ['get', 'pmap:kind'], ''];
const kindIs = (...kinds: string[]): FilterSpecification =>
  ['in', KIND, ['literal', kinds]] as unknown as FilterSpecification;
const isShape = (type: 'Polygon' | 'LineString'): FilterSpecification => ['==', ['geometry-type'], type];
const both = (...filters: FilterSpecification[]): FilterSpecification =>
  ['all', ...filters] as unknown as FilterSpecification;
/** Widths in pixels by zoom, each step by a power of the zoom, as roads grow. */
const width = (...stops: number[]): ExpressionSpecification => [
  'interpolate',
  ['exponential', 1.6],
  ['zoom'],
  ...stops,
];

const ROADS: readonly (readonly [
  kind: string,
  color: 'highway' | 'major' | 'minor',
  from: number,
  ...number[],
])[] = [
  ['path', 'minor', 14, 14, 0.5, 19, 4],
  ['other', 'minor', 14, 14, 0.5, 19, 5],
  ['minor_road', 'minor', 12, 12, 0.4, 15, 2.5, 19, 16],
  ['medium_road', 'major', 10, 10, 0.5, 15, 4, 19, 20],
  ['major_road', 'major', 7, 7, 0.5, 13, 3, 19, 24],
  ['highway', 'highway', 5, 5, 0.6, 12, 3.5, 19, 28],
];

function fill(
  id: string,
  layer: string,
  color: string,
  filter?: FilterSpecification,
  from = 0,
): LayerSpecification {
  return {
    id: `archive-${id}`,
    type: 'fill',
    source: SOURCE,
    'source-layer': layer,
    minzoom: from,
    filter: filter === undefined ? isShape('Polygon') : both(isShape('Polygon'), filter),
    paint: { 'fill-color': color },
  };
}

function roadLayers(streets: Streets): LayerSpecification[] {
  const line = (id: string, kind: string, from: number, paint: object): LayerSpecification => ({
    id: `archive-${id}`,
    type: 'line',
    source: SOURCE,
    'source-layer': 'roads',
    minzoom: from,
    filter: kindIs(kind),
    layout: { 'line-cap': 'round', 'line-join': 'round' },
    paint,
  });
  const casings = ROADS.map(([kind, , from, ...stops]) =>
    line(`${kind}-casing`, kind, Math.max(from, 12), {
      'line-color': streets.casing,
      'line-gap-width': width(...stops),
      'line-width': 0.8,
    }),
  );
  const roads = ROADS.map(([kind, color, from, ...stops]) =>
    line(kind, kind, from, { 'line-color': streets[color], 'line-width': width(...stops) }),
  );
  const rail = line('rail', 'rail', 10, {
    'line-color': streets.rail,
    'line-width': 1.2,
    'line-dasharray': [4, 2],
  });
  return [...casings, rail, ...roads];
}

/** Land, water, roads and buildings, from below to above. */
function groundLayers(streets: Streets): LayerSpecification[] {
  return [
    fill('earth', 'earth', streets.earth),
    fill(
      'built',
      'landuse',
      streets.built,
      kindIs('residential', 'commercial', 'industrial', 'hospital', 'school'),
    ),
    fill('green', 'landcover', streets.park, kindIs('forest', 'grassland', 'farmland')),
    fill(
      'park',
      'landuse',
      streets.park,
      kindIs(
        'park',
        'forest',
        'wood',
        'nature_reserve',
        'national_park',
        'protected_area',
        'garden',
        'golf_course',
        'cemetery',
      ),
    ),
    fill('water', 'water', streets.water),
    {
      id: 'archive-streams',
      type: 'line',
      source: SOURCE,
      'source-layer': 'water',
      filter: isShape('LineString'),
      paint: { 'line-color': streets.water, 'line-width': width(8, 0.6, 14, 2, 18, 6) },
    },
    fill('buildings', 'buildings', streets.building, undefined, 13),
    ...roadLayers(streets),
  ];
}

/** Names of streets, waters and quarters; those of towns are our own. */
function nameLayers(streets: Streets): LayerSpecification[] {
  const name: ExpressionSpecification = ['coalesce', ['get', `name:${language.now}`], ['get', 'name']];
  const paint = { 'text-color': streets.text, 'text-halo-color': streets.halo, 'text-halo-width': 1.4 };
  const font = { 'text-field': name, 'text-font': ['sans-serif'] };
  return [
    {
      id: 'archive-street-names',
      type: 'symbol',
      source: SOURCE,
      'source-layer': 'roads',
      minzoom: 13,
      filter: kindIs(...ROADS.map(([kind]) => kind)),
      layout: { ...font, 'symbol-placement': 'line', 'text-size': 11.5 },
      paint,
    },
    {
      id: 'archive-water-names',
      type: 'symbol',
      source: SOURCE,
      'source-layer': 'water',
      minzoom: 11,
      filter: ['has', 'name'],
      layout: { ...font, 'text-size': 12, 'text-max-width': 7 },
      paint: { ...paint, 'text-color': streets.waterText },
    },
    {
      id: 'archive-quarter-names',
      type: 'symbol',
      source: SOURCE,
      'source-layer': 'places',
      minzoom: 11,
      filter: kindIs('neighbourhood', 'macrohood'),
      layout: { ...font, 'text-size': 12.5, 'text-max-width': 8 },
      paint,
    },
  ];
}

addProtocol('pmtiles', new Protocol().tile);

/** @param url of the archive, which is read by byte ranges */
export function archiveStyle(
  shapes: Shapes,
  palette: Palette,
  url: string,
  { isVector, minZoom, maxZoom, bounds }: ShippedArchive,
): StyleSpecification {
  const isDark = palette === paletteOf(true);
  const streets = isDark ? DARK : LIGHT;
  const own = ownStyle(shapes, palette, false);
  const tiles = { tiles: [`pmtiles://${url}/{z}/{x}/{y}`], minzoom: minZoom, maxzoom: maxZoom, bounds };
  const source: SourceSpecification = isVector
    ? { type: 'vector', ...tiles }
    : { type: 'raster', tileSize: 256, ...tiles };
  const pictures: LayerSpecification = {
    id: 'archive-pictures',
    type: 'raster',
    source: SOURCE,
    paint: picturePaint(palette),
  };
  const borders = own.layers.filter(({ id }) => id === 'borders');
  const layers = own.layers
    .filter(({ id }) => id !== 'borders')
    .flatMap((layer): LayerSpecification[] => {
      if (layer.id === ABOVE) return [layer, ...(isVector ? groundLayers(streets) : [pictures]), ...borders];
      if (layer.id === 'grid') return gridLayers(palette, true);
      if (layer.id === NAMES_BEFORE) return [...(isVector ? nameLayers(streets) : []), layer];
      return [layer];
    });
  return { version: 8, sources: { ...own.sources, [SOURCE]: source }, layers };
}
