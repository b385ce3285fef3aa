// Chooses a place by a position: a click on the map, or where the visitor is.
import type { Desk } from '../desk.js';
import { toast } from '../shell/elements.js';
import { say } from '../words/language.js';
import { type Place, placeAt } from './place.js';
import { chosenResolution } from './resolution.js';

/** Returns undefined, and says so, where no province of Viet Nam is. */
export function chooseAt(desk: Desk, latDeg: number, lngDeg: number): Place | undefined {
  const place = placeAt(desk.library, latDeg, lngDeg, chosenResolution.now);
  if (place === undefined) toast(say('outside'));
  else desk.place.set(place);
  return place;
}
