// A card for a door or a gate: the code of the place in large letters, where to type it, and its QR code.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Place } from '../place/place.js';
import { say } from '../words/language.js';
import { qrCode, svg } from './svg.js';

/** Width of A6 across, millimetres. */
const WIDTH = 148;
const HEIGHT = 105;
const QR = 46;
const MARGIN = 9;

/** Letters of the owner's line that are large enough in one row, and the height of a row. */
const MAX_LETTERS = 24;
const LINE = 7;

const GREEN = '#0b6e5f';
const INK = '#17211f';
const SANS = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
/** Width of a letter of the code, as a part of its size. */
const LETTER = 0.602;

/** A line that would be too small is cut in two where a word ends nearest to its middle. */
function inLines(line: string): string[] {
  if (line.length <= MAX_LETTERS) return [line];
  const blanks = [...line.matchAll(/ /g)].map(({ index }) => index);
  const far = (at: number): number => Math.abs(at - line.length / 2);
  const cut = blanks.sort((a, b) => far(a) - far(b))[0];
  return cut === undefined ? [line] : [line.slice(0, cut), line.slice(cut + 1)];
}

/**
 * @param line of the owner: a name, a street and number; may be ''
 * @param address of the page, as one types it
 */
export function doorplate(place: Place, line: string, link: string, address: string): SVGSVGElement {
  const unit = ADMIN_UNITS.find(({ code }) => code === place.admin_code);
  const inside = WIDTH - 2 * MARGIN - 6;
  const text = (y: number, size: number, content: string, more = {}): SVGTextElement =>
    svg('text', { x: MARGIN + 3, y, 'font-size': size, 'font-family': SANS, fill: INK, ...more }, content);
  const lines = inLines(line.slice(0, 60));
  const longest = Math.max(1, ...lines.map(({ length }) => length));
  const width = WIDTH - QR - 3 * MARGIN;
  return svg(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: 'doorplate',
      role: 'img',
      'aria-label': say('doorplateOf', { code: place.hexcodes }),
    },
    svg('rect', { width: WIDTH, height: HEIGHT, fill: '#fff' }),
    svg('rect', {
      x: 4,
      y: 4,
      width: WIDTH - 8,
      height: HEIGHT - 8,
      rx: 5,
      fill: 'none',
      stroke: GREEN,
      'stroke-width': 1.6,
    }),
    text(31, Math.min(20, inside / (LETTER * place.hexcodes.length)), place.hexcodes, {
      'font-family': MONO,
      'font-weight': 700,
      class: 'doorplate-code',
    }),
    ...lines.map((each, i) =>
      text(52 - (lines.length - 1 - i) * LINE, Math.min(7.5, width / (0.62 * longest)), each, {
        'font-weight': 600,
      }),
    ),
    text(62, 5.4, unit?.name ?? place.admin_code),
    text(70, 4, `${place.lat.toFixed(6)}, ${place.lng.toFixed(6)}`, { fill: '#55625f' }),
    text(81, 4, say('doorplateHint'), { fill: '#55625f' }),
    text(89, Math.min(6, width / (0.62 * address.length)), address, {
      'font-weight': 600,
      class: 'doorplate-address',
    }),
    qrCode(link, WIDTH - MARGIN - QR, HEIGHT - MARGIN - QR, QR),
  );
}
