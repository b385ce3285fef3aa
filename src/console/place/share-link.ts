// The place in the address of the page, as `/#HN-6GHP4-83RFR`: a link that can be sent on.
import type { Desk } from '../desk.js';
import { placeOf } from './place.js';

export const linkTo = (code: string): string => `${location.origin}/#${code}`;

export function openShareLinks(desk: Desk): void {
  const read = (): void => {
    const text = textOf(location.hash.slice(1));
    const place = text === '' ? undefined : placeOf(desk.library, text);
    if (place === undefined || place.hexcodes === desk.place.now?.hexcodes) return;
    desk.place.set(place);
    desk.map.now?.show(place);
  };
  addEventListener('hashchange', read);
  read();
  desk.place.on((place) => {
    // Not a step of the history each: "back" leaves the page.
    if (place !== undefined) history.replaceState(null, '', `#${place.hexcodes}`);
  });
}

function textOf(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return '';
  }
}
