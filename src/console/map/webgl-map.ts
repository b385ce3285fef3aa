// The map by MapLibre, which needs WebGL 2. This file and the library are loaded after the rest of the page.
import {
  type GeoJSONSource,
  type LngLatBoundsLike,
  Map as MapLibre,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl';
import type { Box, Desk, Layers, MapView, Polygons } from '../desk.js';
import { chooseOnMap } from '../place/around.js';
import { chosenResolution } from '../place/place.js';
import { type PointsToDraw, pointColors } from '../points/drawn-points.js';
import { toast } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { shipped } from '../shipped.js';
import { language, say } from '../words/language.js';
import { ArraysLayer, type Corners, CountsLayer, GlProgram, type LayerUniform } from './arrays-layer.js';
import { boxAround, drawnResolution, gridOf, nearestWithCode, pixelM, placeShapes } from './features.js';
import type { FlatMap } from './flat-map.js';
import { Labels } from './labels.js';
import { paletteOf } from './palette.js';
import { SHEET, type Shapes } from './shapes.js';
import { EMPTY, ownStyle, styleOf } from './style.js';

const NO_PROVINCE = 34;
const COLORS = NO_PROVINCE + 1;
/** Opacity of positions in no province. */
const FAINT = 0.3;
const LARGE_PX = 9;

const VERTEX = `#version 300 es
layout(location = 0) in vec2 offset;
layout(location = 1) in uint admin;
uniform mat4 from_anchor;
uniform float size;
uniform vec4 colors[${COLORS}];
out vec4 color;
void main() {
  gl_Position = from_anchor * vec4(offset, 0.0, 1.0);
  gl_PointSize = size;
  color = colors[min(admin, ${NO_PROVINCE}u)];
}`;

/** A disc; a large one has a light rim. Colours are multiplied by their alpha, as MapLibre blends them. */
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 color;
uniform float size;
out vec4 drawn;
void main() {
  float far = length(gl_PointCoord - 0.5) * 2.0;
  if (far > 1.0) discard;
  float rim = size < ${LARGE_PX}.0 ? 0.0 : smoothstep(0.72, 0.86, far) * 0.85;
  drawn = vec4(mix(color.rgb, vec3(1.0), rim), 1.0) * color.a;
}`;

/** The layer of a file's points. */
class PointsLayer extends ArraysLayer<PointsToDraw, 'size'> {
  static readonly ID = 'file-points';
  readonly id = PointsLayer.ID;

  static readonly program = (gl: WebGL2RenderingContext): GlProgram<LayerUniform | 'size'> =>
    new GlProgram(gl, VERTEX, FRAGMENT, ['from_anchor', 'colors', 'size']);

  override replace(data: PointsToDraw): boolean {
    return data.colors === this.data.colors && super.replace(data);
  }

  protected corners(): Corners {
    return { offsets: this.data.offsets, levels: this.data.groups };
  }

  protected colors(): number[] {
    return pointColors(this.data).flatMap((color, group) => [
      ...color.map((part) => part / 255),
      group === NO_PROVINCE ? FAINT : 1,
    ]);
  }

  protected draw(
    gl: WebGL2RenderingContext,
    { size }: Readonly<Record<'size', WebGLUniformLocation | null>>,
  ): void {
    gl.uniform1f(size, this.#sizePixels());
    gl.drawArrays(gl.POINTS, 0, this.data.groups.length);
  }

  /** Few points are drawn large. */
  #sizePixels(): number {
    const count = this.data.groups.length;
    return (count > 100_000 ? 4 : count > 5000 ? 6 : 10) * devicePixelRatio;
  }
}

/** The first layer of the place that is chosen: points are drawn below it. */
const BELOW_PLACE = 'ring';
const TILE_PX = 512;
const MAX_ZOOM = 21.5;
/** The zoom at which a province fills the view. */
const PROVINCE_ZOOM = 8;
/** A flight through more levels is slow, or nothing on the way would be seen. */
const LONG_WAY = 4;
const NEAR_MS = 900;
const FAR_MS = 2400;

/** Replaces the first map, keeping what it shows, once all of this one is drawn. */
export async function openWebglMap(
  host: HTMLElement,
  desk: Desk,
  shapes: Shapes,
  first: FlatMap,
): Promise<MapView> {
  setWorkerUrl(shipped.files.mapLibraryWorker);
  const map = new MapLibre({
    container: host,
    style: await styleNow(shapes),
    ...first.camera(),
    minZoom: 3,
    maxZoom: MAX_ZOOM,
    maxBounds: boundsOf(SHEET),
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

  const gl = canvas.getContext('webgl2')!;
  const makePrograms = () => ({ counts: CountsLayer.program(gl), points: PointsLayer.program(gl) });
  let programs = makePrograms();
  map.on('webglcontextrestored', () => {
    programs = makePrograms();
  });
  const worldPx = (): number => TILE_PX * 2 ** map.getZoom();
  const gridResolution = (): number => drawnResolution(worldPx(), map.getCenter().lat);
  const bounds = (): Box => {
    const shown = map.getBounds();
    return { west: shown.getWest(), south: shown.getSouth(), east: shown.getEast(), north: shown.getNorth() };
  };
  const fill = (source: string, data: Polygons | object): void => {
    map.getSource<GeoJSONSource>(source)?.setData(data as never);
  };
  const ownIds = new Set([
    ...ownStyle(shapes, paletteOf(isDark.now), false).layers.map(({ id }) => id),
    'grid-halo',
    CountsLayer.ID,
    PointsLayer.ID,
  ]);
  let grid = EMPTY;
  let placed = EMPTY;
  // Streets have the basemap's names, towns have ours.
  const hasNames = shipped.basemap !== null && shipped.basemap.archive?.isVector !== true;
  let labels: Labels | undefined;
  const drawLabels = (): void =>
    labels?.draw({
      project: (lng, lat) => map.project([lng, lat]),
      positionAt: (x, y) => map.unproject([x, y]),
      bounds: bounds(),
      worldPx: worldPx(),
      grid: desk.layers.now.codes ? grid.features : [],
      gridResolution: gridResolution(),
      place: placed.features,
    });
  const drawGrid = (): void => {
    const resolution = gridResolution();
    const { grid: isDrawn, codes } = desk.layers.now;
    grid = isDrawn || codes ? gridOf(desk.library, bounds(), resolution) : EMPTY;
    fill('grid', isDrawn ? grid : EMPTY);
    host.dataset.grid = String(resolution);
    drawLabels();
  };
  /** Draws other data in a layer where it is drawn, else in a new one. @returns the layer with the data */
  const redrawn = <Data, Name extends string, Layer extends ArraysLayer<Data, Name>>(
    layer: Layer | undefined,
    data: Data | undefined,
    make: (data: Data) => Layer,
    above: string,
  ): Layer | undefined => {
    const isDrawn = layer !== undefined && map.getLayer(layer.id) !== undefined;
    if (isDrawn && data !== undefined && layer.replace(data)) {
      map.triggerRepaint();
      return layer;
    }
    if (isDrawn) map.removeLayer(layer.id);
    const made = data === undefined ? undefined : make(data);
    if (made !== undefined) map.addLayer(made, above);
    return made;
  };
  let countsLayer: CountsLayer | undefined;
  const drawCounts = (): void => {
    const counted = desk.counts.now?.counted;
    const above = map.getLayer(PointsLayer.ID) === undefined ? BELOW_PLACE : PointsLayer.ID;
    countsLayer = redrawn(countsLayer, counted, (data) => new CountsLayer(programs.counts, data), above);
    host.dataset.counts = String(counted?.ends.length ?? 0);
  };
  const drawPlace = (): void => {
    const place = desk.place.now;
    placed = placeShapes(desk);
    fill('place', placed);
    const { lat, lng } = place?.from ?? place ?? { lat: 0, lng: 0 };
    const point = { type: 'Point', coordinates: [lng, lat] };
    fill('point', place === undefined ? EMPTY : { type: 'Feature', properties: {}, geometry: point });
    host.dataset.place = place?.hexcodes ?? '';
    host.dataset.error = String(place?.accuracyM ?? '');
    drawLabels();
  };
  let pointsLayer: PointsLayer | undefined;
  const drawPoints = (): void => {
    const points: PointsToDraw | undefined = desk.layers.now.points ? desk.points.now : undefined;
    const before = pointsLayer;
    const make = (data: PointsToDraw): PointsLayer => new PointsLayer(programs.points, data);
    pointsLayer = redrawn(before, points, make, BELOW_PLACE);
    if (pointsLayer === undefined || pointsLayer !== before) drawPlace();
    host.dataset.points = String(desk.points.now?.groups.length ?? 0);
  };

  /** Layers of the operator's map are all that are not our own. */
  const drawStreets = (): void => {
    const visibility = desk.layers.now.streets ? 'visible' : 'none';
    for (const { id, type } of shipped.basemap === null ? [] : map.getStyle().layers)
      if (type !== 'background' && !ownIds.has(id)) map.setLayoutProperty(id, 'visibility', visibility);
  };
  let layers = desk.layers.now;
  desk.layers.on((now) => {
    const hasChanged = (layer: keyof Layers): boolean => layers[layer] !== now[layer];
    const [areStreets, arePoints] = [hasChanged('streets'), hasChanged('points')];
    layers = now;
    drawGrid();
    if (arePoints) drawPoints();
    if (areStreets) drawStreets();
  });

  map.on('moveend', drawGrid);
  map.on('move', drawLabels);
  map.on('resize', drawGrid);
  map.on('style.load', () => {
    drawGrid();
    drawPlace();
    drawCounts();
    drawPoints();
    drawStreets();
  });
  const drawAgain = (): void => void styleNow(shapes).then((style) => map.setStyle(style));
  isDark.on(drawAgain);
  // Names of streets are in the style.
  if (shipped.basemap?.archive?.isVector === true) language.on(drawAgain);
  desk.place.on(drawPlace);
  desk.rings.on(drawPlace);
  desk.points.on(drawPoints);
  desk.counts.on(drawCounts);
  // Two presses on one spot end a zone.
  desk.isDrawing.on((isDrawing) => map.doubleClickZoom[isDrawing ? 'disable' : 'enable']());
  chosenResolution.on(drawGrid);
  const chooseAt = (lat: number, lng: number): void =>
    chooseOnMap(desk, lat, lng, gridResolution(), pixelM(worldPx(), lat));
  map.on('click', ({ lngLat }) => chooseAt(lngLat.lat, lngLat.lng));
  canvas.addEventListener('keydown', ({ key }) => {
    if (key !== 'Enter') return;
    const { lat, lng } = nearestWithCode(desk.library, map.getCenter(), grid.features) ?? map.getCenter();
    chooseAt(lat, lng);
  });
  // Until then people see and move the first map.
  const container = map.getCanvasContainer();
  container.style.visibility = 'hidden';
  await new Promise((loaded) => map.once('idle', loaded));
  map.jumpTo(first.camera());
  container.style.visibility = '';
  if (first.close()) canvas.focus();
  map.once('idle', () => {
    programs.counts.uniforms();
    programs.points.uniforms();
  });
  labels = new Labels(host, desk, shapes.labels, hasNames);
  drawGrid();

  /** Flies there; from afar over a view of the province. */
  const showBox = (box: Box): void => {
    const camera = map.cameraForBounds(boundsOf(box), { padding: 24, maxZoom: MAX_ZOOM });
    if (camera?.center === undefined) return;
    const isNear = map.getBounds().contains(camera.center);
    const isDeep = (camera.zoom ?? 0) - map.getZoom() > LONG_WAY;
    const duration = isNear && !isDeep ? NEAR_MS : FAR_MS;
    map.flyTo({ ...camera, duration, ...(isNear ? {} : { minZoom: PROVINCE_ZOOM }) });
  };
  return {
    center: () => map.getCenter(),
    bounds,
    project: (lng, lat) => map.project([lng, lat]),
    positionAt: (x, y) => map.unproject([x, y]),
    onMove: (listener) => {
      map.on('move', listener);
      map.on('resize', listener);
    },
    gridResolution,
    show: (place) => showBox(boxAround(place, desk.rings.now)),
    showBox,
    zoomBy: (levels) => void map.zoomTo(map.getZoom() + levels, { duration: 250 }),
  };
}

const boundsOf = ({ west, south, east, north }: Box): LngLatBoundsLike => [
  [west, south],
  [east, north],
];

/** The style for the current theme, over the operator's map, if there is one that answers. */
async function styleNow(shapes: Shapes): Promise<StyleSpecification> {
  const palette = paletteOf(isDark.now);
  const url = shipped.basemap?.url;
  const archive = shipped.basemap?.archive ?? null;
  if (url !== undefined && archive !== null) {
    const { archiveStyle } = await import('./archive-style.js');
    return archiveStyle(shapes, palette, `${location.origin}${url}`, archive);
  }
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
