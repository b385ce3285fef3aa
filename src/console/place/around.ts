// The cells around a place: larger ones that hold it, its neighbours, and rings of them.

import { edge, gridDisk, neighbors } from '../../hexcodes/geometry/cells.js';
import { placeNear } from '../../hexcodes/library/places.js';
import type { Desk } from '../desk.js';
import { button, element, fold, toast } from '../shell/elements.js';
import { number, say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import { copy } from './copy.js';
import {
  atResolution,
  chosenResolution,
  edgeM,
  type Place,
  placeAt,
  placeOf,
  resolutionFor,
} from './place.js';

const MAX_RINGS = 10;
/** Distance to the middle of a town below which a direction says nothing. */
const NEXT_TO_M = 300;

/** A length in metres as people say it. */
export function length(metres: number): string {
  if (metres >= 1000) return `${number(metres / 1000, metres < 10_000 ? 1 : 0)} km`;
  return metres >= 1 ? `${number(metres, metres < 10 ? 1 : 0)} m` : `${number(metres * 100)} cm`;
}

/** Where a position is, seen from the nearest town; '' far from all. */
export function nearWords(latDeg: number, lngDeg: number): string {
  const near = placeNear(latDeg, lngDeg);
  if (near === null) return '';
  const { name, distance_m, direction } = near;
  if (distance_m < NEXT_TO_M) return say('near', { name });
  return say('nearTown', { name, distance: length(distance_m), direction: say(`compass${direction}`) });
}

/** Chooses a place, which the map then shows. */
export function goTo({ place, map }: Pick<Desk, 'place' | 'map'>, next: Place | undefined): void {
  if (next === undefined) return;
  place.set(next);
  map.now?.show(next);
}

/** A choice of the 16 resolutions, each with the edge of its hexagons. */
export function sizeChoice(id: string, change: () => void = () => {}): HTMLSelectElement {
  const options = Array.from({ length: 16 }, (_, resolution) =>
    element('option', {
      text: () => say('sizeOf', { resolution, edge: length(edgeM(resolution)) }),
      value: String(resolution),
    }),
  );
  return element('select', { id, on: { change } }, ...options);
}

/** @param words of a value, shown and read aloud @param change called with each value that is chosen */
function slider(
  id: 'resolution' | 'rings',
  key: TextKey,
  [value, max]: readonly [value: number, max: number],
  words: (value: number) => string,
  change: (value: number) => void,
): HTMLElement {
  const output = element('output', { class: 'soft', id: `${id}-words`, for: id });
  const range = { id, type: 'range', min: '0', max: String(max), value: String(value) };
  const input = element('input', { ...range, on: { input: () => choose(Number(input.value)) } });
  const show = (now: number): void => {
    output.textContent = words(now);
    input.setAttribute('aria-valuetext', output.textContent);
  };
  const choose = (now: number): void => {
    change(now);
    show(now);
  };
  show(value);
  return element('div', { class: 'slider' }, element('label', { key, for: id }), output, input);
}

/** A slider for the resolution of the place; a choice draws the panel again. */
export function sizeSlider(desk: Desk, place: Place): HTMLElement {
  const edgeWords = length(edge(desk.library, place.hexcodes));
  return slider(
    'resolution',
    'cellSize',
    [place.resolution, place.root.resolution],
    (resolution) => say('sizeOf', { resolution, edge: edgeWords }),
    (resolution) => {
      if (place.from !== undefined) chosenResolution.set(resolution);
      goTo(desk, atResolution(desk.library, desk.place.now ?? place, resolution));
    },
  );
}

/** A slider for the rings that the map shows. */
export function ringSlider(desk: Desk, place: Place): HTMLElement {
  const cellsOf = (rings: number): string[] => gridDisk(desk.library, place.hexcodes, rings);
  const copyButton = button('copyRings', { class: 'link', id: 'copy-rings' }, () =>
    copy(`${cellsOf(desk.rings.now).join('\n')}\n`),
  );
  copyButton.hidden = desk.rings.now === 0;
  const made = slider(
    'rings',
    'rings',
    [desk.rings.now, MAX_RINGS],
    (rings) =>
      rings === 0 ? say('noRings') : say('ringsOf', { rings, cells: number(cellsOf(rings).length) }),
    (rings) => {
      desk.rings.set(rings);
      copyButton.hidden = rings === 0;
      desk.map.now?.show(desk.place.now ?? place);
    },
  );
  made.append(copyButton);
  return made;
}

/** The codes of the place at every resolution, the largest cell first. */
export function ladder(desk: Desk, place: Place): HTMLElement {
  const { library } = desk;
  const rows = Array.from({ length: place.root.resolution + 1 }, (_, resolution) => {
    const other = atResolution(library, place, resolution);
    const button = codeButton(other.hexcodes, length(edge(library, other.hexcodes)), () => {
      if (place.from !== undefined) chosenResolution.set(resolution);
      goTo(desk, other);
    });
    button.id = `size-${resolution}`;
    if (resolution === place.resolution) button.setAttribute('aria-current', 'true');
    return element('li', {}, button);
  });
  return fold({ key: 'allSizes', id: 'ladder' }, element('ol', { class: 'codes' }, ...rows));
}

/** The six codes around the place. */
export function neighborList(desk: Desk, place: Place): HTMLElement {
  const rows = neighbors(desk.library, place.hexcodes).map((code) =>
    element(
      'li',
      {},
      codeButton(code, '', () => goTo(desk, placeOf(desk.library, code))),
    ),
  );
  return fold({ key: 'neighbors', id: 'neighbors' }, element('ul', { class: 'codes' }, ...rows));
}

/** A button that chooses the place of a code. */
export function codeButton(code: string, words: string, choose: () => void, kind = ''): HTMLButtonElement {
  return element(
    'button',
    { class: kind, click: choose },
    element('span', { class: 'code', text: code }),
    ...(words === '' ? [] : [element('span', { class: 'soft', text: words })]),
  );
}

// Chooses a place by a click on the map, in the hexagons that are drawn there.

/** A finger or a mouse is right to some pixels. */
const CLICK_PX = 3;

/** Hexagons of a house begin here: larger ones are said to be. */
const HOUSE_FROM = 11;

/** @param pixelM width of a pixel of the map, metres */
export function chooseOnMap(desk: Desk, latDeg: number, lngDeg: number, drawn: number, pixelM: number): void {
  if (desk.isDrawing.now || desk.counts.now?.open(latDeg, lngDeg)) return;
  const finest = Math.max(drawn, resolutionFor(CLICK_PX * pixelM));
  const place = placeAt(desk.library, latDeg, lngDeg, drawn, { isClicked: true, finest });
  if (place === undefined) {
    toast(say('outside'));
    return;
  }
  desk.place.set(place);
  if (place.resolution < HOUSE_FROM) toast(say('largeCell', { edge: length(edgeM(place.resolution)) }));
}
