// The map by MapLibre, which needs WebGL 2. This file and the library are loaded after the rest of the page.
import {
  type GeoJSONSource,
  type LngLatBoundsLike,
  Map as MapLibre,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl';
import type { Box, Desk, MapView } from '../desk.js';
import { chooseAt } from '../place/choose.js';
import { PointsLayer } from '../points/points-layer.js';
import { toast } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { shipped } from '../shipped.js';
import { language, say } from '../words/language.js';
import { COUNTRY } from './controls.js';
import { boxAround, gridOf, gridResolutionAt, type Polygons, placeShapes } from './features.js';
import { Labels } from './labels.js';
import { paletteOf } from './palette.js';
import type { Shapes } from './shapes.js';
import { EMPTY, ownStyle, styleOf } from './style.js';

/** The first layer of the place that is chosen: points are drawn below it. */
const BELOW_PLACE = 'ring';
const TILE_PX = 512;
const MOST_ZOOM = 21.5;

export async function openWebglMap(host: HTMLElement, desk: Desk, shapes: Shapes): Promise<MapView> {
  setWorkerUrl(new URL(shipped.files.mapLibraryWorker, location.origin).href);
  const map = new MapLibre({
    container: host,
    style: await styleNow(shapes),
    bounds: boundsOf(COUNTRY),
    fitBoundsOptions: { padding: 12 },
    minZoom: 3,
    maxZoom: MOST_ZOOM,
    maxBounds: [
      [84, -4],
      [135, 33],
    ],
    renderWorldCopies: false,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    attributionControl: false,
    fadeDuration: 0,
    locale: { 'Map.Title': say('map') },
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  const canvas = map.getCanvas();
  canvas.setAttribute('aria-describedby', 'map-hint');
  language.on(() => canvas.setAttribute('aria-label', say('map')));

  const worldPx = (): number => TILE_PX * 2 ** map.getZoom();
  const gridResolution = (): number => gridResolutionAt(worldPx(), map.getCenter().lat);
  const bounds = (): Box => {
    const shown = map.getBounds();
    return { west: shown.getWest(), south: shown.getSouth(), east: shown.getEast(), north: shown.getNorth() };
  };
  const fill = (source: string, data: Polygons | object): void => {
    map.getSource<GeoJSONSource>(source)?.setData(data as never);
  };
  const drawGrid = (): void => {
    const resolution = gridResolution();
    fill('grid', gridOf(desk.library, bounds(), resolution));
    host.dataset.grid = String(resolution);
  };
  const drawPlace = (): void => {
    const place = desk.place.now;
    fill('place', place === undefined ? EMPTY : placeShapes(desk.library, place, desk.rings.now));
    const { lat, lng } = place?.from ?? place ?? { lat: 0, lng: 0 };
    const point = { type: 'Point', coordinates: [lng, lat] };
    fill('point', place === undefined ? EMPTY : { type: 'Feature', properties: {}, geometry: point });
    host.dataset.place = place?.hexcodes ?? '';
  };
  const drawPoints = (): void => {
    const points = desk.points.now;
    if (map.getLayer(PointsLayer.ID) !== undefined) map.removeLayer(PointsLayer.ID);
    if (points !== undefined) map.addLayer(new PointsLayer(points), BELOW_PLACE);
    host.dataset.points = String(points?.admins.length ?? 0);
  };
  const labels = new Labels(host, shapes.labels);
  const placeLabels = (): void => labels.place((lng, lat) => map.project([lng, lat]), worldPx());

  map.on('moveend', drawGrid);
  map.on('move', placeLabels);
  map.on('resize', placeLabels);
  map.on('style.load', () => {
    drawGrid();
    drawPlace();
    drawPoints();
  });
  language.on(placeLabels);
  isDark.on(() => void styleNow(shapes).then((style) => map.setStyle(style)));
  desk.place.on(drawPlace);
  desk.rings.on(drawPlace);
  desk.points.on(drawPoints);
  map.on('click', ({ lngLat }) => chooseAt(desk, lngLat.lat, lngLat.lng));
  canvas.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') chooseAt(desk, map.getCenter().lat, map.getCenter().lng);
  });
  await new Promise((loaded) => map.once('idle', loaded));
  placeLabels();

  const showBox = (box: Box): void => {
    map.fitBounds(boundsOf(box), { padding: 24, maxZoom: MOST_ZOOM, duration: 900 });
  };
  return {
    center: () => map.getCenter(),
    bounds,
    gridResolution,
    show: (place) => showBox(boxAround(desk.library, place, desk.rings.now)),
    showBox,
    zoomBy: (levels) => void map.zoomTo(map.getZoom() + levels, { duration: 250 }),
  };
}

const boundsOf = ({ west, south, east, north }: Box): LngLatBoundsLike => [
  [west, south],
  [east, north],
];

/** The style for the theme of now, over the map of the operator's, if there is one that answers. */
async function styleNow(shapes: Shapes): Promise<StyleSpecification> {
  const palette = paletteOf(isDark.now);
  const url = shipped.basemap?.url;
  if (url === undefined || url.includes('{z}')) return styleOf(shapes, palette, url);
  try {
    const style = (await (await fetch(url)).json()) as StyleSpecification;
    const own = ownStyle(shapes, palette, true);
    return {
      ...style,
      sources: { ...style.sources, ...own.sources },
      layers: [...style.layers, ...own.layers],
    };
  } catch {
    toast(say('basemapFailed'));
    return styleOf(shapes, palette, undefined);
  }
}
