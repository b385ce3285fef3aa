// The language of the page: chosen by the visitor, else by the browser. Elements name their texts by data attributes,
// so that a switch translates the page in its present state.
import { keep, kept, Value } from '../shell/value.js';
import { TEXTS, type TextKey } from './texts.js';

export type Language = 'vi' | 'en';

const KEPT = 'hexcodes-language';

export const language = new Value<Language>(firstLanguage());

/** The text of a key, with {names} filled in. */
export function say(key: TextKey, names: Readonly<Record<string, string | number>> = {}): string {
  return TEXTS[key][language.now === 'vi' ? 0 : 1].replace(/\{(\w+)\}/g, (_, name: string) =>
    String(names[name] ?? ''),
  );
}

/** A number as people of the language write it. */
export function number(value: number, maxDigits = 0): string {
  return new Intl.NumberFormat(language.now, { maximumFractionDigits: maxDigits }).format(value);
}

const texts = new WeakMap<HTMLElement, () => string>();

/** Gives an element a text that is said again at each switch of the language. */
export function tell(element: HTMLElement, text: () => string): void {
  texts.set(element, text);
  element.dataset.said = '';
  const words = text();
  // A live region says what is written again.
  if (element.textContent !== words) element.textContent = words;
}

/** Fills every element whose text or label is named. */
function translate(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]'))
    element.textContent = say(element.dataset.text as TextKey);
  for (const element of document.querySelectorAll<HTMLElement>('[data-said]'))
    tell(element, texts.get(element)!);
  for (const element of document.querySelectorAll<HTMLElement>('[data-label]'))
    element.setAttribute('aria-label', say(element.dataset.label as TextKey));
}

export function choose(next: Language): void {
  keep(KEPT, next);
  language.set(next);
}

/** Translates the page now and at each switch. */
export function openLanguage(): void {
  // Chosen in another tab.
  addEventListener('storage', ({ key }) => key === KEPT && language.set(firstLanguage()));
  language.each((now) => {
    document.documentElement.lang = now;
    translate();
  });
}

function firstLanguage(): Language {
  const chosen = kept(KEPT);
  if (chosen === 'vi' || chosen === 'en') return chosen;
  return navigator.languages.some((each) => each.toLowerCase().startsWith('vi')) ? 'vi' : 'en';
}
