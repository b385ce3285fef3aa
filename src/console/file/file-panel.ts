// The panel for files: a table or lines of JSON are dropped, chosen or pasted, converted here in a worker, summed up,
// drawn on the map, and downloaded. Nothing leaves the browser.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { ROW_STATUSES, type RowStatus } from '../../hexcodes/wire/job.js';
import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/number.js';
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { length } from '../place/around.js';
import { EDGE_M_OF_RESOLUTION_0 } from '../place/place.js';
import { type PointsToDraw, provinceColor } from '../points/drawn-points.js';
import { download, element } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { language, number, say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { FailedExample, FileFormat, FileNews, FileTally, FileTask } from './messages.js';
import { looksLikeJson, withHeader } from './pasted.js';

// The summary of a file that was converted: how many rows, of which provinces, which failed and why.

const REASONS: Readonly<Partial<Record<RowStatus, TextKey>>> = {
  NOT_FOUND: 'rowNotFound',
  INVALID_REQUEST: 'rowInvalid',
  INVALID_HEXCODES: 'rowNoCode',
};

function summary(tally: FileTally, points: PointsToDraw, save: () => void): HTMLElement[] {
  const failed = tally.rows - tally.byStatus[0]!;
  const isDecode = tally.operation === 'decode';
  const parts: HTMLElement[] = [
    element('h2', {
      text: say(isDecode ? 'fileDecoded' : 'fileEncoded', { rows: number(tally.byStatus[0]!) }),
    }),
    element('button', {
      key: 'download',
      class: 'strong',
      // Several files have an answer each; the name is of the first.
      attributes: {
        type: 'button',
        ...(document.getElementById('file-download') === null ? { id: 'file-download' } : {}),
      },
      on: { click: save },
    }),
  ];
  if (failed > 0) parts.push(...failures(tally));
  if (tally.examples.length > 0 && tally.examples.every(({ isSwapped }) => isSwapped))
    parts.push(element('p', { class: 'note', key: 'rowsSwapped' }));
  if (tally.prefix !== '')
    parts.push(element('p', { class: 'soft', text: say('prefixed', { prefix: tally.prefix }) }));
  if (points.left > 0)
    parts.push(element('p', { class: 'soft', text: say('pointsLeft', { points: number(points.left) }) }));
  parts.push(...provinces(tally.byAdmin));
  return parts;
}

function failures({ byStatus, examples }: FileTally): HTMLElement[] {
  return ROW_STATUSES.flatMap((status, place) => {
    const key = REASONS[status];
    if (key === undefined || byStatus[place] === 0) return [];
    const rows = examples.filter((each) => each.status === status).map(exampleItem);
    return [
      element('h3', { class: 'note', text: say(key, { rows: number(byStatus[place]!) }) }),
      ...(rows.length > 0 ? [element('ul', { class: 'failed-rows' }, ...rows)] : []),
    ];
  });
}

function exampleItem({ row, text, reason }: FailedExample): HTMLElement {
  return element(
    'li',
    {},
    element('span', { class: 'soft', text: say('rowNumber', { row: number(row) }) }),
    element('code', { text }),
    ...(reason === '' ? [] : [element('span', { class: 'soft', text: reason })]),
  );
}

function provinces(byAdmin: readonly number[]): HTMLElement[] {
  const found = byAdmin
    .map((rows, admin) => ({ rows, admin }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows || a.admin - b.admin);
  if (found.length === 0) return [];
  const rows = found.map(({ rows, admin }) => {
    const swatch = element('span', { class: 'swatch', attributes: { 'aria-hidden': 'true' } });
    swatch.style.backgroundColor = `rgb(${provinceColor(admin).join(' ')})`;
    const { code, name } = ADMIN_UNITS[admin]!;
    return element(
      'tr',
      {},
      element('th', { attributes: { scope: 'row' } }, swatch, name),
      element('td', { class: 'code', text: code }),
      element('td', { class: 'count', text: number(rows) }),
    );
  });
  const caption = element('caption', { text: say('byProvince', { provinces: number(found.length) }) });
  return [element('table', { class: 'by-province' }, caption, element('tbody', {}, ...rows))];
}

interface Parts {
  readonly status: HTMLElement;
  readonly bar: HTMLProgressElement;
  readonly stop: HTMLButtonElement;
  readonly result: HTMLElement;
  readonly resolution: HTMLSelectElement;
}

export const FILE_PANEL: Panel = {
  id: 'file',
  title: 'file',
  open: (host, desk) => {
    const files = new FileDesk(desk);
    host.append(...files.elements());
  },
};

/** Files that are dropped anywhere on the page open the panel. */
export function openDrops(showPanel: () => void): void {
  const isFile = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true;
  document.addEventListener('dragover', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.add('is-dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('is-dropping');
  });
  document.addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    document.body.classList.remove('is-dropping');
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    showPanel();
    dropped?.(files);
  });
}

