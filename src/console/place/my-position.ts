// The button "my position": where the device says that it is, with its error, for as long as one watches.
import type { Desk } from '../desk.js';
import { element, toast } from '../shell/elements.js';
import { language, say } from '../words/language.js';
import { length } from './around.js';
import { chosenResolution, placeAt, resolutionFor } from './place.js';

const LONGEST_MS = 20_000;

/** A button that begins to watch, and ends it; another place that is chosen ends it too. */
export function myPosition(desk: Desk): HTMLElement {
  let watch: number | undefined;
  let shown = '';
  let resolution = -1;
  const button = element('button', {
    key: 'myPosition',
    class: 'locate',
    attributes: { type: 'button', id: 'my-position', 'aria-pressed': 'false' },
    on: { click: () => (watch === undefined ? start() : stop()) },
  });
  const status = element('p', {
    class: 'soft position-status',
    attributes: { role: 'status', id: 'position-status' },
  });

  const stop = (words = ''): void => {
    if (watch !== undefined) navigator.geolocation.clearWatch(watch);
    watch = undefined;
    tell(words);
  };
  const tell = (words: string): void => {
    if (status.textContent !== words) status.textContent = words;
    const key = watch === undefined ? 'myPosition' : 'stopWatching';
    button.dataset.text = key;
    button.textContent = say(key);
    button.setAttribute('aria-pressed', String(watch !== undefined));
  };
  const start = (): void => {
    if (!('geolocation' in navigator)) {
      tell(say('positionUnknown'));
      return;
    }
    shown = '';
    resolution = -1;
    watch = navigator.geolocation.watchPosition(take, refuse, {
      enableHighAccuracy: true,
      timeout: LONGEST_MS,
      maximumAge: 0,
    });
    tell(say('positionWanted'));
  };
  const take = ({ coords }: GeolocationPosition): void => {
    if (watch === undefined) return;
    const { latitude, longitude, accuracy: accuracyM } = coords;
    const finest = resolutionFor(accuracyM);
    const wanted = Math.min(finest, chosenResolution.now);
    const place = placeAt(desk.library, latitude, longitude, wanted, { accuracyM, finest });
    if (place === undefined) {
      stop(say('outside'));
      return;
    }
    tell(say('watching', { distance: length(accuracyM) }));
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
    const words = say(code === PERMISSION_DENIED ? 'positionDenied' : 'positionUnknown');
    stop(words);
    toast(words);
  };
  desk.place.on((place) => {
    if (watch !== undefined && shown !== '' && place?.accuracyM === undefined) stop();
  });
  language.on(() => tell(''));
  return element('div', { class: 'my-position' }, button, status);
}
