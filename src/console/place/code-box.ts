// The box for a code or a position. It answers while one types; a text that is neither gets suggestions once one stops
// typing.
import { suggest } from '../../hexcodes/geometry/suggest.js';
import type { Desk } from '../desk.js';
import { byId, element } from '../shell/elements.js';
import { number, say } from '../words/language.js';
import { myPositionButton } from './my-position.js';
import { type Place, readPlace } from './place.js';
import { chosenResolution } from './resolution.js';

/** From here on a text is long enough to be a code with a slip; shorter ones are still being typed. */
const LEAST_LETTERS = 5;
const PAUSE_MS = 700;
const MOST_SUGGESTIONS = 5;

/** @param choose called with the place that the text names */
export function openCodeBox(desk: Desk, choose: (place: Place) => void): void {
  const box = byId<HTMLInputElement>('code');
  const answer = element('div', {
    class: 'box-answer',
    attributes: { 'aria-live': 'polite', id: 'box-answer' },
  });
  byId('code-hint').after(myPositionButton(desk));
  byId('code-form').append(answer);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const read = (isFinal: boolean): void => {
    clearTimeout(timer);
    const text = box.value;
    answer.replaceChildren();
    box.removeAttribute('aria-invalid');
    if (text.trim() === '') return;
    const reading = readPlace(desk.library, text, chosenResolution.now);
    if (reading.kind === 'place') choose(reading.place);
    else if (isFinal) explain(text, reading.kind);
    else if (text.trim().length >= LEAST_LETTERS) timer = setTimeout(() => read(true), PAUSE_MS);
  };

  const explain = (text: string, kind: 'outside' | 'unreadable'): void => {
    box.setAttribute('aria-invalid', 'true');
    if (kind === 'outside') {
      answer.append(element('p', { class: 'note', text: say('outside') }));
      return;
    }
    const near = desk.map.now?.center();
    const limit = MOST_SUGGESTIONS;
    const found = suggest(desk.library, text.trim(), near === undefined ? { limit } : { near, limit });
    answer.append(
      element('p', { class: 'note', text: say(found.length === 0 ? 'unreadable' : 'didYouMean') }),
    );
    if (found.length === 0) return;
    const list = element('ul', { class: 'suggestions' });
    for (const { hexcodes, distance_m } of found) {
      const button = element('button', {
        class: 'suggestion',
        attributes: { type: 'button' },
        on: { click: () => take(hexcodes) },
      });
      button.append(element('span', { class: 'code', text: hexcodes }));
      if (distance_m !== undefined)
        button.append(
          element('span', { class: 'soft', text: say('away', { km: number(distance_m / 1000, 1) }) }),
        );
      list.append(element('li', {}, button));
    }
    answer.append(list);
  };

  const take = (text: string): void => {
    box.value = text;
    read(true);
    box.focus();
  };

  box.addEventListener('input', (event) => read((event as InputEvent).inputType === 'insertFromPaste'));
  byId('code-form').addEventListener('submit', (event) => {
    event.preventDefault();
    read(true);
  });
  // The box shows a position that was chosen elsewhere, on the map for instance; text that one types there stays.
  desk.place.on((place) => {
    if (place === undefined || document.activeElement === box) return;
    box.value = place.hexcodes;
    box.removeAttribute('aria-invalid');
    answer.replaceChildren();
  });
  if (box.value !== '') read(true);
}
