// The panel of the place that is chosen: its code, where it is, and what can be done with it.
import { ADMIN_UNITS } from '../../admin-units.js';
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { element } from '../shell/elements.js';
import { language } from '../words/language.js';
import type { Place } from './place.js';

export const PLACE_PANEL: Panel = {
  id: 'place',
  title: 'place',
  open: (host, desk) => {
    const redraw = (place: Place | undefined): void => {
      host.replaceChildren(...(place === undefined ? welcome(desk) : about(place)));
    };
    desk.place.each(redraw);
    language.on(() => redraw(desk.place.now));
  },
};

/** Codes for people who have none: Hoàn Kiếm lake, Bến Thành market, the citadel of Huế. */
const EXAMPLES = [['HN-6GHP4-83RFR', 'Hồ Hoàn Kiếm']] as const;

function welcome(desk: Desk): HTMLElement[] {
  const buttons = EXAMPLES.map(([code, name]) =>
    element(
      'button',
      {
        class: 'example',
        attributes: { type: 'button' },
        on: { click: () => desk.place.set(desk.library.read(code) ?? undefined) },
      },
      element('span', { class: 'code', text: code }),
      element('span', { class: 'soft', text: name }),
    ),
  );
  return [
    element('h2', { key: 'welcome' }),
    element('p', { key: 'welcomeMore' }),
    element('h3', { key: 'examples' }),
    element('div', { class: 'examples' }, ...buttons),
  ];
}

function about(place: Place): HTMLElement[] {
  const unit = ADMIN_UNITS.find(({ code }) => code === place.admin_code);
  return [
    element('h2', { class: 'code big', text: place.hexcodes, attributes: { id: 'place-code' } }),
    element('p', { class: 'soft', text: unit?.name ?? place.admin_code }),
    element('p', { text: `${place.lat.toFixed(6)}, ${place.lng.toFixed(6)}` }),
  ];
}
