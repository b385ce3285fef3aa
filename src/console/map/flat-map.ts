// The map where WebGL is missing: the same shapes drawn on a canvas, to be dragged, zoomed and clicked.
import type { Box, Desk, MapView } from '../desk.js';
import { chooseAt } from '../place/choose.js';
import { paintPoints } from '../points/flat-points.js';
import { element } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { language, say } from '../words/language.js';
import { COUNTRY } from './controls.js';
import { boxAround, gridOf, gridResolutionAt, type Polygons, placeShapes } from './features.js';
import { listenForMoves } from './gestures.js';
import { Labels } from './labels.js';
import type { Ring } from './land.js';
import { paletteOf } from './palette.js';
import { SHEET, type Shapes } from './shapes.js';

/** Width of the world in pixels. */
const LEAST_WORLD_PX = 512 * 2 ** 3;
const MOST_WORLD_PX = 512 * 2 ** 21.5;

/** Web Mercator: 0 to 1 around the Earth, and from north to south. */
const mercatorX = (lng: number): number => (lng + 180) / 360;
const mercatorY = (lat: number): number => 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI);
const lngOf = (x: number): number => x * 360 - 180;
const latOf = (y: number): number => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI;

export function openFlatMap(host: HTMLElement, desk: Desk, shapes: Shapes): MapView {
  const canvas = element('canvas', {
    class: 'flat-map',
    label: 'map',
    attributes: { tabindex: '0', role: 'region', 'aria-describedby': 'map-hint' },
  });
  host.append(canvas);
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const labels = new Labels(host, shapes.labels);
  const view = { x: 0.5, y: 0.5, worldPx: LEAST_WORLD_PX };
  let grid: Polygons['features'] = [];

  const project = (lng: number, lat: number): { x: number; y: number } => ({
    x: (mercatorX(lng) - view.x) * view.worldPx + canvas.clientWidth / 2,
    y: (mercatorY(lat) - view.y) * view.worldPx + canvas.clientHeight / 2,
  });
  const positionAt = (x: number, y: number): { lat: number; lng: number } => ({
    lng: lngOf(view.x + (x - canvas.clientWidth / 2) / view.worldPx),
    lat: latOf(view.y + (y - canvas.clientHeight / 2) / view.worldPx),
  });
  const bounds = (): Box => {
    const { lng: west, lat: north } = positionAt(0, 0);
    const { lng: east, lat: south } = positionAt(canvas.clientWidth, canvas.clientHeight);
    return { west, south, east, north };
  };
  const gridResolution = (): number => gridResolutionAt(view.worldPx, latOf(view.y));

  const trace = (rings: readonly Ring[]): void => {
    context.beginPath();
    for (const ring of rings) {
      ring.forEach(([lng, lat], i) => {
        const { x, y } = project(lng, lat);
        if (i === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      });
      context.closePath();
    }
  };
  const fill = (rings: readonly Ring[], color: string, alpha = 1): void => {
    trace(rings);
    context.globalAlpha = alpha;
    context.fillStyle = color;
    context.fill('evenodd');
    context.globalAlpha = 1;
  };
  const stroke = (rings: readonly Ring[], color: string, width: number, alpha = 1): void => {
    trace(rings);
    context.globalAlpha = alpha;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
    context.globalAlpha = 1;
  };

  const draw = (): void => {
    const palette = paletteOf(isDark.now);
    const ratio = devicePixelRatio;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    context.scale(ratio, ratio);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    const { x: left, y: top } = project(SHEET.west, SHEET.north);
    const { x: right, y: bottom } = project(SHEET.east, SHEET.south);
    context.fillStyle = palette.land;
    context.fillRect(left, top, right - left, bottom - top);
    const provinces = shapes.provinces.map(({ coordinates }) => coordinates.flat());
    provinces.forEach((rings, admin) => {
      fill(rings, palette.provinces[(shapes.colors[admin] ?? 0) % palette.provinces.length] as string);
    });
    for (const rings of provinces) stroke(rings, palette.border, 0.9);
    fill(shapes.sea, palette.sea);
    stroke(shapes.sea, palette.coast, 0.8);
    context.setLineDash([3, 4]);
    for (const rings of provinces) stroke(rings, palette.limit, 0.8, 0.6);
    context.setLineDash([]);
    stroke(
      grid.flatMap(({ geometry }) => geometry.coordinates),
      palette.grid,
      0.7,
      0.35,
    );
    coverBeyond(left, top, right, bottom, palette.ground);
    const points = desk.points.now;
    if (points !== undefined) paintPoints(context, points, { ...view, widthPx: width, heightPx: height });
    host.dataset.points = String(points?.admins.length ?? 0);
    drawPlace(palette.cell, palette.ancestor, palette.ground);
    labels.place(project, view.worldPx);
  };

  const coverBeyond = (left: number, top: number, right: number, bottom: number, color: string): void => {
    context.beginPath();
    context.rect(0, 0, canvas.clientWidth, canvas.clientHeight);
    context.rect(left, top, right - left, bottom - top);
    context.fillStyle = color;
    context.fill('evenodd');
  };
  const drawPlace = (color: string, ancestorColor: string, edge: string): void => {
    const place = desk.place.now;
    host.dataset.place = place?.hexcodes ?? '';
    if (place === undefined) return;
    for (const { geometry, properties } of placeShapes(desk.library, place, desk.rings.now).features) {
      if (properties.kind === 'ancestor') stroke(geometry.coordinates, ancestorColor, 1.4, 0.75);
      else fill(geometry.coordinates, color, properties.kind === 'cell' ? 0.4 : 0.18);
      if (properties.kind === 'cell') stroke(geometry.coordinates, color, 2.5);
    }
    const { x, y } = project((place.from ?? place).lng, (place.from ?? place).lat);
    context.beginPath();
    context.arc(x, y, 5, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.strokeStyle = edge;
    context.lineWidth = 2;
    context.fill();
    context.stroke();
  };

  let isDue = false;
  const redraw = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      grid = gridOf(desk.library, bounds(), gridResolution()).features;
      host.dataset.grid = String(gridResolution());
      draw();
    });
  };
  const showBox = ({ west, south, east, north }: Box): void => {
    const [x0, x1, y0, y1] = [mercatorX(west), mercatorX(east), mercatorY(north), mercatorY(south)];
    view.x = (x0 + x1) / 2;
    view.y = (y0 + y1) / 2;
    const fitting = Math.min(canvas.clientWidth / (x1 - x0), canvas.clientHeight / (y1 - y0));
    view.worldPx = Math.min(MOST_WORLD_PX, Math.max(LEAST_WORLD_PX, fitting * 0.92));
    redraw();
  };
  const zoomAt = (factor: number, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2): void => {
    const fixed = positionAt(x, y);
    view.worldPx = Math.min(MOST_WORLD_PX, Math.max(LEAST_WORLD_PX, view.worldPx * factor));
    view.x = mercatorX(fixed.lng) - (x - canvas.clientWidth / 2) / view.worldPx;
    view.y = mercatorY(fixed.lat) - (y - canvas.clientHeight / 2) / view.worldPx;
    redraw();
  };

  listenForMoves(canvas, {
    move: (dx, dy) => {
      view.x -= dx / view.worldPx;
      view.y -= dy / view.worldPx;
      redraw();
    },
    zoom: zoomAt,
    choose: (x, y) => {
      const { lat, lng } = positionAt(x, y);
      chooseAt(desk, lat, lng);
    },
  });
  new ResizeObserver(redraw).observe(canvas);
  for (const value of [isDark, language, desk.place, desk.rings, desk.points])
    (value as { on(l: () => void): void }).on(redraw);
  host.append(element('p', { class: 'map-note', text: say('noWebgl') }));
  showBox(COUNTRY);
  return {
    center: () => positionAt(canvas.clientWidth / 2, canvas.clientHeight / 2),
    bounds,
    gridResolution,
    show: (place) => showBox(boxAround(desk.library, place, desk.rings.now)),
    showBox,
    zoomBy: (levels) => zoomAt(2 ** levels),
  };
}
