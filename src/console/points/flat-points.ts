// Draws a file's points where WebGL is missing: into the pixels of a picture, which is then laid over the map.
import { ANCHOR, type PointsToDraw, provinceColor } from './drawn-points.js';

/** The part of the map that is shown. */
export interface FlatView {
  /** Middle in Web Mercator, 0 to 1. */
  readonly x: number;
  readonly y: number;
  /** Width of the world, and sizes of the map, in CSS pixels. */
  readonly worldPx: number;
  readonly widthPx: number;
  readonly heightPx: number;
}

const NO_PROVINCE = 34;
/** More points in the view would hold up the page. */
const MOST_DRAWN = 100_000;
/** Alpha of positions in no province, of 255. */
const FAINT = 76;
/** Alpha, blue, green and red of a pixel, in the order of ImageData read as 32 bits. */
const COLORS = Uint32Array.from({ length: NO_PROVINCE + 1 }, (_, admin) => {
  const [red, green, blue] = provinceColor(admin);
  return (((admin === NO_PROVINCE ? FAINT : 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});

export function paintPoints(context: CanvasRenderingContext2D, points: PointsToDraw, view: FlatView): void {
  const { offsets, admins } = points;
  const ratio = devicePixelRatio;
  const width = Math.round(view.widthPx * ratio);
  const height = Math.round(view.heightPx * ratio);
  if (width === 0 || height === 0) return;
  const picture = new ImageData(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  const scale = view.worldPx * ratio;
  const left = (ANCHOR.x - view.x) * scale + width / 2;
  const top = (ANCHOR.y - view.y) * scale + height / 2;
  const side = Math.round((admins.length > 100_000 ? 2 : admins.length > 5000 ? 3 : 6) * ratio);
  const isShown = (x: number, y: number): boolean =>
    x >= 0 && y >= 0 && x + side <= width && y + side <= height;
  let shown = 0;
  for (let i = 0; i < admins.length; i++)
    if (isShown(left + offsets[2 * i]! * scale, top + offsets[2 * i + 1]! * scale)) shown++;
  // Every second, third, … is drawn of too many: they lie over one another.
  const step = Math.ceil(shown / MOST_DRAWN) || 1;
  for (let i = 0; i < admins.length; i += step) {
    const x = Math.round(left + offsets[2 * i]! * scale - side / 2);
    const y = Math.round(top + offsets[2 * i + 1]! * scale - side / 2);
    if (!isShown(x, y)) continue;
    const color = COLORS[Math.min(admins[i]!, NO_PROVINCE)]!;
    for (let row = y; row < y + side; row++)
      for (let at = row * width + x; at < row * width + x + side; at++) pixels[at] = color;
  }
  const layer = new OffscreenCanvas(width, height);
  layer.getContext('2d')?.putImageData(picture, 0, 0);
  context.drawImage(layer, 0, 0, view.widthPx, view.heightPx);
}
