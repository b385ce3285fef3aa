// The panel of the place that is chosen: its code, where it is, and what can be done with it.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { radius } from '../../hexcodes/geometry/cells.js';
import { cellFeature } from '../../hexcodes/geometry/codebook.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { Desk } from '../desk.js';
import type { Panel } from '../panels.js';
import { button, byId, element, fold, toast } from '../shell/elements.js';
import { h3, loadH3 } from '../shell/h3.js';
import { language, number, say } from '../words/language.js';
import {
  codeButton,
  goTo,
  ladder,
  length,
  nearWords,
  neighborList,
  ringSlider,
  sizeSlider,
} from './around.js';
import { copy, keepRecent, linkTo, recentCodes } from './copy.js';
import { howMade } from './how-made.js';
import { type Place, placeOf } from './place.js';

// How sure the province of a place is: the distance to the nearest border, the province behind it, and the table of
// shares.

/** How sure the province of a place is, in words; undefined where the place's centre is in no province. */
function certaintyWords(library: Hexcodes, place: Place): string | undefined {
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
function certaintyFold({ library }: Desk): HTMLElement {
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
  return fold(
    { key: 'howSure', id: 'how-sure' },
    ...(rows.length === 0 ? [] : [table, element('p', { key: 'noSource' })]),
    ...(meta === null ? [] : [element('p', { text: say('bordersOf', { source: meta.source.name, year }) })]),
    element('p', { key: 'wrongProvince' }),
  );
}

function percent(share: number): string {
  return `${number(100 * share, 2)}%`;
}

/** Codes for people who have none. */
const EXAMPLES = [
  ['HN-6GHP4-83RFR', 'Hồ Hoàn Kiếm, Hà Nội'],
  ['HUE-6HQ64-HH9J6', 'Đại Nội, Huế'],
  ['HCM-GXC6M-QHR2P', 'Chợ Bến Thành, TP. Hồ Chí Minh'],
] as const;

function welcome(desk: Desk): HTMLElement[] {
  const examples = EXAMPLES.map(([code, name]) =>
    codeButton(code, name, () => goTo(desk, placeOf(desk.library, code)), 'example'),
  );
  return [
    element('h2', { key: 'welcome' }),
    howMade(desk.library, EXAMPLES[0][0]),
    element('p', { class: 'soft', key: 'welcomeMore' }),
    ...recent(desk),
    element('h3', { key: 'examples' }),
    element('div', { class: 'examples' }, ...examples),
    provinces(),
  ];
}

/** Codes that were viewed before, each of which can be removed. */
function recent(desk: Desk): HTMLElement[] {
  if (recentCodes.now.length === 0) return [];
  const rows = recentCodes.now.flatMap((code, i) => {
    const place = placeOf(desk.library, code);
    if (place === undefined) return [];
    const remove = element('button', {
      class: 'remove',
      text: '×',
      id: `remove-${i}`,
      'aria-label': say('removeCode', { code }),
      click: () => keepRecent(recentCodes.now.filter((each) => each !== code)),
    });
    const open = codeButton(code, nearWords(place.lat, place.lng), () => goTo(desk, place), 'example');
    return [element('li', { class: 'recent' }, open, remove)];
  });
  const clear = button('removeAll', { class: 'link', id: 'remove-recent' }, () => keepRecent([]));
  return [
    element('h3', { key: 'recentCodes' }),
    element('ul', { class: 'examples', id: 'recent' }, ...rows),
    clear,
  ];
}

/** The 34 provinces and the codes that theirs begin with. */
function provinces(): HTMLElement {
  const rows = ADMIN_UNITS.map(({ code, name }) =>
    element('li', {}, element('span', { class: 'code', text: code }), element('span', { text: name })),
  );
  return fold({ key: 'provinces' }, element('ul', { class: 'provinces' }, ...rows));
}

export const PLACE_PANEL: Panel = {
  id: 'place',
  title: 'place',
  open: (host, desk) => {
    const redraw = (place: Place | undefined): void => {
      const open = new Set([...host.querySelectorAll('details[open]')].map(({ id }) => id));
      const focused = host.contains(document.activeElement) ? document.activeElement!.id : undefined;
      const isEarly = place !== undefined && h3.now === undefined;
      host.replaceChildren(
        ...(place === undefined ? welcome(desk) : isEarly ? waiting() : about(desk, place)),
      );
      for (const fold of host.querySelectorAll('details')) fold.open = fold.id !== '' && open.has(fold.id);
      // Keys go on from the same button, else from the tab.
      const same = document.getElementById(focused ?? '');
      if (same !== null) same.focus();
      else if (focused !== undefined) byId('tab-place').focus({ preventScroll: true });
    };
    desk.place.each(redraw);
    language.on(() => redraw(desk.place.now));
    h3.on(() => redraw(desk.place.now));
    recentCodes.on(() => desk.place.now === undefined && redraw(undefined));
  },
};

/** The code for the telephone; what it needs comes when it is opened. */
function spellFold({ hexcodes }: Place): HTMLElement {
  const made = fold({ key: 'spell', id: 'spell' });
  made.addEventListener('toggle', () => {
    if (!made.open || made.childElementCount > 1) return;
    import('./spell.js').then(
      ({ spellingParts }) => made.childElementCount === 1 && made.append(...spellingParts(hexcodes)),
      () => {
        made.open = false;
        toast(say('failed'));
      },
    );
  });
  return made;
}

/** The reach of the cell, and the error of the device where it has measured. */
function exactness({ library }: Desk, { hexcodes, accuracyM }: Place): string {
  const cell = say('within', { distance: length(radius(library, hexcodes)) });
  return accuracyM === undefined ? cell : `${cell}; ${say('measured', { distance: length(accuracyM) })}`;
}

const waiting = (): HTMLElement[] => [element('p', { class: 'soft', key: 'loading' })];

function about(desk: Desk, place: Place): HTMLElement[] {
  const unit = ADMIN_UNITS.find(({ code }) => code === place.admin_code);
  const { lat, lng } = place.from ?? place;
  const fact = (key: 'province' | 'position' | 'exactness' | 'certainty', text: string): HTMLElement =>
    element('div', {}, element('dt', { key }), element('dd', { text }));
  const certainty = certaintyWords(desk.library, place);
  return [
    element(
      'dl',
      { class: 'facts' },
      fact('province', unit?.name ?? place.admin_code),
      fact('position', `${lat.toFixed(6)}, ${lng.toFixed(6)}`),
      fact('exactness', exactness(desk, place)),
      ...(certainty === undefined ? [] : [fact('certainty', certainty)]),
    ),
    howMade(desk.library, place.hexcodes),
    sizeSlider(desk, place),
    ringSlider(desk, place),
    certaintyFold(desk),
    spellFold(place),
    ladder(desk, place),
    neighborList(desk, place),
  ];
}

// The code of the chosen place and its next actions: copy, directions, share. Visible with any panel. Its live region
// stays, so that screen readers read each new code.

/** A menu of the bar: one of them is open at a time. */
const menu = (id: string, summary: Parameters<typeof element>[1], ...items: HTMLElement[]): HTMLElement =>
  element(
    'details',
    { class: 'menu', id, name: 'place-menus' },
    element('summary', summary),
    element('div', { class: 'menu-list' }, ...items),
  );

export function openPlaceBar(desk: Desk): void {
  const bar = byId('place-bar');
  const code = element('h2', { class: 'code big', id: 'place-code' });
  const near = element('p', { class: 'soft', id: 'place-near' });
  const live = element('div', { class: 'answer', 'aria-live': 'polite' });
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
  const share = async (): Promise<void> => {
    const text = [place.hexcodes, nearWords(lat, lng)].filter((each) => each !== '').join(', ');
    // Closing the list of apps is not a failure.
    await navigator
      .share({ title: place.hexcodes, text, url: linkTo(place.hexcodes) })
      .catch(() => undefined);
  };
  const canShare = typeof navigator.share === 'function';
  return [
    button('copyCode', { class: 'strong', id: 'copy-code' }, () => copy(place.hexcodes)),
    directions(place, lat, lng),
    ...(canShare ? [button('share', { id: 'share' }, share)] : []),
    menu(
      'more-copies',
      { label: 'copyAs' },
      button('copyLink', { id: 'copy-link' }, () => copy(linkTo(place.hexcodes))),
      button('copyPosition', { id: 'copy-position' }, () => copy(`${lat.toFixed(6)}, ${lng.toFixed(6)}`)),
      button('copyH3', { id: 'copy-h3' }, () => copy(place.cell.toString(16))),
      button('copyGeoJson', { id: 'copy-geojson' }, async () => {
        await loadH3();
        await copy(JSON.stringify(cellFeature(library, place.hexcodes)));
      }),
    ),
  ];
}

/** Plain links to the app of the device and to maps of others, which learn of the place when one is followed. */
function directions({ hexcodes }: Place, latDeg: number, lngDeg: number): HTMLElement {
  const at = `${latDeg.toFixed(6)},${lngDeg.toFixed(6)}`;
  const link = (id: string, words: string, href: string): HTMLElement =>
    element('a', { text: words, id, href, rel: 'noreferrer noopener', target: '_blank' });
  const osm = `https://www.openstreetmap.org/directions?to=${encodeURIComponent(at)}`;
  return menu(
    'directions',
    { key: 'directions' },
    link('directions-app', say('directionsApp'), `geo:${at}?q=${at}(${hexcodes})`),
    link('directions-google', 'Google Maps', `https://www.google.com/maps/dir/?api=1&destination=${at}`),
    link('directions-apple', 'Apple Maps', `https://maps.apple.com/?daddr=${at}`),
    link('directions-osm', 'OpenStreetMap', osm),
  );
}