/** Takes dropped files, once the panel is open. */
let dropped: ((files: readonly File[]) => void) | undefined;

/** A file that waits for its turn. */
interface Waiting {
  readonly file: Blob;
  readonly format: FileFormat;
  readonly isGzip: boolean;
  /** Name of the answer. */
  readonly name: string;
  /** Name that the visitor knows; '' of pasted lines. */
  readonly title: string;
}

class FileDesk {
  #worker: Worker | undefined;
  #waiting: Waiting[] = [];
  #hasPoints = false;
  readonly #parts: Parts;

  constructor(private readonly desk: Desk) {
    this.#parts = {
      status: element('p', { class: 'soft', attributes: { id: 'file-status', role: 'status' } }),
      bar: element('progress', { label: 'progress', attributes: { max: '1', value: '0' } }),
      stop: element('button', {
        key: 'stop',
        attributes: { type: 'button' },
        on: { click: () => this.#stop() },
      }),
      result: element('div', { class: 'file-result', attributes: { id: 'file-result' } }),
      resolution: element(
        'select',
        { attributes: { id: 'file-resolution' } },
        ...Array.from({ length: 16 }, (_, each) =>
          element('option', { text: sizeWords(each), attributes: { value: String(each) } }),
        ),
      ),
    };
    const { bar, stop, resolution } = this.#parts;
    bar.hidden = true;
    stop.hidden = true;
    resolution.value = String(DEFAULT_RESOLUTION);
    language.on(() => {
      for (const option of resolution.options) option.textContent = sizeWords(Number(option.value));
    });
    dropped = (files) => this.#convertFiles(files);
  }

  elements(): HTMLElement[] {
    const input = element('input', {
      attributes: {
        type: 'file',
        id: 'file-input',
        multiple: '',
        accept: '.csv,.tsv,.txt,.ndjson,.jsonl,.gz,text/csv,text/plain',
      },
      class: 'file-input',
      on: {
        change: () => {
          this.#convertFiles([...(input.files ?? [])]);
          input.value = '';
        },
      },
    });
    const text = element('textarea', {
      attributes: {
        id: 'file-text',
        rows: '4',
        spellcheck: 'false',
        placeholder: 'lat\tlng\n21.0288\t105.8525',
      },
    });
    const convert = element('button', {
      key: 'convert',
      class: 'strong',
      attributes: { type: 'button', id: 'file-convert' },
      on: {
        click: () => {
          if (text.value.trim() !== '') this.#convertText(text.value);
          else text.focus();
        },
      },
    });
    const { status, bar, stop, result, resolution } = this.#parts;
    return [
      element('p', { key: 'fileHint' }),
      element(
        'label',
        { class: 'drop', attributes: { for: 'file-input' } },
        element('span', { key: 'dropHere' }),
        element('strong', { key: 'chooseFile' }),
        input,
      ),
      element('label', { key: 'fileResolution', attributes: { for: 'file-resolution' } }),
      resolution,
      element('label', { key: 'pasteLines', attributes: { for: 'file-text' } }),
      text,
      convert,
      status,
      bar,
      stop,
      result,
    ];
  }

