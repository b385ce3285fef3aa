// The summary of a file that was converted: how many rows, of which provinces, which failed and why.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { ROW_STATUSES, type RowStatus } from '../../hexcodes/wire/job.js';
import { type PointsToDraw, provinceColor } from '../points/drawn-points.js';
import { element } from '../shell/elements.js';
import { number, say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { FailedExample, FileTally } from './messages.js';

const REASONS: Readonly<Partial<Record<RowStatus, TextKey>>> = {
  NOT_FOUND: 'rowNotFound',
  INVALID_REQUEST: 'rowInvalid',
  INVALID_HEXCODES: 'rowNoCode',
};

export function summary(tally: FileTally, points: PointsToDraw, save: () => void): HTMLElement[] {
  const failed = tally.rows - tally.byStatus[0]!;
  const isDecode = tally.operation === 'decode';
  const parts: HTMLElement[] = [
    element('h2', {
      text: say(isDecode ? 'fileDecoded' : 'fileEncoded', { rows: number(tally.byStatus[0]!) }),
    }),
    element('button', {
      key: 'download',
      class: 'strong',
      attributes: { type: 'button', id: 'file-download' },
      on: { click: save },
    }),
  ];
  if (failed > 0) parts.push(...failures(tally));
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
