// The panel for files: a table or lines of JSON are dropped, chosen or pasted, converted here in a worker, summed up,
// drawn on the map, and downloaded. Nothing leaves the browser.
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { chosenResolution } from '../place/resolution.js';
import { download } from '../shell/download.js';
import { element } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { number, say } from '../words/language.js';
import type { FileFormat, FileNews, FileTask } from './messages.js';
import { looksLikeJson, withHeader } from './pasted.js';
import { summary } from './summary.js';

interface Parts {
  readonly status: HTMLElement;
  readonly bar: HTMLProgressElement;
  readonly stop: HTMLButtonElement;
  readonly result: HTMLElement;
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
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    showPanel();
    dropped?.(file);
  });
}

/** Takes a dropped file, once the panel is open. */
let dropped: ((file: File) => void) | undefined;

class FileDesk {
  #worker: Worker | undefined;
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
    };
    this.#parts.bar.hidden = true;
    this.#parts.stop.hidden = true;
    dropped = (file) => this.#convertFile(file);
  }

  elements(): HTMLElement[] {
    const input = element('input', {
      attributes: {
        type: 'file',
        id: 'file-input',
        accept: '.csv,.tsv,.txt,.ndjson,.jsonl,.gz,text/csv,text/plain',
      },
      class: 'file-input',
      on: {
        change: () => {
          const file = input.files?.[0];
          if (file !== undefined) this.#convertFile(file);
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
    const { status, bar, stop, result } = this.#parts;
    return [
      element('p', { key: 'fileHint' }),
      element(
        'label',
        { class: 'drop', attributes: { for: 'file-input' } },
        element('span', { key: 'dropHere' }),
        element('strong', { key: 'chooseFile' }),
        input,
      ),
      element('label', { key: 'pasteLines', attributes: { for: 'file-text' } }),
      text,
      convert,
      status,
      bar,
      stop,
      result,
    ];
  }

  #convertFile(file: File): void {
    const isGzip = /\.gz$/i.test(file.name);
    const format = /\.(ndjson|jsonl)(\.gz)?$/i.test(file.name) ? 'ndjson' : 'csv';
    const name = file.name.replace(/\.gz$/i, '').replace(/(\.[^.]*)?$/, '-hexcodes$1');
    this.#convert(file, format, isGzip, name);
  }

  #convertText(pasted: string): void {
    const format = looksLikeJson(pasted) ? 'ndjson' : 'csv';
    const file = new Blob([withHeader(pasted)]);
    this.#convert(file, format, false, format === 'csv' ? 'hexcodes.csv' : 'hexcodes.ndjson');
  }

  #convert(file: Blob, format: FileFormat, isGzip: boolean, name: string): void {
    this.#stop();
    const { status, bar, stop, result } = this.#parts;
    result.replaceChildren();
    status.textContent = say('reading');
    bar.hidden = false;
    stop.hidden = false;
    // The size of what is packed is not known.
    if (isGzip) bar.removeAttribute('value');
    else bar.value = 0;
    const worker = new Worker(shipped.files.fileWorker, { type: 'module' });
    this.#worker = worker;
    const end = (text: string): void => {
      this.#stop();
      status.textContent = text;
    };
    worker.addEventListener('error', () => end(say('failed')));
    worker.addEventListener('message', ({ data }: MessageEvent<FileNews>) => {
      if (data.kind === 'progress') {
        if (!isGzip) bar.value = data.readBytes / file.size;
        status.textContent = say('rowsSoFar', { rows: number(data.rows) });
      } else if (data.kind === 'refused') {
        end(say('fileRefused', { reason: data.reason }));
      } else {
        end(say('rowsDone', { rows: number(data.tally.rows) }));
        result.replaceChildren(...summary(data.tally, data.points, () => download(data.answer, name)));
        this.desk.points.set(data.points);
        if (data.points.box !== undefined) this.desk.map.now?.showBox(data.points.box);
      }
    });
    const { kernel, index, reach } = shipped.files;
    const task: FileTask = {
      file,
      format,
      isGzip,
      resolution: chosenResolution.now,
      paths: { kernel, index, reach },
    };
    worker.postMessage(task);
  }

  #stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#parts.bar.hidden = true;
    this.#parts.stop.hidden = true;
    this.#parts.status.textContent = '';
  }
}
