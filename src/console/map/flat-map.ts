// The map before the map library is loaded, and permanently without WebGL: the same shapes drawn on a canvas, which
// can be dragged, zoomed and clicked.
import { type Box, COUNTRY, type Desk, type MapView, type Polygons } from '../desk.js';
import { chooseOnMap } from '../place/around.js';
import { chosenResolution } from '../place/place.js';
import {
  ANCHOR,
  type Counted,
  mercatorX,
  mercatorY,
  type PointsToDraw,
  pointColors,
} from '../points/drawn-points.js';
import { element } from '../shell/elements.js';
import { h3 } from '../shell/h3.js';
import { isDark } from '../shell/switches.js';
import { language } from '../words/language.js';
import { boxAround, drawnResolution, gridOf, nearestWithCode, pixelM, placeShapes } from './features.js';
import { drawDot, fill, Outline, stroke, type Window } from './flat-outline.js';
import { Labels } from './labels.js';
import { COUNT_OPACITY, type Palette, paletteOf, WIDTHS } from './palette.js';
import { type Ring, SHEET, type Shapes } from './shapes.js';

// Draws a file's points where WebGL is missing: into the pixels of a picture, which is then laid over the map.

/** Time to read the note that the map is a plain drawing. */
const NOTE_MS = 8000;
const NO_PROVINCE = 34;
/** More points in the view would hold up the page. */
const MAX_DRAWN = 30_000;
const MAX_COUNTED = 20_000;
/** Alpha of positions in no province, of 255. */
const FAINT = 76;
/** Alpha, blue, green and red of pixels, in the order of ImageData read as 32 bits. */
const pixelColors = (points: PointsToDraw): Uint32Array =>
  Uint32Array.from(
    pointColors(points),
    ([red, green, blue], group) =>
      (((group === NO_PROVINCE ? FAINT : 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0,
  );

function paintPoints(context: CanvasRenderingContext2D, points: PointsToDraw, view: Window): void {
  const { offsets, groups } = points;
  const colors = pixelColors(points);
  const ratio = devicePixelRatio;
  const width = Math.round(view.widthPx * ratio);
  const height = Math.round(view.heightPx * ratio);
  if (width === 0 || height === 0) return;
  const picture = new ImageData(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  const scale = view.worldPx * ratio;
  const left = (ANCHOR.x - view.x) * scale + width / 2;
  const top = (ANCHOR.y - view.y) * scale + height / 2;
  const side = Math.round((groups.length > 100_000 ? 2 : groups.length > 5000 ? 3 : 6) * ratio);
  const isShown = (x: number, y: number): boolean =>
    x >= 0 && y >= 0 && x + side <= width && y + side <= height;
  // The number of points in the view is estimated from a sample: testing each of a million would hold up the page.
  const stride = Math.ceil(groups.length / MAX_COUNTED) || 1;
  let shown = 0;
  for (let i = 0; i < groups.length; i += stride)
    if (isShown(left + offsets[2 * i]! * scale, top + offsets[2 * i + 1]! * scale)) shown += stride;
  // If there are too many, every second, third, … is drawn: they overlap anyway.
  const step = Math.ceil(shown / MAX_DRAWN) || 1;
  for (let i = 0; i < groups.length; i += step) {
    const x = Math.round(left + offsets[2 * i]! * scale - side / 2);
    const y = Math.round(top + offsets[2 * i + 1]! * scale - side / 2);
    if (!isShown(x, y)) continue;
    const color = colors[Math.min(groups[i]!, NO_PROVINCE)]!;
    for (let row = y; row < y + side; row++)
      for (let at = row * width + x; at < row * width + x + side; at++) pixels[at] = color;
  }
  const layer = new OffscreenCanvas(width, height);
  layer.getContext('2d')?.putImageData(picture, 0, 0);
  context.drawImage(layer, 0, 0, view.widthPx, view.heightPx);
}

/** Draws the hexagons one by one: a path of thousands of them takes a canvas far longer. */
function paintCounts(
  context: CanvasRenderingContext2D,
  { corners, ends, classes }: Counted,
  { x, y, worldPx, widthPx, heightPx }: Window,
  { levels, ground }: Palette,
): void {
  const left = (ANCHOR.x - x) * worldPx + widthPx / 2;
  const top = (ANCHOR.y - y) * worldPx + heightPx / 2;
  context.strokeStyle = ground;
  context.lineWidth = WIDTHS.thin;
  let corner = 0;
  ends.forEach((end, hexagon) => {
    context.beginPath();
    for (; corner < end; corner++)
      context.lineTo(left + corners[2 * corner]! * worldPx, top + corners[2 * corner + 1]! * worldPx);
    context.closePath();
    context.fillStyle = levels[classes[hexagon]!]!;
    context.globalAlpha = COUNT_OPACITY;
    context.fill();
    context.globalAlpha = 0.6;
    context.stroke();
  });
  context.globalAlpha = 1;
}

interface Moves {
  /** In pixels. */
  move(dx: number, dy: number): void;
  /** Zooms by a factor, around a position on the canvas; its middle if absent. */
  zoom(factor: number, x?: number, y?: number): void;
  choose(x: number, y: number): void;
  /** Chooses the middle of the map, or what is nearest to it. */
  chooseMiddle(): void;
}

/** Longest movement of a finger that counts as a tap. */
const TAP_PX = 5;
const KEY_STEP_PX = 80;

function listenForMoves(canvas: HTMLCanvasElement, moves: Moves): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let travelled = 0;

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 0) travelled = 0;
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.offsetX, y: event.offsetY };
    fingers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      if (travelled > TAP_PX) moves.move(now.x - before.x, now.y - before.y);
      return;
    }
    const apart = (from: typeof now): number => Math.hypot(from.x - other.x, from.y - other.y) || 1;
    moves.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  });
  const lift = (event: PointerEvent): void => {
    const wasTap = event.type === 'pointerup' && fingers.size === 1 && travelled <= TAP_PX;
    fingers.delete(event.pointerId);
    if (wasTap) moves.choose(event.offsetX, event.offsetY);
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      moves.zoom(2 ** (-event.deltaY / 300), event.offsetX, event.offsetY);
    },
    { passive: false },
  );
  canvas.addEventListener('keydown', (event) => {
    const step: Record<string, () => void> = {
      ArrowLeft: () => moves.move(KEY_STEP_PX, 0),
      ArrowRight: () => moves.move(-KEY_STEP_PX, 0),
      ArrowUp: () => moves.move(0, KEY_STEP_PX),
      ArrowDown: () => moves.move(0, -KEY_STEP_PX),
      '+': () => moves.zoom(2),
      '=': () => moves.zoom(2),
      '-': () => moves.zoom(0.5),
      Enter: () => moves.chooseMiddle(),
    };
    const run = step[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
}

/** Width of the world in pixels. */
const MIN_WORLD_PX = 512 * 2 ** 3;
const MAX_WORLD_PX = 512 * 2 ** 21.5;

const lngOf = (x: number): number => x * 360 - 180;
const latOf = (y: number): number => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI;

export interface FlatMap extends MapView {
  /** The view, as MapLibre has it. */
  camera(): { center: [lng: number, lat: number]; zoom: number };
  /** Shows that no other map follows. */
  stay(): void;
  /** Takes it off the page. @returns whether it had the focus */
  close(): boolean;
}

export function openFlatMap(host: HTMLElement, desk: Desk, shapes: Shapes): FlatMap {
  const canvas = element('canvas', {
    class: 'flat-map',
    label: 'map',
    tabindex: '0',
    role: 'region',
    'aria-describedby': 'map-hint',
  });
  host.append(canvas);
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const labels = new Labels(host, desk, shapes.labels, false);
  /** The size is kept: querying the canvas for each corner would take longer than drawing. */
  const size = { width: canvas.clientWidth, height: canvas.clientHeight };
  const view = { x: 0.5, y: 0.5, worldPx: MIN_WORLD_PX };
  let grid: Polygons['features'] = [];

  const project = (lng: number, lat: number): { x: number; y: number } => ({
    x: (mercatorX(lng) - view.x) * view.worldPx + size.width / 2,
    y: (mercatorY(lat) - view.y) * view.worldPx + size.height / 2,
  });
  const positionAt = (x: number, y: number): { lat: number; lng: number } => ({
    lng: lngOf(view.x + (x - size.width / 2) / view.worldPx),
    lat: latOf(view.y + (y - size.height / 2) / view.worldPx),
  });
  const bounds = (): Box => {
    const { lng: west, lat: north } = positionAt(0, 0);
    const { lng: east, lat: south } = positionAt(size.width, size.height);
    return { west, south, east, north };
  };
  const gridResolution = (): number => drawnResolution(view.worldPx, latOf(view.y));

  const pathAlong = (rings: readonly Ring[]): Path2D => {
    const path = new Path2D();
    for (const ring of rings) {
      ring.forEach(([lng, lat], i) => {
        const { x, y } = project(lng, lat);
        if (i === 0) path.moveTo(x, y);
        else path.lineTo(x, y);
      });
      path.closePath();
    }
    return path;
  };

  const provinces = shapes.provinces.map(({ coordinates }) => new Outline(coordinates.flat(), true));
  const sea = new Outline(shapes.sea, true);
  const levels = [...new Set(shapes.rivers.map(({ level }) => level))];
  const rivers = levels.map((level) => {
    const lines = shapes.rivers.filter((river) => river.level === level).map(({ line }) => line);
    return { level, outline: new Outline(lines, false) };
  });

  const draw = (): void => {
    const palette = paletteOf(isDark.now);
    const ratio = devicePixelRatio;
    const { width, height } = size;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    context.scale(ratio, ratio);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    const { x: left, y: top } = project(SHEET.west, SHEET.north);
    const { x: right, y: bottom } = project(SHEET.east, SHEET.south);
    context.fillStyle = palette.land;
    context.fillRect(left, top, right - left, bottom - top);
    const window: Window = { ...view, widthPx: width, heightPx: height };
    const pathOf = (outline: Outline): Path2D => {
      const path = new Path2D();
      outline.draw(path, window);
      return path;
    };
    const areas = provinces.map(pathOf);
    areas.forEach((path, admin) => {
      fill(context, path, palette.provinces[(shapes.colors[admin] ?? 0) % palette.provinces.length]!);
    });
    for (const path of areas) stroke(context, path, palette.border, WIDTHS.thin);
    for (const { level, outline } of rivers)
      stroke(context, pathOf(outline), palette.river, 1.8 - 0.25 * level);
    const water = pathOf(sea);
    fill(context, water, palette.sea);
    stroke(context, water, palette.coast, WIDTHS.middle);
    context.setLineDash([3, 4]);
    for (const path of areas) stroke(context, path, palette.limit, WIDTHS.thin, 0.7);
    context.setLineDash([]);
    const { layers, counts } = desk;
    const hexagons = layers.now.grid ? grid.flatMap(({ geometry }) => geometry.coordinates) : [];
    stroke(context, pathAlong(hexagons), palette.grid, WIDTHS.thin, 0.45);
    const counted = counts.now?.counted;
    if (counted !== undefined) paintCounts(context, counted, window, palette);
    host.dataset.counts = String(counted?.ends.length ?? 0);
    const beyond = new Path2D();
    beyond.rect(0, 0, width, height);
    beyond.rect(left, top, right - left, bottom - top);
    fill(context, beyond, palette.ground);
    const points = desk.points.now;
    if (points !== undefined && layers.now.points) paintPoints(context, points, window);
    host.dataset.points = String(points?.groups.length ?? 0);
    const placed = placeShapes(desk).features;
    drawPlace(palette, placed);
    labels.draw({
      project,
      positionAt,
      bounds: bounds(),
      worldPx: view.worldPx,
      grid: layers.now.codes ? grid : [],
      gridResolution: gridResolution(),
      place: placed,
    });
  };

  const drawPlace = (
    { cell: color, parent, error, ground: edge }: Palette,
    placed: Polygons['features'],
  ): void => {
    const place = desk.place.now;
    host.dataset.place = place?.hexcodes ?? '';
    host.dataset.error = String(place?.accuracyM ?? '');
    if (place === undefined) return;
    for (const { geometry, properties } of placed) {
      const path = pathAlong(geometry.coordinates);
      if (properties.kind === 'parent') stroke(context, path, parent, WIDTHS.middle);
      else if (properties.kind === 'error') {
        fill(context, path, error, 0.12);
        stroke(context, path, error, WIDTHS.middle);
      } else fill(context, path, color, properties.kind === 'cell' ? 0.4 : 0.18);
      if (properties.kind === 'cell') stroke(context, path, color, WIDTHS.strong);
    }
    const { lat, lng } = place.from ?? place;
    drawDot(context, project(lng, lat), 5, color, edge);
  };

  /** No view leaves the sheet. */
  const keepOnSheet = (): void => {
    const [west, east] = [mercatorX(SHEET.west), mercatorX(SHEET.east)];
    const [north, south] = [mercatorY(SHEET.north), mercatorY(SHEET.south)];
    const least = Math.max(size.width / (east - west), size.height / (south - north));
    view.worldPx = Math.min(MAX_WORLD_PX, Math.max(MIN_WORLD_PX, least, view.worldPx));
    const [halfX, halfY] = [size.width / 2 / view.worldPx, size.height / 2 / view.worldPx];
    view.x = Math.min(east - halfX, Math.max(west + halfX, view.x));
    view.y = Math.min(south - halfY, Math.max(north + halfY, view.y));
  };

  const moved: (() => void)[] = [];
  let isDue = false;
  let isClosed = false;
  const redraw = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (isClosed) return;
      keepOnSheet();
      const { grid: isDrawn, codes } = desk.layers.now;
      grid = isDrawn || codes ? gridOf(desk.library, bounds(), gridResolution()).features : [];
      host.dataset.grid = String(gridResolution());
      host.dataset.view = [view.x, view.y, Math.log2(view.worldPx)].map((n) => n.toFixed(4)).join();
      draw();
      host.dataset.first = '';
      for (const listener of moved) listener();
    });
  };
  const showBox = ({ west, south, east, north }: Box): void => {
    const [x0, x1, y0, y1] = [mercatorX(west), mercatorX(east), mercatorY(north), mercatorY(south)];
    view.x = (x0 + x1) / 2;
    view.y = (y0 + y1) / 2;
    const fitting = Math.min(size.width / (x1 - x0), size.height / (y1 - y0));
    view.worldPx = Math.min(MAX_WORLD_PX, Math.max(MIN_WORLD_PX, fitting * 0.92));
    redraw();
  };
  const zoomAt = (factor: number, x = size.width / 2, y = size.height / 2): void => {
    const fixed = positionAt(x, y);
    view.worldPx = Math.min(MAX_WORLD_PX, Math.max(MIN_WORLD_PX, view.worldPx * factor));
    view.x = mercatorX(fixed.lng) - (x - size.width / 2) / view.worldPx;
    view.y = mercatorY(fixed.lat) - (y - size.height / 2) / view.worldPx;
    redraw();
  };

  const chooseAt = ({ lat, lng }: { lat: number; lng: number }): void =>
    chooseOnMap(desk, lat, lng, gridResolution(), pixelM(view.worldPx, lat));
  listenForMoves(canvas, {
    move: (dx, dy) => {
      view.x -= dx / view.worldPx;
      view.y -= dy / view.worldPx;
      redraw();
    },
    zoom: zoomAt,
    choose: (x, y) => chooseAt(positionAt(x, y)),
    chooseMiddle: () => {
      const middle = positionAt(size.width / 2, size.height / 2);
      chooseAt(nearestWithCode(desk.library, middle, grid) ?? middle);
    },
  });
  const resizes = new ResizeObserver(() => {
    Object.assign(size, { width: canvas.clientWidth, height: canvas.clientHeight });
    redraw();
  });
  resizes.observe(canvas);
  const { place, rings, points, layers, counts } = desk;
  const ends = [isDark, language, place, rings, points, layers, counts, chosenResolution, h3].map((value) =>
    (value as { on(l: () => void): () => void }).on(redraw),
  );
  showBox(COUNTRY);
  return {
    camera: () => ({ center: [lngOf(view.x), latOf(view.y)], zoom: Math.log2(view.worldPx / 512) }),
    stay: () => {
      const note = element('p', { class: 'map-note', key: 'noWebgl' });
      host.append(note);
      // The note would otherwise cover the map permanently.
      setTimeout(() => note.remove(), NOTE_MS);
    },
    close: () => {
      const hadFocus = canvas === document.activeElement;
      isClosed = true;
      for (const end of ends) end();
      resizes.disconnect();
      labels.close();
      canvas.remove();
      delete host.dataset.view;
      return hadFocus;
    },
    center: () => positionAt(size.width / 2, size.height / 2),
    bounds,
    project,
    positionAt,
    onMove: (listener) => void moved.push(listener),
    gridResolution,
    show: (place) => showBox(boxAround(place, desk.rings.now)),
    showBox,
    zoomBy: (levels) => zoomAt(2 ** levels),
  };
}
