// Names of XML 1.0 (fifth edition), and markup that is made of them and of quoted texts alone.

import { broken } from './xml-text.js';

const S = '[ \\t\\r\\n]';
const FIRST =
  ':A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f' +
  '\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
const NAME = `[${FIRST}][${FIRST}.0-9\\xb7\\u0300-\\u036f\\u203f\\u2040-]*`;
const SYSTEM = `(?:"[^"]*"|'[^']*')`;
const PUBLIC = `(?:"[ \\r\\n\\w'()+,./:=?;!*#@$%-]*"|'[ \\r\\n\\w()+,./:=?;!*#@$%-]*')`;
const WHOLE_NAME = new RegExp(`^${NAME}$`, 'u');

/** The declaration of XML, which a document may begin with. */
export const DECLARATION = new RegExp(
  `^<\\?xml${S}+version${S}*=${S}*(["'])1\\.\\d+\\1(?:${S}+encoding${S}*=${S}*(["'])[A-Za-z][\\w.:-]*\\2)?` +
    `(?:${S}+standalone${S}*=${S}*(["'])(?:yes|no)\\3)?${S}*\\?>$`,
);
export const INSTRUCTION = new RegExp(`^<\\?(?![xX][mM][lL][\\s?])${NAME}(?:${S}|\\?>$)`, 'u');
/** A document type without declarations of its own. */
export const TYPE = new RegExp(
  `^<!DOCTYPE${S}+${NAME}(?:${S}+(?:SYSTEM|PUBLIC${S}+${PUBLIC})${S}+${SYSTEM})?${S}*>$`,
  'u',
);
/** ASCII letters of names: 1. */
const IN_NAME = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w.:-]/.test(String.fromCharCode(code))),
);

export interface Name {
  readonly qualified: string;
  /** Without the prefix of its namespace. */
  readonly local: string;
}

/** Whether a name is in a text at an index: quicker than `startsWith` for the few letters of one. */
export function isAt(text: string, name: string, at: number): boolean {
  for (let i = 0; i < name.length; i++) if (text.charCodeAt(at + i) !== name.charCodeAt(i)) return false;
  return true;
}

/** Names by their letters: a document has few, each of which is made once. */
export class Names {
  readonly #kept = new Array<Name | undefined>(256).fill(undefined);
  /** Where the last name ended. */
  end = 0;

  /** @returns null where the text ends before the name does */
  read(text: string, from: number, kind: 'nodeName' | 'attribute name'): Name | null {
    let hash = 0;
    let at = from;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code < IN_NAME.length && IN_NAME[code] === 0) break;
      hash = (31 * hash + code) & 0xff_ffff;
    }
    if (at === text.length) return null;
    this.end = at;
    const index = hash % this.#kept.length;
    const kept = this.#kept[index];
    if (kept?.qualified.length === at - from && isAt(text, kept.qualified, from)) return kept;
    const qualified = text.slice(from, at);
    if (!WHOLE_NAME.test(qualified))
      throw broken(`illegal ${kind} ${JSON.stringify(qualified.slice(0, 40))}`);
    const made = { qualified, local: qualified.slice(qualified.indexOf(':') + 1) };
    this.#kept[index] = made;
    return made;
  }
}
