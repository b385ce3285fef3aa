// Texts over the map: names of provinces, towns, landmarks and waters, the codes of the hexagons, that of the next
// larger one of a place, a scale bar, and the code under the mouse. Names are HTML; texts of cells are painted on a
// canvas.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { placeNames } from '../../hexcodes/library/places.js';
import type { Box, Desk, Polygons } from '../desk.js';
import { length } from '../place/around.js';
import { edgeM } from '../place/place.js';
import { element } from '../shell/elements.js';
import { isDark } from '../shell/switches.js';
import { language, say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import { middleOf, pixelM } from './features.js';
import { paletteOf } from './palette.js';
import type { Label } from './shapes.js';

/** The map as it is drawn now. */
export interface Drawn {
  project(lng: number, lat: number): { x: number; y: number };
  positionAt(x: number, y: number): { lat: number; lng: number };
  readonly bounds: Box;
  /** Width of the world, pixels. */
  readonly worldPx: number;
  readonly grid: Polygons['features'];
  readonly gridResolution: number;
  /** The shapes of the place that is chosen. */
  readonly place: Polygons['features'];
}

interface Name {
  readonly text: string;
  readonly kind: 'water' | 'province' | 'town' | 'landmark';
  readonly lng: number;
  readonly lat: number;
}

const AT_SEA: readonly { key: TextKey; lng: number; lat: number }[] = [
  { key: 'hoangSa', lng: 112.0, lat: 16.1 },
  { key: 'truongSa', lng: 114.2, lat: 9.2 },
  { key: 'eastSea', lng: 112.4, lat: 13.2 },
];
/** Cities of the country: their names have priority. */
const CITIES = ['HN', 'HCM', 'DNG', 'HP', 'CT', 'HUE'];

const HEIGHT_PX = 18;
/** Distance between two names, and between a name and the edge of the map. */
const GAP_PX = 6;
const EDGE_PX = 4;
/** Longest slide of a name; farther away it would be misplaced. */
const MAX_SLIDE_PX = 30;
/** From the left end of a name with a sign to the middle of the sign, and the width of all of the sign. */
const SIGN_MIDDLE_PX = 6.5;
const SIGN_PX = 15;
/** Scales in pixels for the world. */
const atZoom = (zoom: number): number => 512 * 2 ** zoom;
const TOWNS_FROM_PX = atZoom(5.6);
const LANDMARKS_FROM_PX = atZoom(11);
const MAX_NAMES = 70;
/** Names of provinces slide into view from here on, as their own position may be far. */
const SLIDING_FROM_PX = atZoom(7);
/** Parts of the view, across and down, where a name may slide to. */
const SLIDES = [0.5, 0.3, 0.7, 0.12, 0.88].flatMap((x) =>
  [0.14, 0.3, 0.72, 0.88].map((y) => [x, y] as const),
);
/** A larger hexagon narrower than this is not named. */
const MIN_PARENT_PX = 120;
const MAX_CODES = 900;
/** Shorter codes stay in one line. */
const MIN_CUT = 10;
/** The part of its hexagon that a code may fill, across. */
const CODE_PART = 0.85;
const CODE_FONT = '11px ui-monospace, Menlo, Consolas, monospace';
const CODE_HEIGHT_PX = 12;
/** Vertical shifts by which a code makes way for a name within its hexagon. */
const CODE_SHIFTS_PX = [0, 14, -14];
/** Half the side of the square that the sign of the place has. */
const PLACE_SIGN_PX = 8;
const MAX_SCALE_PX = 140;

/** Writes a text around a pixel. */
type Write = (text: string, x: number, y: number, color: string) => void;

/** A part of the map that has a text or a control, pixels. */
interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const around = (x: number, y: number, width: number, height: number): Area => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

const isFree = (area: Area, taken: readonly Area[], gap: number): boolean =>
  taken.every(
    ({ left, right, top, bottom }) =>
      area.left > right + gap || area.right < left - gap || area.top >= bottom || area.bottom <= top,
  );

const isWithin = ({ left, right, top, bottom }: Area, width: number, height: number): boolean =>
  left >= 0 && top >= 0 && right <= width && bottom <= height;

/** A code in two lines, cut after the hyphen next to its middle. */
function inTwo(code: string): string[] {
  const far = (at: number): number => Math.abs(at - code.length / 2);
  const cuts = [...code.matchAll(/-/g)].map(({ index }) => index + 1).sort((a, b) => far(a) - far(b));
  return [code.slice(0, cuts[0]), code.slice(cuts[0])];
}

export class Labels {
  readonly #box = element('div', { class: 'labels', 'aria-hidden': 'true' });
  readonly #codes = element('canvas', { class: 'map-codes', 'aria-hidden': 'true' });
  readonly #scale = element('div', { class: 'scale', id: 'scale' });
  readonly #hover = element('div', { class: 'hover-code code', 'aria-hidden': 'true' });
  readonly #nodes = new Map<string, HTMLElement>();
  readonly #ruler = document.createElement('canvas').getContext('2d');
  readonly #fonts = new Map<Name['kind'], { font: string; spacingPx: number }>();
  readonly #widths = new Map<string, number>();
  /** Areas where nothing more may be written. */
  #taken: Area[] = [];
  readonly #provinces: readonly (Name & { admin: number })[];
  readonly #named: readonly Name[];
  #drawn: Drawn | undefined;
  readonly #closing = new AbortController();
  /** Controls whose size is watched. */
  readonly #watched = new Set<Element>();
  readonly #resizes = new ResizeObserver(() => this.#drawn && this.draw(this.#drawn));

  /** @param hasBasemap whether the operator's map, which names towns, is there */
  constructor(
    private readonly host: HTMLElement,
    private readonly desk: Desk,
    labels: readonly Label[],
    hasBasemap: boolean,
  ) {
    const weight = ({ admin, space }: Label): number =>
      space + (CITIES.includes(ADMIN_UNITS[admin]?.code ?? '') ? 10 : 0);
    this.#provinces = [...labels]
      .sort((a, b) => weight(b) - weight(a))
      .map(({ admin, lng, lat }) => ({
        admin,
        text: ADMIN_UNITS[admin]?.name ?? '',
        kind: 'province',
        lng,
        lat,
      }));
    const kinds = hasBasemap ? [] : (['town', 'landmark'] as const);
    this.#named = kinds.flatMap((kind) =>
      placeNames()
        .filter((each) => each.kind === kind)
        .map(({ name, lng, lat }): Name => ({ text: name, kind, lng, lat })),
    );
    host.append(this.#codes, this.#box);
    host.parentElement?.append(this.#scale, this.#hover);
    const { signal } = this.#closing;
    const off = language.on(() => this.#drawn && this.draw(this.#drawn));
    signal.addEventListener('abort', off);
    host.addEventListener('pointermove', (event) => this.#showCode(event), { signal });
    host.addEventListener('pointerleave', () => this.#hover.classList.remove('is-shown'), { signal });
  }

  /** Takes all texts off the map. */
  close(): void {
    this.#closing.abort();
    this.#resizes.disconnect();
    for (const node of [this.#codes, this.#box, this.#scale, this.#hover]) node.remove();
  }

  /** Draws all texts for the map as it is now. */
  draw(drawn: Drawn): void {
    this.#drawn = drawn;
    this.#drawScale(drawn);
    this.#taken = this.#controls();
    this.#placeNames(drawn);
    this.#paintCodes(drawn);
  }

  /** The areas of controls and notes on the map, below which a name would not be read. */
  #controls(): Area[] {
    const frame = this.host.getBoundingClientRect();
    return [
      ...(this.host.parentElement?.querySelectorAll(
        '.scale, .map-buttons, .map-note, .inset, .legend, .layers',
      ) ?? []),
    ].map((node) => {
      // An observer calls back for each node that it is given.
      if (!this.#watched.has(node)) this.#resizes.observe(node);
      this.#watched.add(node);
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return {
        left: left - frame.left,
        right: right - frame.left,
        top: top - frame.top,
        bottom: bottom - frame.top,
      };
    });
  }

  #widthOf(text: string, kind: Name['kind']): number {
    const key = `${kind}/${text}`;
    let width = this.#widths.get(key);
    if (width === undefined) {
      const { font, spacingPx } = this.#fontOf(kind);
      const ruler = this.#ruler;
      if (ruler !== null) ruler.font = font;
      width = (ruler?.measureText(text).width ?? text.length * 7.5) + text.length * spacingPx;
      this.#widths.set(key, width);
    }
    return width;
  }

  /** The font that names of a kind are drawn in: style sheets of others reach them, too. */
  #fontOf(kind: Name['kind']): { font: string; spacingPx: number } {
    let font = this.#fonts.get(kind);
    if (font === undefined) {
      const node = element('span', { class: `label is-${kind}` });
      this.#box.append(node);
      const style = getComputedStyle(node);
      font = { font: style.font, spacingPx: Number.parseFloat(style.letterSpacing) || 0 };
      node.remove();
      this.#fonts.set(kind, font);
    }
    return font;
  }

  #placeNames({ project, worldPx, bounds }: Drawn): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    const texts = new Set<string>();
    const shown = new Set<string>();
    const show = ({ text, kind }: Name, x: number, y: number): void => {
      // A city is a town and a province: it is named once.
      const bare = text.replace(/^(?:TP\.|Thành phố) /, '');
      if (shown.size >= MAX_NAMES || texts.has(bare)) return;
      if (x < 0 || y < 0 || x > width || y > height) return;
      const hasSign = kind === 'town' || kind === 'landmark';
      const wide = this.#widthOf(text, kind) + (hasSign ? SIGN_PX : 0);
      // A sign stays in place, its name goes to the side with space; other names slide to where they fit.
      const isLeft = hasSign && x - SIGN_MIDDLE_PX + wide > width - EDGE_PX;
      const start = !hasSign ? x - wide / 2 : isLeft ? x + SIGN_MIDDLE_PX - wide : x - SIGN_MIDDLE_PX;
      const left = hasSign ? start : Math.max(EDGE_PX, Math.min(start, width - EDGE_PX - wide));
      const down = hasSign ? y : Math.max(HEIGHT_PX / 2, Math.min(y, height - HEIGHT_PX / 2));
      const area = around(left + wide / 2, down, wide, HEIGHT_PX);
      if (Math.abs(left - start) > MAX_SLIDE_PX) return;
      const isWhole = area.left >= 0 && area.right <= width && area.top >= -2 && area.bottom <= height + 2;
      if (!isWhole || !isFree(area, this.#taken, GAP_PX)) return;
      this.#taken.push(area);
      texts.add(bare);
      const key = `${kind}/${text}`;
      shown.add(key);
      const node = this.#nodeOf(key, text, kind);
      node.classList.toggle('is-left', isLeft);
      node.style.transform = `translate(${left.toFixed(1)}px, ${(down - HEIGHT_PX / 2).toFixed(1)}px)`;
    };
    for (const { key, lng, lat } of AT_SEA) {
      const { x, y } = project(lng, lat);
      const [text, short] = [say(key), say(key).replace(/^Quần đảo | \(.*\)$/g, '')];
      const before = shown.size;
      show({ text, kind: 'water', lng, lat }, x, y);
      // Small screens have room for the name alone.
      if (shown.size === before) show({ text: short, kind: 'water', lng, lat }, x, y);
    }
    for (const name of this.#provinces) {
      const { x, y } = project(name.lng, name.lat);
      show(name, x, y);
    }
    if (worldPx > SLIDING_FROM_PX) this.#slideIn(width, height, show);
    const isIn = ({ lng, lat }: Name): boolean =>
      lng >= bounds.west && lng <= bounds.east && lat >= bounds.south && lat <= bounds.north;
    for (const name of this.#named) {
      if (name.kind === 'town' ? worldPx < TOWNS_FROM_PX : worldPx < LANDMARKS_FROM_PX) continue;
      if (!isIn(name)) continue;
      const { x, y } = project(name.lng, name.lat);
      show(name, x, y);
    }
    for (const [key, node] of this.#nodes) {
      if (shown.has(key)) continue;
      node.remove();
      this.#nodes.delete(key);
    }
  }

  /** Provinces whose own position is out of view are named where the view has some of them. */
  #slideIn(width: number, height: number, show: (name: Name, x: number, y: number) => void): void {
    for (const [across, down] of SLIDES) {
      const [x, y] = [across * width, down * height];
      const { lat, lng } = this.#drawn!.positionAt(x, y);
      const code = this.desk.library.adminCodeOf(lat, lng);
      const name = this.#provinces.find(({ admin }) => ADMIN_UNITS[admin]?.code === code);
      if (name !== undefined) show(name, x, y);
    }
  }

  #nodeOf(key: string, text: string, kind: Name['kind']): HTMLElement {
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = element('span', { class: `label is-${kind}`, text });
      this.#nodes.set(key, node);
      this.#box.append(node);
    }
    return node;
  }

  /** The codes in the hexagons that hold them whole, and that of the next larger one at its upper edge. */
  #paintCodes(drawn: Drawn): void {
    const { project, grid, gridResolution, worldPx, bounds } = drawn;
    const { clientWidth: width, clientHeight: height } = this.host;
    const canvas = this.#codes;
    const ratio = devicePixelRatio;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.scale(ratio, ratio);
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    const palette = paletteOf(isDark.now);
    const write: Write = (text, x, y, color) => {
      context.strokeStyle = palette.ground;
      context.lineWidth = 3;
      context.strokeText(text, x, y);
      context.fillStyle = color;
      context.fillText(text, x, y);
    };
    const middleLat = (bounds.south + bounds.north) / 2;
    const wide = (1.9 * edgeM(gridResolution)) / pixelM(worldPx, middleLat);
    let codes = 0;
    const taken = this.#taken;
    const chosen = this.desk.place.now;
    if (chosen !== undefined) {
      const { lat, lng } = chosen.from ?? chosen;
      const { x, y } = project(lng, lat);
      taken.push(around(x, y, 2 * PLACE_SIGN_PX, 2 * PLACE_SIGN_PX));
    }
    this.#nameParent(drawn, context, write);
    context.font = CODE_FONT;
    const letterPx = context.measureText('0').width;
    for (const hexagon of grid) {
      if (codes >= MAX_CODES) break;
      const { lat, lng } = middleOf(hexagon);
      const { x, y } = project(lng, lat);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      if (this.desk.library.adminCodeOf(lat, lng) === null) continue;
      const code = this.desk.library.encode(lat, lng, gridResolution).hexcodes;
      const fits = (line: string): boolean => line.length * letterPx < wide * CODE_PART;
      const lines = fits(code) || code.length < MIN_CUT ? [code] : inTwo(code);
      if (!lines.every(fits)) continue;
      const codePx = Math.max(...lines.map((line) => line.length)) * letterPx;
      for (const shift of CODE_SHIFTS_PX) {
        const area = around(x, y + shift, codePx, lines.length * CODE_HEIGHT_PX);
        if (!isWithin(area, width, height) || !isFree(area, taken, 1)) continue;
        lines.forEach((line, i) => {
          write(line, x, area.top + (i + 0.5) * CODE_HEIGHT_PX, palette.grid);
        });
        taken.push(area);
        codes++;
        break;
      }
    }
    this.host.dataset.codes = String(codes);
  }

  /** Writes at a corner of the larger hexagon of the place what it is. */
  #nameParent({ project, place }: Drawn, context: CanvasRenderingContext2D, write: Write): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    const larger = place.find(({ properties }) => properties.kind === 'parent');
    const corners = (larger?.geometry.coordinates[0] ?? []).map(([lng, lat]) => project(lng, lat));
    const across = Math.max(...corners.map(({ x }) => x)) - Math.min(...corners.map(({ x }) => x));
    if (across < MIN_PARENT_PX || larger?.properties.code === undefined) return;
    context.font = `600 12px ${getComputedStyle(this.#box).fontFamily}`;
    const text = say('parentCell', { code: larger.properties.code });
    const textPx = context.measureText(text).width;
    const area = corners
      .filter(({ x, y }) => x > 0 && y > 10 && x < width && y < height - 10)
      .sort((a, b) => a.y - b.y)
      .map(({ x, y }) => {
        const most = width - EDGE_PX - textPx / 2;
        return around(Math.max(EDGE_PX + textPx / 2, Math.min(x, most)), y, textPx, CODE_HEIGHT_PX + 4);
      })
      .find((each) => isFree(each, this.#taken, GAP_PX));
    if (area === undefined) return;
    this.#taken.push(area);
    write(text, (area.left + area.right) / 2, (area.top + area.bottom) / 2, paletteOf(isDark.now).parent);
  }

  #drawScale({ worldPx, bounds }: Drawn): void {
    const metres = pixelM(worldPx, (bounds.south + bounds.north) / 2) * MAX_SCALE_PX;
    const power = 10 ** Math.floor(Math.log10(metres));
    const round = [5, 2, 1].find((each) => each * power <= metres) ?? 1;
    this.#scale.textContent = length(round * power);
    this.#scale.style.width = `${Math.round((round * power * MAX_SCALE_PX) / metres)}px`;
  }

  #showCode({ pointerType, clientX, clientY }: PointerEvent): void {
    const drawn = this.#drawn;
    if (pointerType !== 'mouse' || drawn === undefined) return;
    const { left, top } = this.host.getBoundingClientRect();
    const { lat, lng } = drawn.positionAt(clientX - left, clientY - top);
    const isOurs = Math.abs(lat) <= 90 && this.desk.library.adminCodeOf(lat, lng) !== null;
    this.#hover.classList.toggle('is-shown', isOurs);
    if (!isOurs) return;
    const count = this.desk.counts.now?.textAt(lat, lng);
    this.#hover.textContent = count ?? this.desk.library.encode(lat, lng, drawn.gridResolution).hexcodes;
  }
}
