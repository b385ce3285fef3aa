// Copies of a place: its code, its H3 index, its cell as GeoJSON, a link.
import { cellFeature } from '../../hexcodes/geometry/geojson.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { element, toast } from '../shell/elements.js';
import { say } from '../words/language.js';
import type { TextKey } from '../words/texts.js';
import type { Place } from './place.js';
import { linkTo } from './share-link.js';

export function copyButtons(library: Hexcodes, place: Place): HTMLElement {
  const kinds: readonly [TextKey, string, () => string][] = [
    ['copyCode', 'code', () => place.hexcodes],
    ['copyLink', 'link', () => linkTo(place.hexcodes)],
    ['copyH3', 'h3', () => place.cell.toString(16)],
    ['copyGeoJson', 'geojson', () => JSON.stringify(cellFeature(library, place.hexcodes))],
  ];
  const buttons = kinds.map(([key, id, textOf]) =>
    element('button', {
      key,
      attributes: { type: 'button', id: `copy-${id}` },
      on: { click: () => void copy(textOf()) },
    }),
  );
  return element('div', { class: 'copies', label: 'copyAs', attributes: { role: 'group' } }, ...buttons);
}

/** Puts a text on the clipboard. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(say('copied'));
  } catch {
    // On plain http browsers have no clipboard for pages: the old way, by a selection.
    const area = element('textarea', { class: 'off-screen', text });
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    toast(say(isDone ? 'copied' : 'notCopied'));
  }
}
