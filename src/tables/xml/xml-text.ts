// Letters of XML 1.0: encodings, blanks, and what references stand for.

import { utf16Of } from '../formats.js';
import { TableError } from '../table-error.js';

export const broken = (fault: string): TableError =>
  new TableError(`it is not XML as it should be: ${fault}`);

/** First bytes, which say the encoding. */
const HEAD_BYTES = 300;
const ENCODING = /^<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)["']/;

/** Text of bytes as they come. */
export class XmlDecoder {
  #decoder: TextDecoder | undefined;
  /** Bytes that wait for those after them. */
  #held: Uint8Array = new Uint8Array(0);

  /** @throws TableError for bytes that are not of their encoding */
  decode(bytes: Uint8Array, isLast: boolean): string {
    let all = bytes;
    if (this.#held.length > 0) {
      all = new Uint8Array(this.#held.length + bytes.length);
      all.set(this.#held);
      all.set(bytes, this.#held.length);
    }
    if (this.#decoder === undefined) {
      if (all.length < HEAD_BYTES && !isLast) {
        this.#held = all.slice();
        return '';
      }
      if (all[0] === 0xef && all[1] === 0xbb && all[2] === 0xbf) all = all.subarray(3);
      this.#decoder = decoderOf(all);
    }
    // Node decodes UTF-8 four times as fast where no sequence is cut.
    const isStream = this.#decoder.encoding !== 'utf-8';
    const end = isStream || isLast ? all.length : wholeEnd(all);
    this.#held = all.slice(end);
    try {
      return this.#decoder.decode(all.subarray(0, end), { stream: isStream && !isLast });
    } catch {
      throw new TableError('it holds bytes that are not of its encoding');
    }
  }
}

function decoderOf(head: Uint8Array): TextDecoder {
  const start = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
  const utf16 = utf16Of(head);
  const named = utf16 ?? ENCODING.exec(start)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(named, { fatal: true, ignoreBOM: utf16 === undefined });
  } catch {
    throw new TableError(`its encoding ${named} is not known`);
  }
}

/** The end of bytes of UTF-8 without a last letter that is cut. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back < 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0)
      return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Letters that a document may not hold. No decoder gives half of a surrogate pair. */
export const CONTROL = /[^\t\n\r -\ufffd]/;
const REFERENCE = /&(?:#(\d+);|#x([0-9a-fA-F]+);|(amp|lt|gt|quot|apos);)?/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const LAST_POINT = 0x10_ffff;

/** Text or an attribute with what its references stand for. @throws TableError for one of a document's own */
export function dereferenced(text: string): string {
  return text.replace(REFERENCE, (_, decimal?: string, hex?: string, name?: string, at?: number) => {
    if (name !== undefined) return NAMED[name]!;
    const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    const isPoint = point <= LAST_POINT && (point < 0xd800 || point > 0xdfff);
    const letter = isPoint ? String.fromCodePoint(point) : '';
    if (letter === '' || CONTROL.test(letter))
      throw broken(`${JSON.stringify(/^&[^;]{0,20};?/.exec(text.slice(at))![0])} is not a reference of XML`);
    return letter;
  });
}

/** Line ends as a reader of XML has to give them (XML 1.0, 2.11). */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n');

// Names of XML 1.0 (fifth edition), and markup that is made of them and of quoted texts alone.

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
