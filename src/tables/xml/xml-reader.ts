// XML as it comes, by saxen: elements by their local names, with the text that is directly in them. Entities of a
// document's own and other files are not read.

import { Parser } from 'saxen';
import { TableError } from '../table-error.js';

export interface XmlEvents {
  open(name: string, attributes: () => Readonly<Record<string, string>>): void;
  close(name: string, text: string): void;
}

/** Elements within one another. */
const MOST_DEPTH = 512;
/** Text of one element, and bytes without the end of a tag: both are held. */
const MOST_LETTERS = 16 * 1024 * 1024;
const ENCODING = /^<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)["']/;

export class XmlReader {
  readonly #parser = new Parser();
  /** Text of the open elements, outermost first. */
  readonly #texts: string[] = [];
  #decoder: TextDecoder | undefined;
  #sinceEvent = 0;
  #hasRoot = false;

  constructor(events: XmlEvents) {
    const parser = this.#parser;
    const texts = this.#texts;
    const addText = (text: string): void => {
      this.#sinceEvent = 0;
      if (texts.length === 0) return;
      const all = texts[texts.length - 1]! + text;
      if (all.length > MOST_LETTERS) throw new TableError('a text in it is longer than 16 MiB');
      texts[texts.length - 1] = all;
    };
    parser.on('openTag', (name, attributes) => {
      this.#sinceEvent = 0;
      this.#hasRoot = true;
      if (texts.length >= MOST_DEPTH)
        throw new TableError(`elements are nested more than ${MOST_DEPTH} deep`);
      texts.push('');
      events.open(localName(name), () => attributes() as Record<string, string>);
    });
    parser.on('closeTag', (name) => {
      this.#sinceEvent = 0;
      events.close(localName(name), texts.pop()!.trim());
    });
    parser.on('text', (text, decode) => addText(decode(text)));
    parser.on('cdata', (text) => addText(text));
    parser.on('error', (error) => {
      throw error instanceof TableError
        ? error
        : new TableError(`it is not XML as it should be: ${error.message}`);
    });
  }

  /** @throws TableError for what is no XML */
  push(bytes: Uint8Array): void {
    this.#decoder ??= decoderOf(bytes);
    this.#sinceEvent += bytes.length;
    if (this.#sinceEvent > MOST_LETTERS) throw new TableError('16 MiB of it have no tag');
    this.#write(() => this.#parser.write(this.#decoder!.decode(bytes, { stream: true })));
  }

  /** @throws TableError where the text ends too early */
  end(): void {
    this.#write(() => this.#parser.write(this.#decoder?.decode() ?? ''));
    try {
      this.#parser.end();
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      throw new TableError('the file ends in the middle');
    }
    if (!this.#hasRoot || this.#texts.length > 0) throw new TableError('the file ends in the middle');
  }

  #write(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      if (error instanceof TypeError) throw new TableError('it holds bytes that are not of its encoding');
      throw error;
    }
  }
}

function decoderOf(head: Uint8Array): TextDecoder {
  const [first, second] = head;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const text = String.fromCharCode(...head.subarray(0, 300)).replace(/^\xef\xbb\xbf/, '');
  const named = isUtf16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : (ENCODING.exec(text)?.[1] ?? 'utf-8');
  try {
    return new TextDecoder(named, { fatal: true });
  } catch {
    throw new TableError(`its encoding ${named} is not known`);
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
