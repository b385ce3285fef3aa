// The content of the panel for files: a table or lines of JSON are dropped, chosen or pasted, converted in a worker,
// summarised, drawn on the map, and downloaded. Nothing leaves the browser.

import { DEFAULT_RESOLUTION } from '../../hexcodes/wire/params/number.js';
import { shellWord } from '../../tables/table-error.js';
import { boxOfAll, type Desk } from '../desk.js';
import { sizeChoice } from '../place/around.js';
import type { DescribedPoints } from '../points/drawn-points.js';
import { button, element, fold, scrollTo } from '../shell/elements.js';
import { shipped } from '../shipped.js';
import { fileTexts } from '../words/file-texts.js';
import { number, say, tell } from '../words/language.js';
import { addTexts, type TextKey } from '../words/texts.js';
import { zoneSettings, zones, zonesToCover } from '../zones/kept-zones.js';
import { zoneColors } from '../zones/zone.js';
import { reasonWords, summary } from './file-summary.js';
import type { FileFormat, FileNews, FileTask, FoundTable } from './messages.js';
import { type Columns, rowTexts } from './table-plan.js';

// The first rows of a table with the columns in use, and other columns to choose.

const KINDS = {
  positions: 'kindPositions',
  position: 'kindPosition',
  codes: 'kindCodes',
} as const satisfies Record<Columns['kind'], TextKey>;

/** @param again converts the file again, with the chosen columns or sheet */
function columnChooser(
  { plan, columns, sheets, sheet }: FoundTable,
  isOpen: boolean,
  again: (chosen: { readonly columns?: Columns; readonly sheet?: number }) => void,
): HTMLElement {
  const names = plan.names.map((name, i) => (name === '' ? `${i + 1}` : name));
  const guess = columns ?? { kind: 'positions', lat: 0, lng: Math.min(1, names.length - 1) };
  const kind = select(
    'columnsKind',
    Object.entries(KINDS).map(([value, key]) => [value, () => say(key)]),
    guess.kind,
  );
  const column = (label: TextKey, at: number): Labelled =>
    select(
      label,
      names.map((name, i) => [String(i), name]),
      String(at),
    );
  const lat = column('latColumn', guess.kind === 'positions' ? guess.lat : 0);
  const lng = column('lngColumn', guess.kind === 'positions' ? guess.lng : Math.min(1, names.length - 1));
  const position = column('positionColumn', guess.kind === 'position' ? guess.column : 0);
  const codes = column('codeColumn', guess.kind === 'codes' ? guess.column : 0);
  const chosen = (): Columns => {
    const of = ({ field }: Labelled): number => Number(field.value);
    if (kind.field.value === 'codes') return { kind: 'codes', column: of(codes) };
    if (kind.field.value === 'position') return { kind: 'position', column: of(position) };
    return { kind: 'positions', lat: of(lat), lng: of(lng) };
  };
  const rows = firstRows(names, plan.rows);
  const update = (): void => {
    const now = chosen();
    for (const each of [lat, lng]) each.label.hidden = now.kind !== 'positions';
    position.label.hidden = now.kind !== 'position';
    codes.label.hidden = now.kind !== 'codes';
    const used = now.kind === 'positions' ? [now.lat, now.lng] : [now.column];
    for (const cell of rows.querySelectorAll<HTMLElement>('[data-column]'))
      cell.classList.toggle('is-used', used.includes(Number(cell.dataset.column)));
  };
  for (const { field } of [kind, lat, lng, position, codes]) field.addEventListener('change', update);
  update();
  const sheetField = select(
    'sheetToRead',
    sheets.map((name, i) => [String(i), name]),
    String(sheet),
  );
  sheetField.field.addEventListener('change', () => again({ sheet: Number(sheetField.field.value) }));
  const ofSheet = sheets.length > 0 ? { sheet } : {};
  const convert = button('convertAgain', { class: 'strong convert-again' }, () =>
    again({ columns: chosen(), ...ofSheet }),
  );
  const made = fold(
    { key: isOpen ? 'columnsUnknown' : 'columnsTitle' },
    element(
      'div',
      { class: 'chooser' },
      ...(sheets.length > 1 ? [sheetField.label] : []),
      ...[kind, lat, lng, position, codes].map(({ label }) => label),
      rows,
      convert,
    ),
  );
  made.open = isOpen;
  return made;
}

