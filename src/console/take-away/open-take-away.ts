// The content of the panel for downloads and print: the hexagons of the view as a file, a sheet of A4 with the
// hexagons around the place, and a card for its door. Sheet and card are shown first, then printed or saved.

import { encode } from 'uqr';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { boundary, edge, gridDisk } from '../../hexcodes/geometry/cells.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Desk } from '../desk.js';
import { ADDRESS, linkTo } from '../place/copy.js';
import type { Place } from '../place/place.js';
import { button, download, element, svg } from '../shell/elements.js';
import { number, say, tell } from '../words/language.js';
import { takeAwayTexts } from '../words/take-away-texts.js';
import { addTexts } from '../words/texts.js';
import { MAX_CELLS, viewGrid } from './view-grid.js';

// Two papers to print: a sheet of A4 with the hexagons around a place, their codes and a QR code, to be carried along;
// and a card for a door or a gate, with the code in large letters, where to type it, and its QR code.

const INK = '#17211f';
const SOFT = '#55625f';
const GREEN = '#0b6e5f';
const TINT = '#e3f1ee';
const SANS = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** Modules of quiet around a QR code (ISO/IEC 18004). */
const QUIET = 4;

/**
 * A QR code in black on white, its quiet zone included.
 * @param sizeMm of a side
 */
function qrCode(text: string, x: number, y: number, sizeMm: number): SVGGElement {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET });
  const path = data
    .flatMap((row, top) => row.map((isDark, left) => (isDark ? `M${left} ${top}h1v1h-1z` : '')))
    .join('');
  const scale = sizeMm / size;
  return svg(
    'g',
    { transform: `translate(${x} ${y}) scale(${scale})`, role: 'img', 'aria-label': text, class: 'qr' },
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: path, fill: '#000', 'shape-rendering': 'crispEdges' }),
  );
}

/** The picture as a file of its own. */
function svgFile(picture: SVGSVGElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(picture)], { type: 'image/svg+xml' });
}

/** A line of text at a place, millimetres. */
const text = (x: number, y: number, size: number, content: string, more = {}): SVGTextElement =>
  svg('text', { x, y, 'font-size': size, 'font-family': SANS, fill: INK, ...more }, content);

/** A white page of a size in millimetres. */
const page = (
  kind: 'sheet' | 'doorplate',
  { width, height }: typeof SHEET,
  label: string,
  ...content: Node[]
): SVGSVGElement =>
  svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: kind, role: 'img', 'aria-label': label },
    svg('rect', { width, height, fill: '#fff' }),
    ...content,
  );

const provinceName = ({ admin_code }: Place): string =>
  ADMIN_UNITS.find(({ code }) => code === admin_code)?.name ?? admin_code;

/** A4, millimetres. */
const SHEET = { width: 210, height: 297, margin: 14, qr: 34 };
/** The grid has a square below the head. */
const GRID_TOP = 64;
const GRID = SHEET.width - 2 * SHEET.margin;
/** Metres of one degree of latitude. */
const DEGREE_M = 111_195;

/** @param rings of hexagons around that of the place */
function gridSheet(library: Hexcodes, place: Place, rings: number, link: string): SVGSVGElement {
  const { width, height, margin, qr } = SHEET;
  const codes = gridDisk(library, place.hexcodes, rings);
  const shared = sharedGroups(codes);
  const metres = number(2 * edge(library, place.hexcodes), 1);
  return page(
    'sheet',
    SHEET,
    say('sheetOf', { code: place.hexcodes }),
    text(margin, 25, 9, place.hexcodes, { 'font-family': MONO, 'font-weight': 700, class: 'sheet-code' }),
    text(margin, 33, 4.6, provinceName(place), { fill: SOFT }),
    text(margin, 40, 4.2, `${place.lat.toFixed(6)}, ${place.lng.toFixed(6)}`, { fill: SOFT }),
    text(margin, 50, 4.2, shared === '' ? say('sheetWhole') : say('sheetShared', { groups: shared })),
    text(margin, 57, 4.2, say('sheetCells', { metres }), { fill: SOFT }),
    qrCode(link, width - margin - qr, 14, qr),
    grid(library, place, codes, shared),
    text(margin, height - margin - 4, 3.2, link, { fill: SOFT, 'font-family': MONO }),
    text(margin, height - margin, 3.2, say('sheetCredit'), { fill: SOFT }),
  );
}

/** The groups that all codes begin with, their hyphens included, never a whole code. */
function sharedGroups(codes: readonly string[]): string {
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
  const place0 = SHEET.margin + GRID / 2;
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
        stroke: GREEN,
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

/** A6 across, millimetres. */
const PLATE = { width: 148, height: 105, margin: 9, qr: 46 };
/** Letters of the owner's line that are large enough in one row, and the height of a row. */
const MAX_LETTERS = 24;
const LINE = 7;

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
  const { width, height, margin, qr } = PLATE;
  const x = margin + 3;
  const lines = inLines(line.slice(0, 60));
  const longest = Math.max(1, ...lines.map(({ length }) => length));
  const beside = width - qr - 3 * margin;
  const codeSize = Math.min(20, (width - 2 * x) / (LETTER * place.hexcodes.length));
  const lineSize = Math.min(7.5, beside / (0.62 * longest));
  const addressSize = Math.min(6, beside / (0.62 * address.length));
  const frame = { x: 4, y: 4, width: width - 8, height: height - 8, rx: 5 };
  return page(
    'doorplate',
    PLATE,
    say('doorplateOf', { code: place.hexcodes }),
    svg('rect', { ...frame, fill: 'none', stroke: GREEN, 'stroke-width': 1.6 }),
    text(x, 31, codeSize, place.hexcodes, {
      'font-family': MONO,
      'font-weight': 700,
      class: 'doorplate-code',
    }),
    ...lines.map((each, i) =>
      text(x, 52 - (lines.length - 1 - i) * LINE, lineSize, each, { 'font-weight': 600 }),
    ),
    text(x, 62, 5.4, provinceName(place)),
    text(x, 70, 4, `${place.lat.toFixed(6)}, ${place.lng.toFixed(6)}`, { fill: SOFT }),
    text(x, 81, 4, say('doorplateHint'), { fill: SOFT }),
    text(x, 89, addressSize, address, { 'font-weight': 600, class: 'doorplate-address' }),
    qrCode(link, width - margin - qr, height - margin - qr, qr),
  );
}

