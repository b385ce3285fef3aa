// The small map of the country in a corner of the map, with a dot at the middle of the view and its province filled.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Box, Desk, MapView } from '../desk.js';
import { mercatorX, mercatorY } from '../points/drawn-points.js';
import { element } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { drawDot, fill, Outline, stroke } from './flat-outline.js';
import { paletteOf, WIDTHS } from './palette.js';
import type { Shapes } from './shapes.js';

/** The country with its archipelagos, degrees. */
const WHOLE: Box = { west: 101.5, south: 6, east: 118, north: 24 };
const WIDTH_PX = 88;
const DOT_PX = 4;

export interface Inset {
  show(isShown: boolean): void;
}

export function openInset(frame: HTMLElement, { library }: Desk, shapes: Shapes, map: MapView): Inset {
  const [west, east] = [mercatorX(WHOLE.west), mercatorX(WHOLE.east)];
  const [north, south] = [mercatorY(WHOLE.north), mercatorY(WHOLE.south)];
  const worldPx = WIDTH_PX / (east - west);
  const heightPx = Math.round((south - north) * worldPx);
  const canvas = element('canvas', { class: 'inset', 'aria-hidden': 'true' });
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  frame.append(canvas);
  const window = { x: (west + east) / 2, y: (north + south) / 2, worldPx, widthPx: WIDTH_PX, heightPx };
  const pathOf = (lines: ConstructorParameters<typeof Outline>[0]): Path2D => {
    const path = new Path2D();
    new Outline(lines, true).draw(path, window);
    return path;
  };
  const sea = pathOf(shapes.sea);
  const provinces = shapes.provinces.map(({ coordinates }) => pathOf(coordinates.flat()));

  const draw = (x: number, y: number, own: number): void => {
    const palette = paletteOf(isDark.now);
    canvas.width = WIDTH_PX * devicePixelRatio;
    canvas.height = heightPx * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
    context.fillStyle = palette.land;
    context.fillRect(0, 0, WIDTH_PX, heightPx);
    for (const path of provinces) fill(context, path, palette.cell, 0.4);
    if (own >= 0) fill(context, provinces[own]!, palette.cell);
    fill(context, sea, palette.sea);
    stroke(context, sea, palette.coast, WIDTHS.thin);
    drawDot(context, { x, y }, DOT_PX, palette.parent, palette.ground);
  };
  let drawn = '';
  const show = (isShown: boolean): void => {
    canvas.hidden = !isShown;
    if (!isShown) return;
    const { lat, lng } = map.center();
    const x = Math.round((mercatorX(lng) - west) * worldPx);
    const y = Math.round((mercatorY(lat) - north) * worldPx);
    const code = library.adminCodeOf(lat, lng);
    const state = [x, y, code, isDark.now].join();
    if (state === drawn) return;
    drawn = state;
    const own = ADMIN_UNITS.findIndex((unit) => unit.code === code);
    draw(x, y, own);
  };
  isDark.on(() => show(!canvas.hidden));
  return { show };
}
