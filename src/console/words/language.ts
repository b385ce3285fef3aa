// The language of the page: chosen by the visitor, else by the browser. Elements name their texts by data attributes,
// so that a switch translates the page in its present state.
import { keep, kept, Value } from '../shell/value.js';
import { TEXTS, type TextKey } from './texts.js';

export type Language = keyof typeof TEXTS;

const KEPT = 'hexcodes-language';

/** Attributes that name a text, and those that they fill. */
const FILLED = { label: 'aria-label', title: 'title', placeholder: 'placeholder' } as const;

export const language = new Value<Language>(firstLanguage());

/** The text of a key, with {names} filled in. */
export function say(key: TextKey, names: Readonly<Record<string, string | number>> = {}): string {
  return TEXTS[language.now][key].replace(/\{(\w+)\}/g, (_, name: string) => String(names[name] ?? ''));
}

/** A number as people of the language write it. */
export function number(value: number, mostDigits = 0): string {
  return new Intl.NumberFormat(language.now, { maximumFractionDigits: mostDigits }).format(value);
}

/** Fills every element below `root` whose text or attributes are named. */
export function translate(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-text]'))
    element.textContent = say(element.dataset.text as TextKey);
  for (const [name, attribute] of Object.entries(FILLED)) {
    for (const element of root.querySelectorAll<HTMLElement>(`[data-${name}]`))
      element.setAttribute(attribute, say(element.dataset[name] as TextKey));
  }
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
    translate(document);
  });
}

function firstLanguage(): Language {
  const chosen = kept(KEPT);
  if (chosen === 'vi' || chosen === 'en') return chosen;
  return navigator.languages.some((each) => each.toLowerCase().startsWith('vi')) ? 'vi' : 'en';
}