addTexts(takeAwayTexts);

/** Rings of hexagons on the sheet: 91 hexagons, whose codes are still legible. */
const SHEET_RINGS = 5;

export function openTakeAway(host: HTMLElement, desk: Desk): void {
  // The choices and the line of the visitor outlive a click on the map.
  const line = element('input', { id: 'doorplate-line', type: 'text', maxlength: '60', autocomplete: 'off' });
  const print = element('div', { class: 'print-part' });
  host.append(...gridPart(desk), print);
  desk.place.each((place) =>
    print.replaceChildren(
      ...(place === undefined
        ? [element('p', { class: 'soft', key: 'printNeedsPlace' })]
        : printParts(desk, place, line)),
    ),
  );
}

function gridPart(desk: Desk): HTMLElement[] {
  const choice = element(
    'select',
    { id: 'grid-resolution' },
    element('option', { key: 'gridAsMap', value: '' }),
    ...Array.from({ length: 16 }, (_, resolution) => element('option', { text: String(resolution) })),
  );
  const status = element('p', { class: 'soft', id: 'grid-status', role: 'status' });
  const make = button('gridDownload', { id: 'grid-download' }, async () => {
    const map = desk.map.now;
    if (map === undefined) {
      tell(status, () => say('gridNeedsMap'));
      return;
    }
    make.disabled = true;
    const resolution = choice.value === '' ? map.gridResolution() : Number(choice.value);
    const grid = await viewGrid(desk.library, map.bounds(), resolution, (part) => {
      tell(status, () => say('gridProgress', { percent: Math.floor(part * 100) }));
    });
    make.disabled = false;
    if (grid.kind === 'file') {
      tell(status, () => say('gridDone', { cells: number(grid.cells), resolution }));
      download(grid.file, `hexcodes-grid-${resolution}.geojson`);
    } else {
      const { estimate } = grid;
      tell(status, () =>
        say('gridTooMany', { most: number(MAX_CELLS), cells: number(estimate), resolution }),
      );
    }
  });
  return [
    element('h2', { key: 'gridTitle' }),
    element('p', { class: 'soft', key: 'gridHint' }),
    element('label', { key: 'gridResolution', for: 'grid-resolution' }),
    choice,
    make,
    status,
  ];
}

function printParts(desk: Desk, place: Place, line: HTMLInputElement): HTMLElement[] {
  const link = linkTo(place.hexcodes);
  const printing = (key: 'sheet' | 'doorplate', make: () => SVGSVGElement): HTMLElement =>
    button(key, { id: `print-${key}` }, () => preview(make(), `${place.hexcodes}-${key}.svg`));
  return [
    element('h2', { text: () => say('printTitle', { code: place.hexcodes }) }),
    ...(isLocal(location.hostname)
      ? [element('p', { class: 'note', text: () => say('qrLocal', { host: location.host }) })]
      : []),
    element('p', { class: 'soft', key: 'sheetHint' }),
    printing('sheet', () => gridSheet(desk.library, place, SHEET_RINGS, link)),
    element('label', { key: 'doorplateLine', for: 'doorplate-line' }),
    line,
    printing('doorplate', () => doorplate(place, line.value.trim(), link, ADDRESS)),
  ];
}

/** Whether only this machine knows the name. */
const isLocal = (host: string): boolean => /^(?:localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(host);

/**
 * A picture that is printed in place of the page. The dialog cannot be printed: the top layer does not set the size
 * of the paper.
 */
function paper(picture: SVGSVGElement): HTMLElement {
  const kind = picture.getAttribute('class') ?? '';
  const made = element('div', { class: `paper paper-${kind}`, 'aria-hidden': 'true' });
  made.append(picture);
  return made;
}

/** The page itself prints as the sheet of its place. */
export function openPrinting(desk: Desk): void {
  let sheet: HTMLElement | undefined;
  addEventListener('beforeprint', () => {
    const place = desk.place.now;
    if (place === undefined || document.querySelector('.paper') !== null) return;
    sheet = paper(gridSheet(desk.library, place, SHEET_RINGS, linkTo(place.hexcodes)));
    document.body.append(sheet);
  });
  addEventListener('afterprint', () => sheet?.remove());
}

/** Shows a picture, which is what is printed while it is shown. */
function preview(picture: SVGSVGElement, fileName: string): void {
  const dialog: HTMLDialogElement = element(
    'dialog',
    { class: 'preview', label: 'preview' },
    element(
      'div',
      { class: 'preview-buttons' },
      button('print', { class: 'strong' }, () => window.print()),
      button('save', {}, () => download(svgFile(picture), fileName)),
      button('close', {}, () => dialog.close()),
    ),
    element('div', { class: 'preview-page' }),
  );
  dialog.lastElementChild!.append(picture);
  const printed = paper(picture.cloneNode(true) as SVGSVGElement);
  dialog.addEventListener('close', () => {
    dialog.remove();
    printed.remove();
  });
  document.body.append(dialog, printed);
  dialog.showModal();
}
