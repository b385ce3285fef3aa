// The first rows of a table with the columns that were taken of them, and other columns to choose.
import { element, fold } from '../shell/elements.js';
import { say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { FoundTable } from './messages.js';
import type { Columns } from './table-plan.js';

const KINDS = {
  positions: 'kindPositions',
  position: 'kindPosition',
  codes: 'kindCodes',
} as const satisfies Record<Columns['kind'], TextKey>;

/** @param again converts the file once more, with columns or a sheet that were chosen */
export function columnChooser(
  { plan, columns, sheets, sheet }: FoundTable,
  isOpen: boolean,
  again: (chosen: { readonly columns?: Columns; readonly sheet?: number }) => void,
): HTMLElement {
  const names = plan.names.map((name, i) => (name === '' ? `${i + 1}` : name));
  const guess = columns ?? { kind: 'positions', lat: 0, lng: Math.min(1, names.length - 1) };
  const kind = select(
    'columnsKind',
    Object.entries(KINDS).map(([value, key]) => [value, say(key)]),
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
  const button = element('button', {
    key: 'convertAgain',
    class: 'strong convert-again',
    click: () => again({ columns: chosen(), ...ofSheet }),
  });
  const made = fold(
    { key: isOpen ? 'columnsUnknown' : 'columnsTitle' },
    element(
      'div',
      { class: 'chooser' },
      ...(sheets.length > 1 ? [sheetField.label] : []),
      ...[kind, lat, lng, position, codes].map(({ label }) => label),
      rows,
      button,
    ),
  );
  made.open = isOpen;
  return made;
}

interface Labelled {
  readonly label: HTMLElement;
  readonly field: HTMLSelectElement;
}

function select(key: TextKey, options: readonly (readonly string[])[], value: string): Labelled {
  const field = element(
    'select',
    {},
    ...options.map(([each = '', text = '']) => element('option', { text, attributes: { value: each } })),
  );
  field.value = value;
  return { field, label: element('label', {}, element('span', { key }), field) };
}

function firstRows(names: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const cell = (name: 'th' | 'td', text: string, column: number): HTMLElement => {
    const made = element(name, { text, ...(name === 'th' ? { attributes: { scope: 'col' } } : {}) });
    made.dataset.column = String(column);
    return made;
  };
  const head = element('tr', {}, ...names.map((name, i) => cell('th', name, i)));
  const body = rows.map((row) => element('tr', {}, ...names.map((_, i) => cell('td', row[i] ?? '', i))));
  return element(
    'div',
    { class: 'first-rows', label: 'firstRows', attributes: { tabindex: '0', role: 'region' } },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)),
  );
}
