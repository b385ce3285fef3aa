// Chooses a place by a click on the map, in the hexagons that are drawn there.

import type { Desk } from '../desk.js';
import { toast } from '../shell/elements.js';
import { say } from '../words/language.js';
import { length } from './around.js';
import { edgeM, placeAt, resolutionFor } from './place.js';

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
