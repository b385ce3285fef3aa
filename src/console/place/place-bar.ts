// The code of the place that is chosen and what one does with it next: copy, directions, share. In sight whatever panel
// is open. Its live region stays, so that screen readers say each new code.
import { cellFeature } from '../../hexcodes/geometry/geojson.js';
import type { Desk } from '../desk.js';
import { byId, element } from '../shell/elements.js';
import { loadH3 } from '../shell/h3.js';
import { language, say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import { nearWords } from './around.js';
import { copy, linkTo } from './copy.js';
import type { Place } from './place.js';

/** One of them is open at a time. */
const MENUS = 'place-menus';

export function openPlaceBar(desk: Desk): void {
  const bar = byId('place-bar');
  const code = element('h2', { class: 'code big', id: 'place-code' });
  const near = element('p', { class: 'soft', id: 'place-near' });
  const live = element('div', { class: 'answer', attributes: { 'aria-live': 'polite' } });
  const actions = element('div', { class: 'actions' });
  bar.append(live, actions);
  const redraw = (place: Place | undefined): void => {
    bar.hidden = place === undefined;
    document.body.classList.toggle('has-place', place !== undefined);
    if (place === undefined) {
      live.replaceChildren();
      actions.replaceChildren();
      return;
    }
    code.textContent = place.hexcodes;
    const { lat, lng } = place.from ?? place;
    near.textContent = nearWords(lat, lng);
    if (!live.contains(code)) live.append(code, near);
    const focused = actions.contains(document.activeElement) ? document.activeElement?.id : undefined;
    actions.replaceChildren(...actionsFor(desk, place));
    if (focused) document.getElementById(focused)?.focus();
  };
  desk.place.each(redraw);
  language.on(() => redraw(desk.place.now));
  const close = (isLeft: (menu: Element) => boolean): void => {
    for (const menu of actions.querySelectorAll('details')) if (isLeft(menu)) menu.open = false;
  };
  addEventListener('click', ({ target }) => close((menu) => !menu.contains(target as Node)));
  addEventListener('keydown', ({ key }) => key === 'Escape' && close(() => true));
}

/** The title of the page: that of the place, by which histories, tabs and bookmarks tell places apart. */
export function openTitle(desk: Desk): void {
  const redraw = (): void => {
    const place = desk.place.now;
    const { lat, lng } = place?.from ?? place ?? { lat: 0, lng: 0 };
    const words = place === undefined ? [] : [place.hexcodes, nearWords(lat, lng)];
    document.title =
      place === undefined ? say('title') : `${words.filter((each) => each !== '').join(', ')} · Hexcodes`;
  };
  desk.place.on(redraw);
  language.each(redraw);
}

function actionsFor({ library }: Desk, place: Place): HTMLElement[] {
  const { lat, lng } = place.from ?? place;
  const button = (key: TextKey, id: string, click: () => void, kind = ''): HTMLElement =>
    element('button', { key, class: kind, id, click });
  const share = async (): Promise<void> => {
    const text = [place.hexcodes, nearWords(lat, lng)].filter((each) => each !== '').join(', ');
    // Somebody that closes the list of apps has not failed.
    await navigator
      .share({ title: place.hexcodes, text, url: linkTo(place.hexcodes) })
      .catch(() => undefined);
  };
  const canShare = typeof navigator.share === 'function';
  return [
    button('copyCode', 'copy-code', () => void copy(place.hexcodes), 'strong'),
    directions(place, lat, lng),
    ...(canShare ? [button('share', 'share', () => void share())] : []),
    element(
      'details',
      { class: 'menu', id: 'more-copies', attributes: { name: MENUS } },
      element('summary', { label: 'copyAs' }),
      element(
        'div',
        { class: 'menu-list' },
        button('copyLink', 'copy-link', () => void copy(linkTo(place.hexcodes))),
        button('copyPosition', 'copy-position', () => void copy(`${lat.toFixed(6)}, ${lng.toFixed(6)}`)),
        button('copyH3', 'copy-h3', () => void copy(place.cell.toString(16))),
        button(
          'copyGeoJson',
          'copy-geojson',
          () => void loadH3().then(() => copy(JSON.stringify(cellFeature(library, place.hexcodes)))),
        ),
      ),
    ),
  ];
}

/** Plain links to the app of the device and to maps of others, which learn of the place when one is followed. */
function directions({ hexcodes }: Place, latDeg: number, lngDeg: number): HTMLElement {
  const at = `${latDeg.toFixed(6)},${lngDeg.toFixed(6)}`;
  const link = (id: string, words: string, href: string): HTMLElement =>
    element('a', { text: words, id, attributes: { href, rel: 'noreferrer noopener', target: '_blank' } });
  return element(
    'details',
    { class: 'menu', id: 'directions', attributes: { name: MENUS } },
    element('summary', { key: 'directions' }),
    element(
      'div',
      { class: 'menu-list' },
      link('directions-app', say('directionsApp'), `geo:${at}?q=${at}(${hexcodes})`),
      link('directions-google', 'Google Maps', `https://www.google.com/maps/dir/?api=1&destination=${at}`),
      link('directions-apple', 'Apple Maps', `https://maps.apple.com/?daddr=${at}`),
      link(
        'directions-osm',
        'OpenStreetMap',
        `https://www.openstreetmap.org/directions?to=${encodeURIComponent(at)}`,
      ),
    ),
  );
}
