// How sure the province of a place is: the distance to the nearest border, the province behind it, and the table of
// shares.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Desk } from '../desk.js';
import { element } from '../shell/elements.js';
import { number, say } from '../words/language.js';
import { length } from './around.js';
import type { Place } from './place.js';

/** How sure the province of a place is, in words; undefined where the place's centre is in no province. */
export function certaintyWords(library: Hexcodes, place: Place): string | undefined {
  const { lat, lng } = place.from ?? place;
  const border = library.borderOf(lat, lng);
  if (border === null) return undefined;
  const { border_m, certainty, neighbour_code } = border;
  const share = certainty === null ? [] : [say('rightShare', { percent: percent(certainty) })];
  if (border_m === null) return [say('farFromBorder'), ...share].join('; ');
  // The code of a cell on a border may have been made on its other side.
  const other = neighbour_code === place.admin_code ? library.adminCodeOf(lat, lng) : neighbour_code;
  const unit = ADMIN_UNITS.find(({ code }) => code === other);
  const neighbour = unit === undefined ? [] : [say('mayBe', { name: unit.name, code: unit.code })];
  const distance = say('nearBorder', { distance: length(border_m) });
  return `${[distance, ...neighbour].join(': ')}${share.map((text) => `; ${text}`).join('')}`;
}

/** The table of shares, the year of the borders, and the meaning of a wrong province. */
export function certaintyFold({ library }: Desk): HTMLElement {
  const { bands, meta } = library.kernel;
  const rows = bands.map(({ belowM, share }) =>
    element(
      'tr',
      {},
      element('td', { text: belowM === Infinity ? say('beyond') : say('below', { metres: number(belowM) }) }),
      element('td', { text: percent(share) }),
    ),
  );
  const head = element('tr', {}, element('th', { key: 'toBorder' }), element('th', { key: 'rightProvince' }));
  const table = element(
    'table',
    { class: 'bands' },
    element('thead', {}, head),
    element('tbody', {}, ...rows),
  );
  const year = meta?.source.date.slice(0, 4) ?? '';
  return element(
    'details',
    { class: 'fold', attributes: { id: 'how-sure' } },
    element('summary', { key: 'howSure' }),
    ...(rows.length === 0 ? [] : [table]),
    ...(meta === null ? [] : [element('p', { text: say('bordersOf', { source: meta.source.name, year }) })]),
    element('p', { key: 'wrongProvince' }),
  );
}

function percent(share: number): string {
  return `${number(100 * share, 2)} %`;
}