interface Labelled {
  readonly label: HTMLElement;
  readonly field: HTMLSelectElement;
}

function select(
  key: TextKey,
  options: readonly (readonly [value: string, text: string | (() => string)])[],
  value: string,
): Labelled {
  const field = element(
    'select',
    {},
    ...options.map(([each, text]) => element('option', { text, value: each })),
  );
  field.value = value;
  return { field, label: element('label', {}, element('span', { key }), field) };
}

function firstRows(names: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const cell = (name: 'th' | 'td', text: string, column: number): HTMLElement => {
    const made = element(name, { text, ...(name === 'th' ? { scope: 'col' } : {}) });
    made.dataset.column = String(column);
    return made;
  };
  const head = element('tr', {}, ...names.map((name, i) => cell('th', name, i)));
  const body = rows.map((row) => element('tr', {}, ...names.map((_, i) => cell('td', row[i] ?? '', i))));
  return element(
    'div',
    { class: 'first-rows', label: 'firstRows', tabindex: '0', role: 'region' },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)),
  );
}

addTexts(fileTexts);

/** A file in the queue. */
interface Waiting {
  readonly file: Blob;
  /** Absent: determined by its bytes. */
  readonly format?: FileFormat;
  readonly isGzip: boolean;
  /** Name of the answer, without its extension. */
  readonly name: string;
  /** Extension of an answer that is a table. */
  readonly extension: string;
  /** Name as the visitor knows it; '' for pasted lines. */
  readonly title: string;
  /** Columns and sheet that the visitor has chosen. */
  readonly columns?: Columns;
  readonly sheet?: number;
  /** The answer that this one replaces. */
  readonly replaces?: HTMLElement;
}

