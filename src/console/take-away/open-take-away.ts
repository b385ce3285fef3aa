// The content of the panel for downloads and print: the hexagons of the view as a file, a sheet of A4 with the
// hexagons around the place, and a card for its door. Sheet and card are shown first, then printed or saved.

import { type Box, codesWithin, estimatedCells, stripsOf } from '../../hexcodes/geometry/cover.js';
import { cellFeature } from '../../hexcodes/geometry/geojson.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Desk } from '../desk.js';
import { ADDRESS, linkTo } from '../place/copy.js';
import type { Place } from '../place/place.js';
import { download, element } from '../shell/elements.js';
import { language, number, say } from '../words/language.js';
import { takeAwayTexts } from '../words/take-away-texts.js';
import { addTexts } from '../words/texts.js';
import { doorplate, gridSheet, svgFile } from './papers.js';

// The hexagons of what the map shows, as a file of GeoJSON.

/** Most hexagons in a file: some 25 MB. */
export const MAX_CELLS = 50_000;

export type ViewGrid =
  | { readonly kind: 'file'; readonly file: Blob; readonly cells: number }
  | { readonly kind: 'tooMany'; readonly estimate: number };

/** Works a few milliseconds at a time. @param progress is called with the part that is done, 0 to 1 */
export async function viewGrid(
  library: Hexcodes,
  box: Box,
  resolution: number,
  progress: (part: number) => void,
): Promise<ViewGrid> {
  const estimate = estimatedCells(box, resolution);
  // Far beyond the bound nothing is tried; near it cells abroad, which have no codes, do not count.
  if (estimate > 4 * MAX_CELLS) return { kind: 'tooMany', estimate };
  const parts: string[] = [];
  let cells = 0;
  let strips = 0;
  const all = stripsOf(box, resolution);
  for (const codes of codesWithin(library, box, resolution)) {
    cells += codes.length;
    if (cells > MAX_CELLS) return { kind: 'tooMany', estimate };
    for (const code of codes) parts.push(JSON.stringify(cellFeature(library, code)));
    progress(++strips / all);
    await new Promise((resolve) => setTimeout(resolve));
  }
  const text = ['{"type":"FeatureCollection","features":[\n', parts.join(',\n'), '\n]}\n'];
  return { kind: 'file', file: new Blob(text, { type: 'application/geo+json' }), cells };
}

addTexts(takeAwayTexts);

/** Rings of hexagons on the sheet: 91 hexagons, whose codes are still legible. */
const SHEET_RINGS = 5;

export function openTakeAway(host: HTMLElement, desk: Desk): void {
  const redraw = (): void => {
    // The line that the owner has typed outlives a click on the map.
    const typed = host.querySelector<HTMLInputElement>('#doorplate-line')?.value;
    host.replaceChildren(...gridPart(desk), ...printPart(desk.place.now));
    const line = host.querySelector<HTMLInputElement>('#doorplate-line');
    if (line !== null && typed !== undefined) line.value = typed;
  };
  const printPart = (place: Place | undefined): HTMLElement[] =>
    place === undefined ? [element('p', { class: 'soft', key: 'printNeedsPlace' })] : printParts(desk, place);
  desk.place.each(redraw);
  language.on(redraw);
}

function gridPart(desk: Desk): HTMLElement[] {
  const choice = element(
    'select',
    { id: 'grid-resolution' },
    element('option', { key: 'gridAsMap', attributes: { value: '' } }),
    ...Array.from({ length: 16 }, (_, resolution) => element('option', { text: String(resolution) })),
  );
  const status = element('p', { class: 'soft', id: 'grid-status', attributes: { role: 'status' } });
  const button = element('button', {
    key: 'gridDownload',
    id: 'grid-download',
    click: async () => {
      const map = desk.map.now;
      if (map === undefined) {
        status.textContent = say('gridNeedsMap');
        return;
      }
      button.disabled = true;
      const resolution = choice.value === '' ? map.gridResolution() : Number(choice.value);
      const grid = await viewGrid(desk.library, map.bounds(), resolution, (part) => {
        status.textContent = say('gridProgress', { percent: Math.floor(part * 100) });
      });
      button.disabled = false;
      if (grid.kind === 'file') {
        status.textContent = say('gridDone', { cells: number(grid.cells), resolution });
        download(grid.file, `hexcodes-grid-${resolution}.geojson`);
      } else {
        status.textContent = say('gridTooMany', {
          most: number(MAX_CELLS),
          cells: number(grid.estimate),
          resolution,
        });
      }
    },
  });
  return [
    element('h2', { key: 'gridTitle' }),
    element('p', { class: 'soft', key: 'gridHint' }),
    element('label', { key: 'gridResolution', attributes: { for: 'grid-resolution' } }),
    choice,
    button,
    status,
  ];
}

function printParts(desk: Desk, place: Place): HTMLElement[] {
  const link = linkTo(place.hexcodes);
  const line = element('input', {
    id: 'doorplate-line',
    attributes: { type: 'text', maxlength: '60', autocomplete: 'off' },
  });
  const button = (key: 'sheet' | 'doorplate', make: () => SVGSVGElement): HTMLElement =>
    element('button', {
      key,
      id: `print-${key}`,
      click: () => preview(make(), `${place.hexcodes}-${key}.svg`),
    });
  return [
    element('h2', { text: say('printTitle', { code: place.hexcodes }) }),
    ...(isLocal(location.hostname)
      ? [element('p', { class: 'note', text: say('qrLocal', { host: location.host }) })]
      : []),
    element('p', { class: 'soft', key: 'sheetHint' }),
    button('sheet', () => gridSheet(desk.library, place, SHEET_RINGS, link)),
    element('label', { key: 'doorplateLine', attributes: { for: 'doorplate-line' } }),
    line,
    button('doorplate', () => doorplate(place, line.value.trim(), link, ADDRESS)),
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
  const made = element('div', { class: `paper paper-${kind}`, attributes: { 'aria-hidden': 'true' } });
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
  const button = (key: 'print' | 'save' | 'close', click: () => void): HTMLElement =>
    element('button', { key, class: key === 'print' ? 'strong' : '', click });
  const dialog = element(
    'dialog',
    { class: 'preview', label: 'preview' },
    element(
      'div',
      { class: 'preview-buttons' },
      button('print', () => window.print()),
      button('save', () => download(svgFile(picture), fileName)),
      button('close', () => dialog.close()),
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
