// How a code is made, shown on the code itself: province, cell, finer cell and check symbol; and one with a slip, which
// can be tried.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { edge, parent } from '../../hexcodes/geometry/cells.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { byId, element } from '../shell/elements.js';
import { h3 } from '../shell/h3.js';
import { say } from '../words/language.js';
import { length } from './around.js';
import { FIRST_GROUP, partsOf, withSlip } from './code-parts.js';

export function howMade(library: Hexcodes, code: string): HTMLElement {
  const { province, cell, finer, check } = partsOf(code);
  const { resolution = 0 } = library.read(code) ?? {};
  // On the first view the numbers come with h3-js.
  const edgeAt = (of: number): string =>
    h3.now === undefined ? '…' : length(edge(library, parent(library, code, of))).replace(' ', '\u00a0');
  const part = (symbols: string, words: string): HTMLElement =>
    element('div', {}, element('dt', { class: 'code', text: symbols }), element('dd', { text: words }));
  const wrong = withSlip(code);
  return element(
    'section',
    { class: 'how-made' },
    element('h3', { key: 'howMade' }),
    element(
      'dl',
      { class: 'made' },
      part(province, ADMIN_UNITS.find((unit) => unit.code === province)?.name ?? province),
      part(cell, say('madeCell', { edge: edgeAt(Math.min(resolution, FIRST_GROUP.resolution)) })),
      ...(finer === '' ? [] : [part(finer, say('madeFiner', { edge: edgeAt(resolution) }))]),
      part(check, say('madeCheck')),
    ),
    element('p', { class: 'soft', key: 'oneSlip' }),
    element('button', {
      class: 'link',
      text: say('trySlip', { code: wrong }),
      id: 'try-slip',
      click: () => {
        byId<HTMLInputElement>('code').value = wrong;
        byId<HTMLFormElement>('code-form').requestSubmit();
      },
    }),
  );
}
