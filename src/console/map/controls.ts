// The buttons on the map: nearer, farther, the whole country; and the cross in its middle, at which Enter chooses.
import type { Box, MapView } from '../desk.js';
import { byId, element } from '../shell/elements.js';
import type { TextKey } from '../words/texts.js';

/** Mainland and coast; the archipelagos are in view where the screen is wide enough. */
export const COUNTRY: Box = { west: 101.8, south: 8.2, east: 112, north: 23.5 };

export function openControls(map: MapView): void {
  const button = (label: TextKey, sign: string, run: () => void): HTMLElement =>
    element('button', { text: sign, label, attributes: { type: 'button' }, on: { click: run } });
  const frame = byId('map').parentElement;
  frame?.append(
    element(
      'div',
      { class: 'map-buttons' },
      button('zoomIn', '+', () => map.zoomBy(1)),
      button('zoomOut', '−', () => map.zoomBy(-1)),
      button('wholeCountry', '⌂', () => map.showBox(COUNTRY)),
    ),
    element('div', { class: 'cross', attributes: { 'aria-hidden': 'true' } }),
    element('p', { class: 'hidden-hint', key: 'mapHint', attributes: { id: 'map-hint' } }),
  );
}
