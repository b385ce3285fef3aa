// The button "my position": the place where the browser says that it is.
import type { Desk } from '../desk.js';
import { element, toast } from '../shell/elements.js';
import { say } from '../words/language.js';
import { chooseAt } from './choose.js';

const LONGEST_MS = 20_000;

export function myPositionButton(desk: Desk): HTMLButtonElement {
  const button = element('button', {
    class: 'link',
    key: 'myPosition',
    attributes: { type: 'button', id: 'my-position' },
    on: {
      click: () => {
        button.disabled = true;
        navigator.geolocation.getCurrentPosition(
          ({ coords }) => {
            button.disabled = false;
            const place = chooseAt(desk, coords.latitude, coords.longitude);
            if (place !== undefined) desk.map.now?.show(place);
          },
          ({ code, PERMISSION_DENIED }) => {
            button.disabled = false;
            toast(say(code === PERMISSION_DENIED ? 'positionDenied' : 'positionUnknown'));
          },
          { enableHighAccuracy: true, timeout: LONGEST_MS, maximumAge: 0 },
        );
      },
    },
  });
  return button;
}
