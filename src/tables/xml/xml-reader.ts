// XML as it comes, by saxen: elements by their local names, with the text that is directly in them. Entities of a
// document's own and other files are not read.

import { Parser } from 'saxen';
import { TableError } from '../table-error.js';
import { utf16Of } from './utf16.js';

export interface XmlEvents {
  /**
   * @param name without the prefix of its namespace
   * @param attributes their values as they are: `decoded` reads references in one, `attributesOf` in all
   * @param qualified the name as the file writes it
   * @returns false where the text of the element is not wanted: `close` is then told of none
   */
  open(name: string, attributes: () => Readonly<Record<string, string>>, qualified: string): unknown;
  /** @param whole the text with the blanks around it */
  close(name: string, text: string, whole: string): void;
}

/** Deepest nesting of elements. */
const MAX_DEPTH = 512;
/** Text of one element, and bytes without the end of a tag: both are held. */
const MAX_LETTERS = 16 * 1024 * 1024;
/** Text between documents that stand one after the other. */
const OUTSIDE_ROOT = 'non-whitespace outside of root node';
const ENCODING = /^<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)["']/;

export class XmlReader {
  readonly #parser = new Parser();
  /** Text of the open elements, outermost first; of one whose text is not wanted its length. */
  readonly #texts: (string | number)[] = [];
  #decoder: TextDecoder | undefined;
  /** Bytes since the last tag or text: the parser holds them, and reads them again with each chunk. */
  #sinceEvent = 0;
  #waiting: string[] = [];
  #waitingLetters = 0;
  #hasRoot = false;

  constructor(events: XmlEvents) {
    const parser = this.#parser;
    const texts = this.#texts;
    const addText = (text: string): void => {
      this.#sinceEvent = 0;
      if (texts.length === 0) return;
      const before = texts[texts.length - 1]!;
      const all = typeof before === 'string' ? before + text : before + text.length;
      if ((typeof all === 'string' ? all.length : all) > MAX_LETTERS)
        throw new TableError('a text in it is longer than 16 MiB');
      texts[texts.length - 1] = all;
    };
    parser.on('openTag', (name, attributes) => {
      this.#sinceEvent = 0;
      this.#hasRoot = true;
      if (texts.length >= MAX_DEPTH) throw new TableError(`elements are nested more than ${MAX_DEPTH} deep`);
      const isWanted = events.open(localName(name), attributes as () => Record<string, string>, name);
      texts.push(isWanted === false ? 0 : '');
    });
    parser.on('closeTag', (name) => {
      this.#sinceEvent = 0;
      const text = texts.pop()!;
      const whole = typeof text === 'string' ? text : '';
      events.close(localName(name), whole.trim(), whole);
    });
    parser.on('text', (text) => addText(decoded(text)));
    parser.on('cdata', (text) => addText(withLineFeeds(text)));
    // Saxen leaves out attributes that it does not understand or that are given twice.
    parser.on('warn', ({ message }) => {
      if (message !== OUTSIDE_ROOT) throw new TableError(`it is not XML as it should be: ${message}`);
    });
    parser.on('error', (error) => {
      throw error instanceof TableError
        ? error
        : new TableError(`it is not XML as it should be: ${error.message}`);
    });
  }

  /** @throws TableError for what is not XML */
  push(bytes: Uint8Array): void {
    this.#decoder ??= decoderOf(bytes);
    const heldBytes = this.#sinceEvent;
    this.#sinceEvent += bytes.length;
    if (this.#sinceEvent > MAX_LETTERS) throw new TableError('16 MiB of it have no tag');
    const text = this.#decoded(bytes, true);
    this.#waiting.push(text);
    this.#waitingLetters += text.length;
    // Twice as much each time: the same letters are read again a bounded number of times.
    if (2 * this.#waitingLetters >= heldBytes) this.#parseWaiting();
  }

  /** @param last the end of the text; else what is after the last tag waits for its end */
  #parseWaiting(last?: string): void {
    const text = this.#waiting.join('') + (last ?? '');
    const end = last === undefined ? text.lastIndexOf('>') + 1 : 0;
    const rest = end === 0 ? '' : text.slice(end);
    this.#waiting = [rest];
    this.#waitingLetters = rest.length;
    this.#parser.write(end === 0 ? text : text.slice(0, end));
  }

  /** @throws TableError where the text ends too early */
  end(): void {
    this.#parseWaiting(this.#decoded());
    try {
      this.#parser.end();
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      throw new TableError('the file ends in the middle');
    }
    if (!this.#hasRoot || this.#texts.length > 0) throw new TableError('the file ends in the middle');
  }

  #decoded(bytes?: Uint8Array, stream = false): string {
    try {
      return this.#decoder?.decode(bytes, { stream }) ?? '';
    } catch {
      throw new TableError('it holds bytes that are not of its encoding');
    }
  }
}

function decoderOf(head: Uint8Array): TextDecoder {
  const named =
    utf16Of(head) ??
    ENCODING.exec(latin1(head.subarray(0, 300)).replace(/^\xef\xbb\xbf/, ''))?.[1] ??
    'utf-8';
  try {
    return new TextDecoder(named, { fatal: true });
  } catch {
    throw new TableError(`its encoding ${named} is not known`);
  }
}

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const LAST_POINT = 0x10_ffff;

/** Text or an attribute with what its references stand for. Those of a document's own stay as they are. */
export function decoded(text: string): string {
  const plain = withLineFeeds(text);
  if (!plain.includes('&')) return plain;
  return plain.replace(REFERENCE, (all, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name]!;
    const point = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return point > LAST_POINT ? all : String.fromCodePoint(point);
  });
}

/** Attributes with what references in their values stand for. */
export function attributesOf(
  attributes: () => Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const read = attributes();
  for (const name in read)
    if (read[name]!.includes('&') || read[name]!.includes('\r'))
      return Object.fromEntries(Object.entries(read).map(([name, each]) => [name, decoded(each)]));
  return read;
}

/** Line ends as a reader of XML has to give them (XML 1.0, 2.11). */
const withLineFeeds = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);
