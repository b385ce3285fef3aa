// The summary of a converted file: its downloads, and the rows by province, by failure and by reason.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { ROW_STATUSES, type RowStatus } from '../../hexcodes/wire/job.js';
import { provinceColor } from '../points/drawn-points.js';
import { button, download, element, toast } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { language, number, say } from '../words/language.js';
import { inVietnamese } from '../words/reasons.js';
import type { TextKey } from '../words/texts.js';
import { zoneCss } from '../zones/zone.js';
import type { FailedExample, FileNews, FileTally, WorkbookTask } from './messages.js';

type Done = Extract<FileNews, { readonly kind: 'done' }>;

/** A reader's sentence in the language of the page. */
export const reasonWords = (sentence: string): string =>
  language.now === 'vi' ? inVietnamese(sentence) : sentence;

const REASONS: Readonly<Partial<Record<RowStatus, TextKey>>> = {
  NOT_FOUND: 'rowNotFound',
  INVALID_REQUEST: 'rowInvalid',
  INVALID_HEXCODES: 'rowNoCode',
};

/** Name of the answer, and the separator of its fields. */
interface Answer {
  readonly name: string;
  readonly extension: string;
  readonly delimiter: string;
  /** Whether the input was a workbook, so that the output is one, too. */
  readonly isWorkbook: boolean;
  /** Rows above the header that were left out. */
  readonly titleRows: number;
  /** Names of the zones; empty where rows have none. */
  readonly zoneNames: readonly string[];
}

/** @param exchange converts again with latitude and longitude exchanged; undefined where they are not two columns */
export function summary(done: Done, answer: Answer, exchange: (() => void) | undefined): HTMLElement[] {
  const { tally, points } = done;
  const failed = tally.rows - tally.byStatus[0]!;
  const isDecode = tally.operation === 'decode';
  const isSwapped = tally.examples.length > 0 && tally.examples.every((example) => example.isSwapped);
  const parts: HTMLElement[] = [
    element('h2', {
      text: () => say(isDecode ? 'fileDecoded' : 'fileEncoded', { rows: number(tally.byStatus[0]!) }),
    }),
    ...(isSwapped ? swapped(exchange) : []),
    ...downloads(done, answer),
  ];
  if (failed > 0) parts.push(...failures(tally));
  if (done.failed.size > 0) {
    const save = (): void => download(done.failed, `${answer.name}-failed${answer.extension}`);
    parts.push(button('downloadFailed', { class: 'failed-download' }, save));
  }
  if (answer.titleRows > 0)
    parts.push(
      element('p', { class: 'soft', text: () => say('titlesLeft', { rows: number(answer.titleRows) }) }),
    );
  if (tally.prefix !== '')
    parts.push(element('p', { class: 'soft', text: () => say('prefixed', { prefix: tally.prefix }) }));
  if (points.left > 0)
    parts.push(
      element('p', { class: 'soft', text: () => say('pointsLeft', { points: number(points.left) }) }),
    );
  if (answer.zoneNames.length > 0) parts.push(zoneTable(tally, answer.zoneNames));
  // Swatches have the colours of the map.
  parts.push(...provinces(tally.byAdmin, answer.zoneNames.length === 0));
  return parts;
}

function swapped(exchange: (() => void) | undefined): HTMLElement[] {
  const note = element('p', { class: 'note', key: 'rowsSwapped' });
  if (exchange === undefined) return [note];
  return [note, button('exchange', { class: 'strong', id: 'file-exchange' }, exchange)];
}