  #convertFiles(files: readonly File[]): void {
    this.#take(
      files.map((file): Waiting => {
        const isGzip = /\.gz$/i.test(file.name);
        const format = /\.(ndjson|jsonl)(\.gz)?$/i.test(file.name) ? 'ndjson' : 'csv';
        const name = file.name.replace(/\.gz$/i, '').replace(/(\.[^.]*)?$/, '-hexcodes$1');
        return { file, format, isGzip, name, title: file.name };
      }),
    );
  }

  #convertText(pasted: string): void {
    const format = looksLikeJson(pasted) ? 'ndjson' : 'csv';
    const file = new Blob([withHeader(pasted)]);
    const name = format === 'csv' ? 'hexcodes.csv' : 'hexcodes.ndjson';
    this.#take([{ file, format, isGzip: false, name, title: '' }]);
  }

  /** Files that come while others are converted wait behind them; else they take the place of what was there. */
  #take(files: readonly Waiting[]): void {
    if (files.length === 0) return;
    this.#waiting.push(...files);
    if (this.#worker !== undefined) return;
    this.#parts.result.replaceChildren();
    this.#hasPoints = false;
    this.#next();
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#convert(next);
  }

  #convert({ file, format, isGzip, name, title }: Waiting): void {
    const { status, bar, stop, result, resolution } = this.#parts;
    const isOne = this.#waiting.length === 0 && result.childElementCount === 0;
    const report = (words: string): void => {
      status.textContent = isOne || title === '' ? words : `${title}: ${words}`;
    };
    report(say('reading'));
    bar.hidden = false;
    stop.hidden = false;
    // The size of what is packed is not known.
    if (isGzip) bar.removeAttribute('value');
    else bar.value = 0;
    const worker = new Worker(shipped.files.fileWorker, { type: 'module' });
    this.#worker = worker;
    const end = (words: string, parts: readonly HTMLElement[]): void => {
      this.#rest();
      report(words);
      const heading = title === '' ? [] : [element('h2', { class: 'file-name', text: title })];
      result.append(element('section', { class: 'file-answer' }, ...heading, ...parts));
      this.#next();
    };
    const refuse = (words: string): void => end(words, [element('p', { class: 'note', text: words })]);
    worker.addEventListener('error', () => refuse(say('failed')));
    worker.addEventListener('message', ({ data }: MessageEvent<FileNews>) => {
      if (data.kind === 'progress') {
        if (!isGzip) bar.value = data.readBytes / file.size;
        report(say('rowsSoFar', { rows: number(data.rows) }));
      } else if (data.kind === 'refused') {
        refuse(say('fileRefused', { reason: data.reason }));
      } else {
        const { tally, points, answer } = data;
        end(
          say('rowsDone', { rows: number(tally.rows) }),
          summary(tally, points, () => download(answer, name)),
        );
        this.#draw(points);
      }
    });
    const { kernel, index, reach } = shipped.files;
    const task: FileTask = {
      file,
      format,
      isGzip,
      resolution: Number(resolution.value),
      paths: { kernel, index, reach },
    };
    worker.postMessage(task);
  }

  /** Points of all files of one drop lie on the map together. */
  #draw(points: PointsToDraw): void {
    const before = this.#hasPoints ? this.desk.points.now : undefined;
    const drawn = before === undefined ? points : joined(before, points);
    this.#hasPoints = true;
    this.desk.points.set(drawn);
    if (drawn.box !== undefined) this.desk.map.now?.showBox(drawn.box);
  }

  #stop(): void {
    this.#waiting = [];
    this.#rest();
    this.#parts.status.textContent = '';
  }

  #rest(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#parts.bar.hidden = true;
    this.#parts.stop.hidden = true;
  }
}

/** A resolution with the edge of its hexagons. */
const sizeWords = (resolution: number): string =>
  say('sizeOf', { resolution, edge: length(EDGE_M_OF_RESOLUTION_0 / Math.sqrt(7) ** resolution) });

function joined(a: PointsToDraw, b: PointsToDraw): PointsToDraw {
  const offsets = new Float32Array(a.offsets.length + b.offsets.length);
  offsets.set(a.offsets);
  offsets.set(b.offsets, a.offsets.length);
  const admins = new Uint8Array(a.admins.length + b.admins.length);
  admins.set(a.admins);
  admins.set(b.admins, a.admins.length);
  const box =
    a.box === undefined || b.box === undefined
      ? (a.box ?? b.box)
      : {
          west: Math.min(a.box.west, b.box.west),
          south: Math.min(a.box.south, b.box.south),
          east: Math.max(a.box.east, b.box.east),
          north: Math.max(a.box.north, b.box.north),
        };
  return { offsets, admins, left: a.left + b.left, box };
}
