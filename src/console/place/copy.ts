// The place in the address of the page, as `/#HN-6GHP4-83RFR`, and on the clipboard.
import type { Desk } from '../desk.js';
import { element, toast } from '../shell/elements.js';
import { keep, kept, Value } from '../shell/value.js';
import { shipped } from '../shipped.js';
import { say } from '../words/language.js';
import type { Place } from './place.js';

/** The address of the page, as one types it. */
export const ADDRESS = `${location.host}${location.pathname}`.replace(/\/(?:index\.html)?$/, '');

/** The link of a place: where the operator wants previews, with the code in the path, which the service then learns. */
export const linkTo = (code: string): string =>
  shipped.hasPathLinks ? `${location.origin}/${code}` : `${location.origin}${location.pathname}#${code}`;

/** @param look takes the text of a link, which may be a code with a slip or with parameters of others after it */
export function openShareLinks(desk: Desk, look: (text: string) => void): void {
  let isReading = false;
  /** The place of the address. */
  let shown: Place | undefined;
  const read = (): void => {
    const text = textOf(location.hash.slice(1));
    if (text !== '' && text === desk.place.now?.hexcodes) return;
    isReading = true;
    look(text);
    if (text === '' && desk.place.now !== undefined) desk.place.set(undefined);
    isReading = false;
  };
  desk.place.on((place) => {
    // While a text is being typed there is no place: the address keeps the previous one, to which Back leads.
    if (place === undefined) {
      if (isReading) shown = undefined;
      return;
    }
    const isSame = place.root.hexcodes === shown?.root.hexcodes;
    const isTypedOn = shown?.typed !== undefined && place.typed?.startsWith(shown.typed) === true;
    const isStep = !isReading && !isSame && !isTypedOn && place.accuracyM === undefined;
    shown = place;
    const address = `#${place.hexcodes}`;
    if (address === location.hash) return;
    history[isStep ? 'pushState' : 'replaceState'](null, '', address);
  });
  addEventListener('hashchange', read);
  // On a slow network the visitor may have typed before this script was loaded.
  const typed = desk.place.now;
  if (typed !== undefined && location.hash === '') desk.place.set(typed);
  else read();
}

function textOf(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

const RECENT = 'hexcodes-recent';
const MAX_RECENT = 8;
/** Time for which a place must be shown to count as viewed. */
const LOOKED_AT_MS = 1500;

/** Codes that were viewed last, the newest first; kept in the browser until they are removed. */
const keptCodes = (): readonly string[] => (kept(RECENT) ?? '').split(' ').filter((code) => code !== '');
export const recentCodes = new Value(keptCodes());

export function openRecent(desk: Desk): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A code that is removed in one tab must not come back from another.
  addEventListener('storage', ({ key }) => {
    if (key === RECENT || key === null) recentCodes.set(keptCodes());
  });
  // Another tab may have kept one while this page loaded.
  const codes = keptCodes();
  if (codes.join() !== recentCodes.now.join()) recentCodes.set(codes);
  desk.place.on((place) => {
    clearTimeout(timer);
    if (place === undefined || place.accuracyM !== undefined) return;
    timer = setTimeout(() => {
      const others = recentCodes.now.filter((code) => code !== place.hexcodes);
      keepRecent([place.hexcodes, ...others].slice(0, MAX_RECENT));
    }, LOOKED_AT_MS);
  });
}

export function keepRecent(codes: readonly string[]): void {
  keep(RECENT, codes.join(' '));
  recentCodes.set(codes);
}

/** Puts a text on the clipboard. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(say('copied'));
  } catch {
    // On plain http browsers give pages no clipboard: the old way is a selection.
    const area = element('textarea', { class: 'off-screen', text });
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    toast(say(isDone ? 'copied' : 'notCopied'));
  }
}
