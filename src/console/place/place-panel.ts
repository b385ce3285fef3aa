// The panel of the place that is chosen: its code, where it is, and what can be done with it.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { radius } from '../../hexcodes/geometry/shape.js';
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { element } from '../shell/elements.js';
import { language, say } from '../words/language.js';
import { ladder, length, neighborList, ringSlider, sizeSlider } from './around.js';
import { certaintyFold, certaintyWords } from './certainty.js';
import { copyButtons } from './copy.js';
import type { Place } from './place.js';
import { welcome } from './welcome.js';

export const PLACE_PANEL: Panel = {
  id: 'place',
  title: 'place',
  open: (host, desk) => {
    const redraw = (place: Place | undefined): void => {
      const open = new Set([...host.querySelectorAll('details[open]')].map(({ id }) => id));
      const focused = host.contains(document.activeElement) ? document.activeElement?.id : undefined;
      host.replaceChildren(...(place === undefined ? welcome(desk) : about(desk, place)));
      for (const fold of host.querySelectorAll('details')) fold.open = fold.id !== '' && open.has(fold.id);
      if (focused) document.getElementById(focused)?.focus();
    };
    desk.place.each(redraw);
    language.on(() => redraw(desk.place.now));
  },
};

function about(desk: Desk, place: Place): HTMLElement[] {
  const unit = ADMIN_UNITS.find(({ code }) => code === place.admin_code);
  const { lat, lng } = place.from ?? place;
  const fact = (key: 'province' | 'position' | 'exactness' | 'certainty', text: string): HTMLElement =>
    element('div', {}, element('dt', { key }), element('dd', { text }));
  const certainty = certaintyWords(desk.library, place);
  return [
    element(
      'div',
      { class: 'answer', attributes: { 'aria-live': 'polite' } },
      element('h2', { class: 'code big', text: place.hexcodes, attributes: { id: 'place-code' } }),
    ),
    copyButtons(desk.library, place),
    element(
      'dl',
      { class: 'facts' },
      fact('province', unit?.name ?? place.admin_code),
      fact('position', `${lat.toFixed(6)}, ${lng.toFixed(6)}`),
      fact('exactness', say('within', { distance: length(radius(desk.library, place.hexcodes)) })),
      ...(certainty === undefined ? [] : [fact('certainty', certainty)]),
    ),
    sizeSlider(desk, place),
    ringSlider(desk, place),
    certaintyFold(desk),
    ladder(desk, place),
    neighborList(desk, place),
  ];
}
