// A sheet of A4 with the hexagons around a place, their codes, and a QR code of the place: to be printed and carried
// along.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { gridDisk } from '../../hexcodes/geometry/family.js';
import { boundary, edge } from '../../hexcodes/geometry/shape.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Place } from '../place/place.js';
import { number, say } from '../words/language.js';
import { qrCode, svg } from './svg.js';

/** Width of A4, millimetres. */
const WIDTH = 210;
const HEIGHT = 297;
const MARGIN = 14;
const QR = 34;
/** The grid has a square below the head. */
const GRID_TOP = 64;
const GRID = WIDTH - 2 * MARGIN;

const INK = '#17211f';
const SOFT = '#55625f';
const LINE = '#0b6e5f';
const TINT = '#e3f1ee';
const SANS = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** Metres of one degree of latitude. */
const DEGREE_M = 111_195;

/** @param rings of hexagons around that of the place */
export function gridSheet(library: Hexcodes, place: Place, rings: number, link: string): SVGSVGElement {
  const codes = gridDisk(library, place.hexcodes, rings);
  const shared = sharedGroups(codes);
  const unit = ADMIN_UNITS.find(({ code }) => code === place.admin_code);
  const text = (x: number, y: number, size: number, content: string, more = {}): SVGTextElement =>
    svg('text', { x, y, 'font-size': size, 'font-family': SANS, fill: INK, ...more }, content);
  return svg(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: 'sheet',
      role: 'img',
      'aria-label': say('sheetOf', { code: place.hexcodes }),
    },
    svg('rect', { width: WIDTH, height: HEIGHT, fill: '#fff' }),
    text(MARGIN, 25, 9, place.hexcodes, { 'font-family': MONO, 'font-weight': 700, class: 'sheet-code' }),
    text(MARGIN, 33, 4.6, unit?.name ?? place.admin_code, { fill: SOFT }),
    text(MARGIN, 40, 4.2, `${place.lat.toFixed(6)}, ${place.lng.toFixed(6)}`, { fill: SOFT }),
    text(MARGIN, 50, 4.2, shared === '' ? say('sheetWhole') : say('sheetShared', { groups: shared })),
    text(MARGIN, 57, 4.2, say('sheetCells', { metres: number(2 * edge(library, place.hexcodes), 1) }), {
      fill: SOFT,
    }),
    qrCode(link, WIDTH - MARGIN - QR, 14, QR),
    grid(library, place, codes, shared),
    text(MARGIN, HEIGHT - MARGIN - 4, 3.2, link, { fill: SOFT, 'font-family': MONO }),
    text(MARGIN, HEIGHT - MARGIN, 3.2, say('sheetCredit'), { fill: SOFT }),
  );
}

/** The groups that all codes begin with, their hyphens included, never a whole code. */
export function sharedGroups(codes: readonly string[]): string {
  const [first = ''] = codes;
  const groups = first.split('-');
  for (let count = groups.length - 1; count > 0; count--) {
    const beginning = `${groups.slice(0, count).join('-')}-`;
    if (codes.every((code) => code.startsWith(beginning))) return beginning;
  }
  return '';
}

/** The hexagons in a square, north up, as large as they fit. */
function grid(library: Hexcodes, place: Place, codes: readonly string[], shared: string): SVGGElement {
  const shrink = Math.cos((place.lat * Math.PI) / 180);
  const plane = ([lat, lng]: readonly [number, number]): [x: number, y: number] => [
    (lng - place.lng) * shrink * DEGREE_M,
    (place.lat - lat) * DEGREE_M,
  ];
  const shapes = codes.map((code) => boundary(library, code).map(plane));
  const reach = Math.max(...shapes.flat(2).map(Math.abs));
  const scale = GRID / 2 / reach;
  const place0 = MARGIN + GRID / 2;
  const drawn = codes.map((code, i) => {
    const corners = shapes[i]!.map(([x, y]): [number, number] => [
      place0 + x * scale,
      GRID_TOP + GRID / 2 + y * scale,
    ]);
    const middle = corners.reduce(
      ([sumX, sumY], [x, y]) => [sumX + x / corners.length, sumY + y / corners.length],
      [0, 0],
    );
    const widthMm = Math.max(...corners.map(([x]) => x)) - Math.min(...corners.map(([x]) => x));
    const label = code.startsWith(shared) ? code.slice(shared.length) : code;
    const isPlace = i === 0;
    return svg(
      'g',
      {},
      svg('polygon', {
        points: corners.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' '),
        fill: isPlace ? TINT : '#fff',
        stroke: LINE,
        'stroke-width': isPlace ? 0.7 : 0.25,
      }),
      svg(
        'text',
        {
          x: middle[0]!.toFixed(2),
          y: middle[1]!.toFixed(2),
          'font-size': Math.min(5, (1.2 * widthMm) / Math.max(4, label.length)).toFixed(2),
          'font-family': MONO,
          'font-weight': isPlace ? 700 : 400,
          'text-anchor': 'middle',
          'dominant-baseline': 'central',
          fill: INK,
        },
        label,
      ),
    );
  });
  // The rim of the place is drawn over those of its neighbours.
  return svg('g', {}, ...drawn.slice(1), drawn[0]!);
}