/** The answer as it is; a table also as a workbook, which is made on request. */
function downloads(
  { answer, format, tally }: Done,
  { name, extension, delimiter, isWorkbook }: Answer,
): HTMLElement[] {
  // Several files have an answer each; only the first has the id.
  const id = (wanted: string): string | undefined =>
    document.getElementById(wanted) === null ? wanted : undefined;
  // The main download is not the answer if it has no code at all.
  const main = tally.byStatus[0]! > 0 ? 'strong' : '';
  const plain = button(
    isWorkbook ? 'downloadCsv' : 'download',
    { class: isWorkbook ? '' : main, id: id('file-download') },
    () => download(answer, `${name}${extension}`),
  );
  if (format === 'ndjson') return [plain];
  const workbook: HTMLButtonElement = button(
    'downloadWorkbook',
    { class: isWorkbook ? main : '', id: id('file-workbook') },
    () => {
      workbook.disabled = true;
      const worker = new Worker(shipped.files.fileWorker, { type: 'module' });
      const end = (): void => {
        worker.terminate();
        workbook.disabled = false;
      };
      worker.addEventListener('error', () => {
        end();
        toast(say('failed'));
      });
      worker.addEventListener('message', ({ data }: MessageEvent<FileNews>) => {
        end();
        if (data.kind === 'workbook') download(data.workbook, `${name}.xlsx`);
        else if (data.kind === 'refused') toast(reasonWords(data.reason));
      });
      worker.postMessage({ kind: 'workbook', table: answer, delimiter } satisfies WorkbookTask);
    },
  );
  const both = isWorkbook ? [workbook, plain] : [plain, workbook];
  return [element('div', { class: 'downloads' }, ...both)];
}

function failures({ byStatus, examples }: FileTally): HTMLElement[] {
  return ROW_STATUSES.flatMap((status, place) => {
    const key = REASONS[status];
    if (key === undefined || byStatus[place] === 0) return [];
    const rows = examples.filter((each) => each.status === status).map(exampleItem);
    return [
      element('h3', { class: 'note', text: () => say(key, { rows: number(byStatus[place]!) }) }),
      ...(rows.length > 0 ? [element('ul', { class: 'failed-rows' }, ...rows)] : []),
    ];
  });
}

function exampleItem({ row, text, reasons }: FailedExample): HTMLElement {
  return element(
    'li',
    {},
    element('span', { class: 'soft', text: () => say('rowNumber', { row: number(row) }) }),
    element('code', { text }),
    ...(reasons.length === 0
      ? []
      : [element('span', { class: 'soft', text: () => reasons.map(reasonWords).join('; ') })]),
  );
}

/** How many rows each zone has, with its number and colour on the map. */
function zoneTable({ byZone, byStatus, zoneColumn }: FileTally, names: readonly string[]): HTMLElement {
  const row = (sign: HTMLElement, name: string | HTMLElement, rows: number): HTMLElement =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, sign, name),
      element('td', { class: 'count', text: () => number(rows) }),
    );
  const rows = names.map((name, zone) => {
    const sign = element('span', { class: 'zone-sign', text: String(zone + 1) });
    sign.style.setProperty('--zone', zoneCss(zone));
    return row(sign, name, byZone[zone]!);
  });
  const none = element('span', { class: 'swatch', 'aria-hidden': 'true' });
  none.style.backgroundColor = `rgb(${provinceColor(34).join(' ')})`;
  const outside = byZone.reduce((left, each) => left - each, byStatus[0]!);
  rows.push(row(none, element('span', { key: 'noZone' }), outside));
  const caption = element('caption', { text: () => say('byZone', { column: zoneColumn }) });
  return element('table', { class: 'by-province by-zone' }, caption, element('tbody', {}, ...rows));
}

function provinces(byAdmin: readonly number[], hasColors: boolean): HTMLElement[] {
  const found = byAdmin
    .map((rows, admin) => ({ rows, admin }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows || a.admin - b.admin);
  if (found.length === 0) return [];
  const rows = found.map(({ rows, admin }) => {
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
    swatch.style.backgroundColor = `rgb(${provinceColor(admin).join(' ')})`;
    const { code, name } = ADMIN_UNITS[admin]!;
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, ...(hasColors ? [swatch] : []), name),
      element('td', { class: 'code', text: code }),
      element('td', { class: 'count', text: () => number(rows) }),
    );
  });
  const caption = element('caption', { text: () => say('byProvince', { provinces: number(found.length) }) });
  return [element('table', { class: 'by-province' }, caption, element('tbody', {}, ...rows))];
}
