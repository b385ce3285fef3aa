// Makes elements. Texts that change with the language are given by key (words/language.ts).

import { shipped } from '../shipped.js';
import { say, tell } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import { once } from './value.js';

// Offers a file to the visitor.

/** Time after which the browser has surely read the file, and it is released. */
const KEPT_MS = 60_000;

export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** Attributes that are set as they are given. */
type Attribute =
  | 'for'
  | `aria-${string}`
  | Exclude<
      Lowercase<
        string & keyof (HTMLInputElement & HTMLAnchorElement & HTMLTextAreaElement & HTMLTableCellElement)
      >,
      'id' | 'text' | 'hidden' | 'click' | 'label'
    >;

type Attributes = { [Name in Attribute]?: string };

interface Parts extends Attributes {
  id?: string | undefined;
  class?: string;
  /** A text, of one language in a function. */
  text?: string | (() => string);
  /** A text of the table. */
  key?: TextKey;
  /** The accessible name, of the table. */
  label?: TextKey;
  hidden?: boolean;
  click?: () => unknown;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
}

/** An element; a button submits nothing unless its attributes say so. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  parts: Parts = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const { id, class: className, text, key, label, hidden, click, on, ...attributes } = parts;
  const made = document.createElement(name);
  if (name === 'button') made.setAttribute('type', 'button');
  if (id !== undefined) made.id = id;
  if (className !== undefined) made.className = className;
  if (typeof text === 'function') tell(made, text);
  else if (text !== undefined) made.textContent = text;
  if (hidden === true) made.hidden = true;
  if (key !== undefined) {
    made.dataset.text = key;
    made.textContent = say(key);
  }
  if (label !== undefined) {
    made.dataset.label = label;
    made.setAttribute('aria-label', say(label));
  }
  for (const [attribute, value] of Object.entries(attributes as Record<string, string>))
    made.setAttribute(attribute, value);
  for (const [event, listener] of Object.entries({ click, ...on }))
    if (listener !== undefined) made.addEventListener(event, listener as EventListener);
  made.append(...children);
  return made;
}

/** A button with a text of the table. */
export const button = (key: TextKey, parts: Parts, click: () => unknown): HTMLButtonElement =>
  element('button', { ...parts, key, click });

/** A fold of a panel, closed at first. */
export const fold = (
  parts: { key: TextKey; id?: string },
  ...children: (Node | string)[]
): HTMLDetailsElement =>
  element('details', { class: 'fold', id: parts.id }, element('summary', { key: parts.key }), ...children);

/** An element of a picture. Only attributes: the policy of the page lets no element have a style of its own. */
export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  made.append(...children);
  return made;
}

/** The element of the page with this id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** Keys go on from the map. */
export const focusMap = (): void =>
  byId('map').querySelector<HTMLElement>('canvas[tabindex]')?.focus({ preventScroll: true });

/** Brings an element to the top of what scrolls. */
export function scrollTo(node: HTMLElement): void {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  node.scrollIntoView({ block: 'start', behavior: isStill ? 'auto' : 'smooth' });
}

let toastEnd: ReturnType<typeof setTimeout> | undefined;

/** Shows a passing message, also to screen readers. */
export function toast(text: string): void {
  const host = byId('toast');
  host.textContent = text;
  host.classList.add('is-shown');
  clearTimeout(toastEnd);
  toastEnd = setTimeout(() => host.classList.remove('is-shown'), 4000);
}

// Loads style sheets that come later than the page.

export function loadStyle(part: 'mapStyle' | 'laterStyle'): Promise<void> {
  const href = shipped.files[part];
  return new Promise((resolve, reject) => {
    const link = element('link', { rel: 'stylesheet', href });
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => {
      link.remove();
      reject(new Error(`${href} cannot be loaded`));
    });
    // The map library's style comes before our own, which takes precedence.
    if (part === 'mapStyle') document.head.prepend(link);
    else document.head.append(link);
  });
}

const laterStyle = once(() => loadStyle('laterStyle'));

/** A part of the page that comes later, once it has its style. */
export async function withStyle<Part>(part: Promise<Part>): Promise<Part> {
  const [loaded] = await Promise.all([part, laterStyle()]);
  return loaded;
}
