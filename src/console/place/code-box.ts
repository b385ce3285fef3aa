// The box for a code, a position or a name. It answers while the visitor types; a text that is none of them gets
// suggestions when typing stops.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import {
  addressParts,
  type FoundCode,
  type FoundPosition,
  findCode,
} from '../../hexcodes/geometry/find-code.js';
import type { Suggestion as Meant } from '../../hexcodes/geometry/suggest.js';
import { findPlaces, isCountry, type NamedPlace } from '../../hexcodes/library/places.js';
import { COUNTRY, type Desk } from '../desk.js';
import { button, byId, element, toast } from '../shell/elements.js';
import { h3, loadH3 } from '../shell/h3.js';
import { say, tell } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import { length, nearWords } from './around.js';
import { cellErrorM, typedErrorM } from './code-parts.js';
import { chosenResolution, type Place, placeAt, placeOf, resolutionFor } from './place.js';

// The answers to a text of the box, from which the visitor chooses by touch or by arrows and Enter: together with the
// box they are a combobox (WAI-ARIA 1.2), whose focus stays in the box.

export interface Suggestion {
  readonly title: string;
  /** Its kind or the nearest town, and how far it is; '' is left out. */
  readonly words: readonly (() => string)[];
  choose(): void;
}

export class Suggestions {
  #list: readonly Suggestion[] = [];
  #rows: readonly HTMLElement[] = [];
  #active = -1;

