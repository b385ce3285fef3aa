// The panel before a place is chosen: how to begin, codes to try, and the provinces.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Desk } from '../desk.js';
import { element } from '../shell/elements.js';
import { type Place, placeOf } from './place.js';

/** Codes for people who have none. */
const EXAMPLES = [
  ['HN-6GHP4-83RFR', 'Hồ Hoàn Kiếm, Hà Nội'],
  ['HUE-6HQ64-HH9J6', 'Đại Nội, Huế'],
  ['HCM-GXC6M-QHR2P', 'Chợ Bến Thành, TP. Hồ Chí Minh'],
] as const;

export function welcome(desk: Desk): HTMLElement[] {
  const choose = (place: Place | undefined): void => {
    if (place === undefined) return;
    desk.place.set(place);
    desk.map.now?.show(place);
  };
  const examples = EXAMPLES.map(([code, name]) =>
    element(
      'button',
      {
        class: 'example',
        attributes: { type: 'button' },
        on: { click: () => choose(placeOf(desk.library, code)) },
      },
      element('span', { class: 'code', text: code }),
      element('span', { class: 'soft', text: name }),
    ),
  );
  return [
    element('h2', { key: 'welcome' }),
    element('p', { class: 'soft', key: 'welcomeMore' }),
    element('h3', { key: 'examples' }),
    element('div', { class: 'examples' }, ...examples),
    provinces(),
  ];
}

/** The 34 provinces and the codes that theirs begin with. */
function provinces(): HTMLElement {
  const rows = ADMIN_UNITS.map(({ code, name }) =>
    element('li', {}, element('span', { class: 'code', text: code }), element('span', { text: name })),
  );
  return element(
    'details',
    { class: 'fold' },
    element('summary', { key: 'provinces' }),
    element('ul', { class: 'provinces' }, ...rows),
  );
}