export class FileDesk {
  #worker: Worker | undefined;
  #waiting: Waiting[] = [];
  /** Points of each answer that is shown. */
  readonly #points = new Map<
    HTMLElement,
    { points: DescribedPoints; zones: Uint8Array<ArrayBuffer> | undefined }
  >();
  readonly #status = element('p', { class: 'soft', id: 'file-status', role: 'status' });
  readonly #bar = element('progress', { label: 'progress', max: '1', value: '0', hidden: true });
  readonly #stopButton = button('stop', { hidden: true }, () => this.#stop());
  readonly #result = element('div', { class: 'file-result', id: 'file-result' });
  readonly #resolution = sizeChoice('file-resolution');
  /** Whether zones are a column, with the sentence about it. */
  readonly #byZone = element('input', { id: 'file-zones', type: 'checkbox', checked: '' });
  readonly #byZoneRow = element(
    'label',
    { class: 'check' },
    this.#byZone,
    element('span', { key: 'fileZones' }),
  );

  constructor(private readonly desk: Desk) {
    zones.each((now) => {
      this.#byZoneRow.hidden = now.length === 0;
    });
    const change = (): void => {
      for (const again of this.#result.querySelectorAll<HTMLElement>('.zones-changed')) again.hidden = false;
    };
    zones.on(change);
    zoneSettings.on(change);
    this.#resolution.value = String(DEFAULT_RESOLUTION);
  }

  elements(): HTMLElement[] {
    const input = element('input', {
      id: 'file-input',
      type: 'file',
      multiple: '',
      accept:
        '.csv,.tsv,.txt,.xlsx,.xlsm,.json,.geojson,.ndjson,.jsonl,.gpx,.kml,.kmz,.gpkg,.gz,text/csv,text/plain',
      class: 'file-input',
      on: {
        change: () => {
          this.convertFiles([...(input.files ?? [])]);
          input.value = '';
        },
      },
    });
    const text = element('textarea', {
      id: 'file-text',
      rows: '4',
      spellcheck: 'false',
      placeholder: 'lat\tlng\n21.0288\t105.8525',
    });
    const convert = button('convert', { class: 'strong', id: 'file-convert' }, () => {
      if (text.value.trim() !== '') this.#convertText(text.value);
      else text.focus();
    });
    return [
      element('p', { key: 'fileHint' }),
      element(
        'label',
        { class: 'drop', for: 'file-input' },
        element('span', { key: 'dropHere' }),
        element('strong', { key: 'chooseFile' }),
        input,
      ),
      element('label', { key: 'fileResolution', for: 'file-resolution' }),
      this.#resolution,
      this.#byZoneRow,
      element('label', { key: 'pasteLines', for: 'file-text' }),
      text,
      convert,
      this.#status,
      this.#bar,
      this.#stopButton,
      this.#result,
    ];
  }

  convertFiles(files: readonly File[]): void {
    this.#take(
      files.map((file): Waiting => {
        const bare = file.name.replace(/\.gz$/i, '');
        const [, stem = bare, given = ''] = /^(.+?)(\.[^.]*)?$/s.exec(bare) ?? [];
        return {
          file,
          ...(/\.(ndjson|jsonl)$/i.test(bare) ? { format: 'ndjson' as const } : {}),
          isGzip: bare !== file.name,
          name: `${stem}-hexcodes`,
          extension: /^\.(?:csv|tsv|tab|txt|ndjson|jsonl)$/i.test(given) ? given : '.csv',
          title: file.name,
        };
      }),
    );
  }

  #convertText(pasted: string): void {
    this.#take([
      {
        file: new Blob([pasted]),
        isGzip: false,
        name: 'hexcodes',
        extension: '.csv',
        title: '',
      },
    ]);
  }

  /** Files that come while others are converted are queued; otherwise they replace the previous answers. */
  #take(files: readonly Waiting[]): void {
    if (files.length === 0) return;
    this.#waiting.push(...files);
    if (this.#worker !== undefined) return;
    if (files[0]!.replaces === undefined) {
      this.#result.replaceChildren();
      this.#points.clear();
    }
    this.#next();
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#convert(next);
  }

  #convert(waiting: Waiting): void {
    const { file, format, isGzip, title, columns, sheet, replaces } = waiting;
    const [status, bar, result] = [this.#status, this.#bar, this.#result];
    const isOne = this.#waiting.length === 0 && result.childElementCount === (replaces === undefined ? 0 : 1);
    const report = (words: () => string): void =>
      tell(status, () => (isOne || title === '' ? words() : `${title}: ${words()}`));
    report(() => say('reading'));
    bar.hidden = false;
    this.#stopButton.hidden = false;
    // The unpacked size of a packed file is not known.
    if (isGzip) bar.removeAttribute('value');
    else bar.value = 0;
    const worker = new Worker(shipped.files.fileWorker, { type: 'module' });
    this.#worker = worker;
    let table: FoundTable | undefined;
    const isByZone = this.#byZone.checked && zones.now.length > 0;
    const drawnZones = zones.now;
    const section: HTMLElement = element('section', { class: 'file-answer', tabindex: '-1' });
    const again = (next: Pick<Waiting, 'columns' | 'sheet'>): void => {
      const { columns: _, sheet: __, ...same } = waiting;
      this.#take([{ ...same, ...next, replaces: section }]);
    };
    /** Converts again with latitude and longitude exchanged, if they are two columns. */
    const exchange = (): (() => void) | undefined => {
      if (table?.columns?.kind !== 'positions') return undefined;
      const { columns: used, sheets, sheet: read } = table;
      const exchanged = { ...used, lat: used.lng, lng: used.lat };
      return () => again({ columns: exchanged, ...(sheets.length > 0 ? { sheet: read } : {}) });
    };
    const end = (words: () => string, parts: readonly HTMLElement[], isRefused: boolean): void => {
      this.#rest();
      report(words);
      const heading = title === '' ? [] : [element('h2', { class: 'file-name', text: title })];
      const chooser = table === undefined ? [] : [columnChooser(table, isRefused, again)];
      const changed = button('fileZonesChanged', { class: 'zones-changed', hidden: true }, () =>
        this.#take([{ ...waiting, replaces: section }]),
      );
      section.replaceChildren(...heading, ...parts, changed, ...chooser);
      // The answer to the first file is below all controls of the panel.
      const isFirst = result.childElementCount === (replaces === undefined ? 0 : 1);
      if (replaces === undefined) result.append(section);
      else {
        // The button that was pressed goes with it.
        const isFocused = replaces.contains(document.activeElement);
        replaces.replaceWith(section);
        if (isFocused) section.focus({ preventScroll: true });
        this.#points.delete(replaces);
      }
      if (isFirst) scrollTo(status);
      this.#next();
    };
    const refuse = (words: () => string, more: readonly HTMLElement[] = []): void => {
      end(words, [element('p', { class: 'note', text: words }), ...more], true);
    };
    worker.addEventListener('error', () => refuse(() => say('failed')));
    worker.addEventListener('message', ({ data }: MessageEvent<FileNews>) => {
      if (data.kind === 'table') table = data.table;
      else if (data.kind === 'progress') {
        if (!isGzip) bar.value = data.readBytes / file.size;
        report(() => say('rowsSoFar', { rows: number(data.rows) }));
      } else if (data.kind === 'refused') {
        refuse(() => say('fileRefused', { reason: reasonWords(data.reason) }));
      } else if (data.kind === 'zoneTooLarge') {
        refuse(() => say('fileZoneTooLarge', { zone: data.zone + 1 }));
      } else if (data.kind === 'commandOnly') {
        const line = `hexcodes encode ${title === '' ? 'FILE' : shellWord(title)} -o ${shellWord(`${waiting.name}.csv`)}`;
        refuse(
          () => say('fileForCommand', { title: data.title }),
          [element('pre', {}, element('code', { text: line }))],
        );
      } else if (data.kind === 'done') {
        const words = (): string => say('rowsDone', { rows: number(data.tally.rows) });
        const extension =
          data.format === 'ndjson' && !/json/i.test(waiting.extension) ? '.ndjson' : waiting.extension;
        const delimiter = table?.plan.delimiter ?? ',';
        const isWorkbook = (table?.sheets.length ?? 0) > 0;
        const { titleRows = 0 } = table ?? {};
        const zoneNames = isByZone ? drawnZones.map(({ name }) => name) : [];
        const answer = { name: waiting.name, extension, delimiter, isWorkbook, titleRows, zoneNames };
        end(words, summary(data, answer, exchange()), false);
        const { points } = data;
        const describe: DescribedPoints['describe'] = async (wanted) => {
          const numbers = wanted.map((point) => points.rows[point]!);
          const cut = data.format === 'csv' ? delimiter : undefined;
          const texts = await rowTexts(data.answer, data.blocks, cut, numbers);
          return texts.map((text, i) => `${say('rowNumber', { row: number(numbers[i]! + 1) })}: ${text}`);
        };
        this.#draw(section, { ...points, describe }, isByZone ? data.zones : undefined);
      }
    });
    const task: FileTask = {
      kind: 'convert',
      file,
      format,
      isGzip,
      resolution: Number(this.#resolution.value),
      columns,
      sheet,
      zones: isByZone ? zonesToCover() : undefined,
      paths: shipped.files,
    };
    worker.postMessage(task);
  }

  /** Points of all files of one drop are drawn together. */
  #draw(section: HTMLElement, points: DescribedPoints, zones: Uint8Array<ArrayBuffer> | undefined): void {
    this.#points.set(section, { points, zones });
    const all = [...this.#points.values()];
    const hasZones = all.every((each) => each.zones !== undefined);
    const drawn = all
      .map((each) => (hasZones ? { ...each.points, groups: each.zones!, colors: zoneColors } : each.points))
      .reduce(joined);
    this.desk.points.set(drawn);
    if (drawn.box !== undefined) this.desk.map.now?.showBox(drawn.box);
  }

  #stop(): void {
    this.#waiting = [];
    this.#rest();
    tell(this.#status, () => '');
  }

  #rest(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#bar.hidden = true;
    this.#stopButton.hidden = true;
  }
}

function joined(a: DescribedPoints, b: DescribedPoints): DescribedPoints {
  const count = a.groups.length;
  const boxes = [a.box, b.box].filter((box) => box !== undefined);
  const colors = b.colors ?? a.colors;
  return {
    offsets: both(a.offsets, b.offsets),
    groups: both(a.groups, b.groups),
    positions: both(a.positions, b.positions),
    rows: both(a.rows, b.rows),
    left: a.left + b.left,
    box: boxes.length === 0 ? undefined : boxOfAll(boxes),
    ...(colors === undefined ? {} : { colors }),
    describe: async (points) => {
      const isFirst = (point: number): boolean => point < count;
      const texts = await Promise.all([
        a.describe(points.filter(isFirst)),
        b.describe(points.filter((point) => !isFirst(point)).map((point) => point - count)),
      ]);
      return texts.flat();
    },
  };
}

type Numbers = DescribedPoints['offsets' | 'groups' | 'positions' | 'rows'];

function both<T extends Numbers>(a: T, b: T): T {
  const made = new (a.constructor as new (length: number) => T)(a.length + b.length);
  made.set(a);
  made.set(b, a.length);
  return made;
}
