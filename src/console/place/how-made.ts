// How a code is made, shown on the code itself: province, cell, finer cell and check symbol; and one with a slip, which
// can be tried.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { edge, parent } from '../../hexcodes/geometry/cells.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { byId, element } from '../shell/elements.js';
import { h3 } from '../shell/h3.js';
import { say } from '../words/language.js';
import { length } from './around.js';

// The parts of a code, and a slip in it (docs/code-format.md).

/** The first group of a code names a cell of this resolution at most; the groups after it name finer ones. */
const FIRST_GROUP = { symbols: 5, resolution: 7 };
const SYMBOLS = '23456789CFGHJKMPQRVX';

interface Parts {
  readonly province: string;
  readonly cell: string;
  /** '' where the code has one group. */
  readonly finer: string;
  readonly check: string;
}

/** @param code canonical */
export function partsOf(code: string): Parts {
  const start = code.indexOf('-') + 1;
  const rest = code.slice(start, -1);
  return {
    province: code.slice(0, start - 1),
    cell: rest.slice(0, FIRST_GROUP.symbols),
    finer: rest.slice(FIRST_GROUP.symbols).replace(/^-|-$/g, ''),
    check: code.slice(-1),
  };
}

/** The code with the next symbol instead of the last before its check: a slip, which is not a code. */
export function withSlip(code: string): string {
  const at = code.replaceAll('-', ' ').slice(0, -1).trimEnd().length - 1;
  const wrong = SYMBOLS[(SYMBOLS.indexOf(code[at]!) + 1) % SYMBOLS.length];
  return code.slice(0, at) + wrong + code.slice(at + 1);
}

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
