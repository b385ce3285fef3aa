// The cells around a place: larger ones that hold it, its neighbours, and rings of them.

import { edge, gridDisk, neighbors } from '../../hexcodes/geometry/cells.js';
import { placeNear } from '../../hexcodes/library/places.js';
import type { Desk } from '../desk.js';
import { element, fold, toast } from '../shell/elements.js';
import { number, say } from '../words/language.js';
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
      attributes: { value: String(resolution) },
    }),
  );
  return element('select', { id, on: { change } }, ...options);
}

/** A slider for the resolution of the place. */
export function sizeSlider(desk: Desk, place: Place): HTMLElement {
  const slider = element('input', {
    id: 'resolution',
    attributes: {
      type: 'range',
      min: '0',
      max: String(place.root.resolution),
      value: String(place.resolution),
    },
    on: {
      input: () => {
        if (place.from !== undefined) chosenResolution.set(Number(slider.value));
        goTo(desk, atResolution(desk.library, desk.place.now ?? place, Number(slider.value)));
      },
    },
  });
  const words = say('sizeOf', {
    resolution: place.resolution,
    edge: length(edge(desk.library, place.hexcodes)),
  });
  slider.setAttribute('aria-valuetext', words);
  return element(
    'div',
    { class: 'slider' },
    element('label', { key: 'cellSize', attributes: { for: 'resolution' } }),
    element('output', { class: 'soft', text: words, attributes: { for: 'resolution' } }),
    slider,
  );
}

/** A slider for the rings that the map shows. */
export function ringSlider(desk: Desk, place: Place): HTMLElement {
  const output = element('output', { class: 'soft', id: 'rings-words', attributes: { for: 'rings' } });
  const copyButton = element('button', {
    class: 'link',
    key: 'copyRings',
    id: 'copy-rings',
    click: () => void copy(`${gridDisk(desk.library, place.hexcodes, desk.rings.now).join('\n')}\n`),
  });
  const slider = element('input', {
    id: 'rings',
    attributes: { type: 'range', min: '0', max: String(MAX_RINGS), value: String(desk.rings.now) },
    on: {
      input: () => {
        desk.rings.set(Number(slider.value));
        update();
        desk.map.now?.show(desk.place.now ?? place);
      },
    },
  });
  const update = (): void => {
    const rings = desk.rings.now;
    const cells = gridDisk(desk.library, place.hexcodes, rings).length;
    output.textContent = rings === 0 ? say('noRings') : say('ringsOf', { rings, cells: number(cells) });
    slider.setAttribute('aria-valuetext', output.textContent);
    copyButton.hidden = rings === 0;
  };
  update();
  return element(
    'div',
    { class: 'slider' },
    element('label', { key: 'rings', attributes: { for: 'rings' } }),
    output,
    slider,
    copyButton,
  );
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
