// The map by MapLibre, which needs WebGL 2. This file and the library are loaded after the rest of the page.
import {
  type CustomLayerInterface,
  type CustomRenderMethodInput,
  type GeoJSONSource,
  type LngLatBoundsLike,
  Map as MapLibre,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl';
import type { Box, Desk, Layers, MapView, Polygons } from '../desk.js';
import { chooseOnMap } from '../place/choose.js';
import { chosenResolution } from '../place/place.js';
import { ANCHOR, type PointsToDraw, pointColors } from '../points/drawn-points.js';
import { toast } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { shipped } from '../shipped.js';
import { language, say } from '../words/language.js';
import { boxAround, drawnResolution, gridOf, nearestWithCode, pixelM, placeShapes } from './features.js';
import type { FlatMap } from './flat-map.js';
import { Labels } from './labels.js';
import { paletteOf } from './palette.js';
import { SHEET, type Shapes } from './shapes.js';
import { EMPTY, ownStyle, styleOf } from './style.js';

// The layer of a file's points, drawn by WebGL from the arrays that the worker has made: no object for each point, so
// that a million of them cost the page one copy to the graphics card.

const NO_PROVINCE = 34;
const COLORS = NO_PROVINCE + 1;
/** Opacity of positions in no province. */
const FAINT = 0.3;
const LARGE_PX = 9;

const VERTEX = `#version 300 es
in vec2 offset;
in uint admin;
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

interface Drawing {
  readonly gl: WebGL2RenderingContext;
  readonly program: WebGLProgram;
  readonly array: WebGLVertexArrayObject;
  readonly buffers: readonly WebGLBuffer[];
}

class PointsLayer implements CustomLayerInterface {
  static readonly ID = 'file-points';
  readonly id = PointsLayer.ID;
  readonly type = 'custom';
  #drawing: Drawing | undefined;

  constructor(public points: PointsToDraw) {}

  /** Other points, without a program of their own: those of a fleet change several times a second. */
  replace(points: PointsToDraw): void {
    this.points = points;
    if (this.#drawing === undefined) return;
    const { gl, buffers } = this.#drawing;
    for (const [buffer, data] of [
      [buffers[0], points.offsets],
      [buffers[1], points.groups],
    ] as const) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer!);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
  }

  onAdd(_map: unknown, gl: WebGL2RenderingContext): void {
    const program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(program) ?? '');
    const array = gl.createVertexArray();
    const [offsets, groups] = [gl.createBuffer(), gl.createBuffer()];
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, offsets);
    gl.bufferData(gl.ARRAY_BUFFER, this.points.offsets, gl.STATIC_DRAW);
    const offset = gl.getAttribLocation(program, 'offset');
    gl.enableVertexAttribArray(offset);
    gl.vertexAttribPointer(offset, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, groups);
    gl.bufferData(gl.ARRAY_BUFFER, this.points.groups, gl.STATIC_DRAW);
    const admin = gl.getAttribLocation(program, 'admin');
    gl.enableVertexAttribArray(admin);
    gl.vertexAttribIPointer(admin, 1, gl.UNSIGNED_BYTE, 0, 0);
    gl.bindVertexArray(null);
    gl.useProgram(program);
    const colors = pointColors(this.points).flatMap((color, group) => [
      ...color.map((part) => part / 255),
      group === NO_PROVINCE ? FAINT : 1,
    ]);
    gl.uniform4fv(gl.getUniformLocation(program, 'colors'), colors);
    this.#drawing = { gl, program, array, buffers: [offsets, groups] };
  }

  render(_gl: unknown, { defaultProjectionData }: CustomRenderMethodInput): void {
    if (this.#drawing === undefined) return;
    const { gl, program, array } = this.#drawing;
    gl.useProgram(program);
    gl.uniformMatrix4fv(
      gl.getUniformLocation(program, 'from_anchor'),
      false,
      fromAnchor(defaultProjectionData.mainMatrix),
    );
    gl.uniform1f(gl.getUniformLocation(program, 'size'), this.#sizePixels());
    gl.bindVertexArray(array);
    gl.enable(gl.BLEND);
    gl.drawArrays(gl.POINTS, 0, this.points.groups.length);
    gl.bindVertexArray(null);
  }

  onRemove(): void {
    if (this.#drawing === undefined) return;
    const { gl, program, array, buffers } = this.#drawing;
    gl.deleteProgram(program);
    gl.deleteVertexArray(array);
    for (const buffer of buffers) gl.deleteBuffer(buffer);
    this.#drawing = undefined;
  }

  /** Few points are drawn large. */
  #sizePixels(): number {
    const count = this.points.groups.length;
    return (count > 100_000 ? 4 : count > 5000 ? 6 : 10) * devicePixelRatio;
  }
}

/** The matrix for offsets from the anchor, in 64 bits until here: near it, offsets of 32 bits are exact enough. */
function fromAnchor(matrix: ArrayLike<number>): Float32Array {
  const moved = Float64Array.from(matrix);
  for (let row = 0; row < 4; row++) moved[12 + row]! += matrix[row]! * ANCHOR.x + matrix[4 + row]! * ANCHOR.y;
  return Float32Array.from(moved);
}

/** The first layer of the place that is chosen: points are drawn below it. */
const BELOW_PLACE = 'ring';
const TILE_PX = 512;
const MAX_ZOOM = 21.5;
/** A province fills the view. */
const PROVINCE_ZOOM = 8;
/** A flight through more levels takes its time, or nothing on the way would be seen. */
const LONG_WAY = 4;
const NEAR_MS = 900;
const FAR_MS = 2400;

/** Takes the place of the first map, with what that shows, once all of it is drawn. */
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
    PointsLayer.ID,
  ]);
  let grid = EMPTY;
  let placed = EMPTY;
  // Streets have names, towns have ours.
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
  const drawCounts = (): void => {
    const hexagons = desk.counts.now?.hexagons ?? EMPTY;
    fill('counts', hexagons);
    host.dataset.counts = String(hexagons.features.length);
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
    const points = desk.layers.now.points ? desk.points.now : undefined;
    const isDrawn = map.getLayer(PointsLayer.ID) !== undefined;
    const hasSameColors = points?.colors === pointsLayer?.points.colors;
    if (points !== undefined && isDrawn && hasSameColors && pointsLayer !== undefined) {
      pointsLayer.replace(points);
      map.triggerRepaint();
    } else {
      if (isDrawn) map.removeLayer(PointsLayer.ID);
      pointsLayer = points === undefined ? undefined : new PointsLayer(points);
      if (pointsLayer !== undefined) map.addLayer(pointsLayer, BELOW_PLACE);
      drawPlace();
    }
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
  // Until then the first map is seen and moved.
  const container = map.getCanvasContainer();
  container.style.visibility = 'hidden';
  await new Promise((loaded) => map.once('idle', loaded));
  map.jumpTo(first.camera());
  container.style.visibility = '';
  if (first.close()) canvas.focus();
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

/** The style for the theme of now, over the map of the operator's, if there is one that answers. */
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