  /** @param host notes stand in it, too */
  constructor(
    private readonly box: HTMLInputElement,
    private readonly host: HTMLElement,
  ) {
    box.setAttribute('role', 'combobox');
    box.setAttribute('aria-autocomplete', 'list');
    this.clear();
    box.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined && this.#rows.length > 0) {
        event.preventDefault();
        this.#move(step);
      } else if (event.key === 'Escape') this.clear();
    });
  }

  show(list: readonly Suggestion[]): void {
    this.#list = list;
    this.#rows = list.map(({ title, words, choose }, i) =>
      element(
        'li',
        {
          class: 'suggestion',
          id: `suggestion-${i}`,
          role: 'option',
          'aria-selected': 'false',
          click: choose,
        },
        element('span', { class: 'code', text: title }),
        ...words
          .filter((each) => each() !== '')
          .map((text, at) => element('span', { class: at === 0 ? 'soft' : 'soft away', text })),
      ),
    );
    this.host.append(
      element(
        'ul',
        { class: 'suggestions', label: 'suggestions', id: 'suggestions', role: 'listbox' },
        ...this.#rows,
      ),
    );
    this.box.setAttribute('aria-expanded', 'true');
    this.box.setAttribute('aria-controls', 'suggestions');
  }

  /** Empties the answer, notes included. */
  clear(): void {
    this.host.replaceChildren();
    [this.#list, this.#rows, this.#active] = [[], [], -1];
    this.box.setAttribute('aria-expanded', 'false');
    this.box.removeAttribute('aria-controls');
    this.box.removeAttribute('aria-activedescendant');
  }

  /**
   * Chooses the suggestion that the arrows have marked.
   * @returns false if none is marked
   */
  choose(): boolean {
    const marked = this.#list[this.#active];
    marked?.choose();
    return marked !== undefined;
  }

  #move(step: number): void {
    const count = this.#rows.length;
    // Before the first is the box itself, as after the last.
    this.#active = ((this.#active + 1 + step + count + 1) % (count + 1)) - 1;
    for (const [i, row] of this.#rows.entries())
      row.setAttribute('aria-selected', String(i === this.#active));
    const row = this.#rows[this.#active];
    if (row === undefined) this.box.removeAttribute('aria-activedescendant');
    else this.box.setAttribute('aria-activedescendant', row.id);
    row?.scrollIntoView({ block: 'nearest' });
  }
}

/** Length from which a text may be a code with a slip; shorter ones are still being typed. */
const MIN_LETTERS = 5;
const PAUSE_MS = 700;
const H3_INDEX = /8[\da-f]{14}/i;
const MAX_SUGGESTIONS = 5;
/** Sights are known to some 100 m, whatever their size. */
const LANDMARK_M = 100;

interface CodeBox {
  /** Looks up a text that came from elsewhere, as a link. */
  look(text: string): void;
}

/** @param choose called with the place that the text names */
export function openCodeBox(desk: Desk, choose: (place: Place) => void): CodeBox {
  const box = byId<HTMLInputElement>('code');
  const answer = element('div', { class: 'box-answer', id: 'box-answer', 'aria-live': 'polite' });
  byId('code-hint').after(myPosition(desk));
  byId('code-form').append(answer);
  const list = new Suggestions(box, answer);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const read = (isFinal: boolean): void => {
    clearTimeout(timer);
    const text = box.value.trim();
    list.clear();
    box.removeAttribute('aria-invalid');
    if (text === '') return;
    const typed = isFinal ? {} : { typed: text };
    if (h3.now === undefined && H3_INDEX.test(text)) {
      readLater(text);
      return;
    }
    const found = findCode(desk.library, text);
    if (found?.kind === 'several') {
      desk.place.set(undefined);
      note('several');
      listFound(found.found);
      return;
    }
    if (found !== null) {
      take(found, text, typed);
      return;
    }
    // The previous place must not be copied for this text.
    if (desk.place.now !== undefined) desk.place.set(undefined);
    if (isCountry(text)) {
      note('isCountry');
      if (isFinal) desk.map.now?.showBox(COUNTRY);
      return;
    }
    const names = namesFor(text);
    if (names.length > 0) {
      listNames(names);
      if (isFinal) goTo(names[0]!);
    } else if (isFinal && h3.now === undefined) readLater(text);
    else if (isFinal) explain(text);
    else if (text.length >= MIN_LETTERS) timer = setTimeout(() => read(true), PAUSE_MS);
  };

  /** An H3 index, or a text that may be a code with a slip: what is not read before h3-js is there. */
  const readLater = (text: string): void => {
    loadH3().then(
      () => box.value.trim() === text && read(true),
      () => toast(say('failed')),
    );
  };

  const take = (found: FoundCode | FoundPosition, text: string, typed: { typed?: string }): void => {
    if (found.kind === 'code') {
      const place = placeOf(desk.library, found.hexcodes);
      if (place !== undefined) choose({ ...place, ...typed });
      return;
    }
    // 21°1'N is a mile wide: a cell of metres would claim more than was typed.
    const errorM = typedErrorM(text, found.lat, found.lng) || cellErrorM(found.error_m);
    const known = errorM === 0 ? {} : { finest: resolutionFor(errorM) };
    const place = placeAt(desk.library, found.lat, found.lng, chosenResolution.now, known);
    if (place === undefined) fail('outside');
    else choose({ ...place, ...typed });
    if (place !== undefined && found.isSwapped) note('swapped');
    if (place !== undefined && found.middleOf !== undefined) note(MIDDLE_WORDS[found.middleOf]);
  };

  /** The places that a text names, to choose from. */
  const listFound = (found: readonly (FoundCode | FoundPosition)[]): void => {
    list.show(
      found.map((each) => {
        const { lat, lng } = each.kind === 'code' ? desk.library.read(each.hexcodes)! : each;
        return typing(each.kind === 'code' ? each.hexcodes : `${lat}, ${lng}`, [() => nearWords(lat, lng)]);
      }),
    );
  };

  /** A suggestion that is looked up as if one had typed it. */
  const typing = (title: string, words: Suggestion['words']): Suggestion => ({
    title,
    words,
    choose: () => {
      box.value = title;
      read(true);
      box.focus();
    },
  });

  const namesFor = (text: string): NamedPlace[] => {
    const center = desk.map.now?.center();
    const near = center === undefined ? {} : { near: [center.lat, center.lng] as const };
    // A code with a slip is not a name: names have few digits.
    const isName = (text.match(/\d/g) ?? []).length < 3;
    return isName ? findPlaces(desk.library, text, { ...near, limit: MAX_SUGGESTIONS }) : [];
  };

  const townsOf = (text: string): NamedPlace[] => {
    for (const part of addressParts(text.replace(/\S+\+\S+\s*/, ''))) {
      const towns = namesFor(part).filter(({ kind }) => kind !== 'landmark');
      if (towns.length > 0) return towns.slice(0, 3);
    }
    return [];
  };

  const goTo = ({ name, kind, lat, lng, radius_m }: NamedPlace): void => {
    const finest = resolutionFor(kind === 'landmark' ? LANDMARK_M : radius_m);
    const place = placeAt(desk.library, lat, lng, finest, { finest });
    if (place === undefined) return;
    choose(place);
    box.value = name;
    list.clear();
  };

  const listNames = (names: readonly NamedPlace[]): void => {
    const rows = names.map((each) => {
      const province = ADMIN_UNITS.find(({ code }) => code === each.admin_code)?.name ?? '';
      const words = (): string => {
        const kind = say(KIND_WORDS[each.kind]);
        return each.kind === 'province' ? kind : `${kind}, ${province}`;
      };
      const choose = (): void => {
        goTo(each);
        box.focus();
      };
      return { title: each.name, words: [words], choose };
    });
    list.show(rows);
  };

  const note = (key: TextKey): void => answer.append(element('p', { class: 'note', key }));

  const fail = (words: TextKey): void => {
    box.setAttribute('aria-invalid', 'true');
    desk.place.set(undefined);
    note(words);
  };

  const explain = (text: string): void => {
    const near = desk.map.now?.center();
    const limit = MAX_SUGGESTIONS;
    import('./explain.js').then(
      ({ explained }) => {
        // The visitor may have typed on, or looked it up twice.
        if (box.value.trim() !== text || answer.childElementCount > 0) return;
        const found = explained(desk.library, text, near === undefined ? { limit } : { near, limit });
        fail(found.words);
        if (found.meant.length > 0) {
          list.show(found.meant.map(meantOne));
          return;
        }
        // An address names its town, from where one goes on by the map.
        const towns = found.other === 'address' || found.other === 'plus_code' ? townsOf(text) : [];
        if (towns.length > 0) listNames(towns);
      },
      () => toast(say('failed')),
    );
  };

  const meantOne = ({ hexcodes, lat, lng, distance_m }: Meant): Suggestion => {
    const away = (): string =>
      distance_m === undefined ? '' : say('away', { distance: length(Math.max(1, distance_m)) });
    return typing(hexcodes, [() => nearWords(lat, lng), away]);
  };

  openFieldButtons(box, () => read(true));
  box.addEventListener('input', (event) => read((event as InputEvent).inputType === 'insertFromPaste'));
  byId('code-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (!list.choose()) read(true);
    // The keyboard of a phone makes room for the answer.
    if (desk.place.now !== undefined && matchMedia('(pointer: coarse)').matches) box.blur();
  });
  // The box shows a position chosen elsewhere, for instance on the map; typed text stays.
  desk.place.on((place) => {
    if (place === undefined || document.activeElement === box) return;
    box.value = place.hexcodes;
    box.removeAttribute('aria-invalid');
    list.clear();
  });
  if (box.value !== '') read(true);
  return {
    look: (text) => {
      box.value = text;
      read(true);
    },
  };
}

const MIDDLE_WORDS = { view: 'middleOfView', plus_code: 'middleOfPlusCode' } as const;

const KIND_WORDS = {
  province: 'kindProvince',
  former_province: 'kindFormer',
  town: 'kindTown',
  landmark: 'kindLandmark',
} as const;

/** In the box: × while it has a text; otherwise "paste", where the browser lets pages read the clipboard. */
function openFieldButtons(box: HTMLInputElement, read: () => void): void {
  const inField = (id: string, parts: Parameters<typeof element>[1], click: () => void): HTMLElement =>
    element('button', { class: 'in-field', id, ...parts, click });
  const clear = inField('clear', { text: '×', label: 'clearBox' }, () => {
    box.value = '';
    box.dispatchEvent(new InputEvent('input'));
    box.focus();
  });
  const paste = inField('paste', { key: 'paste' }, () => {
    navigator.clipboard
      .readText()
      .then((text) => {
        box.value = text;
        read();
      })
      .catch(() => toast(say('notPasted')));
  });
  if (typeof navigator.clipboard?.readText !== 'function') paste.classList.add('is-absent');
  box.after(clear, paste);
}

// The button "my position": shows the device's position and its error, as long as it is watched.

const LONGEST_MS = 20_000;

/** A button that starts and stops watching; choosing another place stops it, too. */
function myPosition(desk: Desk): HTMLElement {
  let watch: number | undefined;
  let shown = '';
  let resolution = -1;
  const toggle = button('myPosition', { class: 'locate', id: 'my-position', 'aria-pressed': 'false' }, () =>
    watch === undefined ? start() : stop(),
  );
  const status = element('p', { class: 'soft position-status', id: 'position-status', role: 'status' });

  const stop = (words?: () => string): void => {
    if (watch !== undefined) navigator.geolocation.clearWatch(watch);
    watch = undefined;
    report(words);
  };
  const report = (words = (): string => ''): void => {
    tell(status, words);
    const key = watch === undefined ? 'myPosition' : 'stopWatching';
    toggle.dataset.text = key;
    toggle.textContent = say(key);
    toggle.setAttribute('aria-pressed', String(watch !== undefined));
  };
  const start = (): void => {
    if (!('geolocation' in navigator)) {
      report(() => say('positionUnknown'));
      return;
    }
    shown = '';
    resolution = -1;
    watch = navigator.geolocation.watchPosition(take, refuse, {
      enableHighAccuracy: true,
      timeout: LONGEST_MS,
      maximumAge: 0,
    });
    report(() => say('positionWanted'));
  };
  const take = ({ coords }: GeolocationPosition): void => {
    if (watch === undefined) return;
    const { latitude, longitude, accuracy: accuracyM } = coords;
    const finest = resolutionFor(accuracyM);
    const wanted = Math.min(finest, chosenResolution.now);
    const place = placeAt(desk.library, latitude, longitude, wanted, { accuracyM, finest });
    if (place === undefined) {
      stop(() => say('outside'));
      return;
    }
    report(() => say('watching', { distance: length(accuracyM) }));
    const isFirst = shown === '';
    shown = place.hexcodes;
    desk.place.set(place);
    // The map follows the visitor's hand between two fixes, unless the cell has another size.
    if (isFirst || place.resolution !== resolution) desk.map.now?.show(place);
    resolution = place.resolution;
  };
  const refuse = ({ code, PERMISSION_DENIED }: GeolocationPositionError): void => {
    // A device that has a fix may lose it for a while.
    if (shown !== '' && code !== PERMISSION_DENIED) return;
    const words = (): string => say(code === PERMISSION_DENIED ? 'positionDenied' : 'positionUnknown');
    stop(words);
    toast(words());
  };
  desk.place.on((place) => {
    if (watch !== undefined && shown !== '' && place?.accuracyM === undefined) stop();
  });
  return element('div', { class: 'my-position' }, toggle, status);
}
