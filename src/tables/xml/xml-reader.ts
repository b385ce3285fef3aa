// XML 1.0 in pieces: elements by their local names, with their attributes and the text that is directly in them.
// Documents that are not well-formed are refused; entities of a document's own and other files are not read.

import { TableError } from '../table-error.js';
import {
  broken,
  CONTROL,
  DECLARATION,
  dereferenced,
  INSTRUCTION,
  isAt,
  type Name,
  Names,
  TYPE,
  withLineFeeds,
  XmlDecoder,
} from './xml-text.js';

export interface XmlEvents {
  /**
   * @param name without the prefix of its namespace
   * @param qualified the name as the file writes it
   * @returns false where the text of the element is not wanted: `close` is then told of none
   */
  open(name: string, attributes: XmlAttributes, qualified: string): unknown;
  /** @param text with the blanks around it */
  close(name: string, text: string): void;
}

/** Attributes of the element that opens, until `open` returns. */
export interface XmlAttributes {
  readonly count: number;
  /** The value of an attribute with what its references stand for. */
  get(qualified: string): string | undefined;
  /** Names and values, in the order of the file. */
  entries(): readonly (readonly [qualified: string, value: string])[];
}

/** Deepest nesting of elements. */
const MAX_DEPTH = 512;
/** Text of one element, and bytes without the end of a tag: both are held. */
const MAX_LETTERS = 16 * 1024 * 1024;
/** Attributes of an element whose names are compared one by one. */
const FEW = 8;
const CUT = 'the file ends in the middle';
const INCOMPLETE = -1;
const BEYOND = 0x3fff_ffff;
const [TAB, LINE_FEED, RETURN, BLANK, SLASH, LESS] = [9, 10, 13, 32, 47, 60] as const;
const [BANG, QUOTE, AMPERSAND, APOSTROPHE, EQUALS, GREATER, QUESTION] = [33, 34, 38, 39, 61, 62, 63] as const;
const NOT_BLANK = /[^ \t\r\n]/;

/** The next place of a text in another, kept until it is passed. */
class Mark {
  #next = -1;

  constructor(private readonly what: string) {}

  reset(): void {
    this.#next = -1;
  }

  isIn(text: string, from: number, to: number): boolean {
    if (this.#next < from) {
      const next = text.indexOf(this.what, from);
      this.#next = next < 0 ? BEYOND : next;
    }
    return this.#next < to;
  }
}

const NO_ENTRIES: readonly (readonly [string, string])[] = [];

class Attributes implements XmlAttributes {
  count = 0;
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  add(name: string, value: string): void {
    this.#names[this.count] = name;
    this.#values[this.count++] = value;
  }

  get(qualified: string): string | undefined {
    for (let a = 0; a < this.count; a++) if (this.#names[a] === qualified) return this.#values[a];
    return undefined;
  }

  entries(): readonly (readonly [string, string])[] {
    if (this.count === 0) return NO_ENTRIES;
    const entries: [string, string][] = [];
    for (let a = 0; a < this.count; a++) entries.push([this.#names[a]!, this.#values[a]!]);
    return entries;
  }

  requireDistinct(): void {
    const names = this.#names;
    const seen = this.count > FEW ? new Set<string>() : undefined;
    for (let a = 0; a < this.count; a++)
      if (seen === undefined ? isAmong(names, a) : seen.size === seen.add(names[a]!).size)
        throw broken(`attribute <${names[a]}> already defined`);
  }
}

/** Whether an item is the same as one before it. */
function isAmong(names: readonly string[], index: number): boolean {
  for (let before = 0; before < index; before++) if (names[before] === names[index]) return true;
  return false;
}

/** Where in a document the reader is, between its elements. */
type Stage = 'start' | 'prolog' | 'typed' | 'within' | 'after';

export class XmlReader {
  readonly #names = new Names();
  readonly #attributes = new Attributes();
  readonly #ampersand = new Mark('&');
  readonly #return = new Mark('\r');
  readonly #sectionEnd = new Mark(']]>');
  readonly #marks = [this.#ampersand, this.#return, this.#sectionEnd];
  readonly #open: Name[] = [];
  /** Text of the open elements, outermost first; of one whose text is not wanted its length. */
  readonly #texts: (string | number)[] = [];
  #stage: Stage = 'start';
  readonly #decoder = new XmlDecoder();
  /** Bytes since the last tag or text. */
  #sinceEvent = 0;
  /** Letters that are read, and the rest, which begins with markup that is not whole. */
  #text = '';
  #rest = '';
  #waiting: string[] = [];
  #waitingLetters = 0;

  constructor(private readonly events: XmlEvents) {}

  /** @throws TableError for what is not XML */
  push(bytes: Uint8Array): void {
    this.#sinceEvent += bytes.length;
    if (this.#sinceEvent > MAX_LETTERS) throw new TableError('16 MiB of it have no tag');
    this.#take(this.#decoder.decode(bytes, false));
  }

  /** @throws TableError where the text ends too early */
  end(): void {
    this.#take(this.#decoder.decode(new Uint8Array(0), true));
    this.#scan();
    if (!this.#rest.startsWith('<') && this.#open.length === 0) this.#addOutside(this.#rest);
    else if (this.#rest !== '') throw new TableError(CUT);
    if (this.#stage !== 'after') throw new TableError(CUT);
  }

  #take(text: string): void {
    const control = text.search(CONTROL);
    const sound = control < 0 ? text : text.slice(0, control);
    this.#waiting.push(sound);
    this.#waitingLetters += sound.length;
    // Twice as much each time: the same letters are read again a bounded number of times.
    if (control >= 0 || 2 * this.#waitingLetters >= this.#rest.length) this.#scan();
    if (control >= 0) throw broken('illegal control character');
  }

  /** Reads what is whole. */
  #scan(): void {
    // A joined text is quicker to read than one that `+` makes.
    const text = [this.#rest, ...this.#waiting].join('');
    this.#text = text;
    this.#waiting = [];
    this.#waitingLetters = 0;
    for (const mark of this.#marks) mark.reset();
    let from = 0;
    while (from < text.length) {
      const at = text.charCodeAt(from) === LESS ? from : text.indexOf('<', from);
      if (at < 0) break;
      if (at > from) this.#addText(from, at);
      const end = this.#markup(at);
      from = end === INCOMPLETE ? at : end;
      if (end === INCOMPLETE) break;
    }
    this.#rest = text.slice(from);
  }

  /** @returns the end of a tag, comment, section, instruction or type that begins there, or INCOMPLETE */
  #markup(at: number): number {
    switch (this.#text.charCodeAt(at + 1)) {
      case SLASH:
        return this.#closeTag(at);
      case BANG:
        return this.#declaration(at);
      case QUESTION:
        return this.#instruction(at);
      default:
        return this.#openTag(at);
    }
  }

  #openTag(at: number): number {
    const name = this.#names.read(this.#text, at + 1, 'nodeName');
    if (name === null) return INCOMPLETE;
    let end = this.#names.end;
    const attributes = this.#attributes;
    attributes.count = 0;
    let code = this.#text.charCodeAt(end);
    if (code !== GREATER) {
      end = this.#readAttributes(end);
      if (end === INCOMPLETE) return INCOMPLETE;
      code = this.#text.charCodeAt(end);
    }
    if (attributes.count > 1) attributes.requireDistinct();
    this.#sinceEvent = 0;
    if (this.#open.length >= MAX_DEPTH)
      throw new TableError(`elements are nested more than ${MAX_DEPTH} deep`);
    const isWanted = this.events.open(name.local, attributes, name.qualified);
    this.#open.push(name);
    this.#texts.push(isWanted === false ? 0 : '');
    this.#stage = 'within';
    if (code === GREATER) return end + 1;
    this.#close();
    return end + 2;
  }

  /** @returns where `>` or `/>` is, or INCOMPLETE */
  #readAttributes(from: number): number {
    const text = this.#text;
    for (let end = from; ; ) {
      const at = this.#afterBlanks(end);
      const code = text.charCodeAt(at);
      if (code === GREATER) return at;
      if (code === SLASH) {
        if (at + 1 === text.length) return INCOMPLETE;
        if (text.charCodeAt(at + 1) === GREATER) return at;
      }
      if (at === text.length) return INCOMPLETE;
      if (at === end)
        throw broken(end === from ? 'invalid nodeName' : 'illegal character after attribute end');
      end = this.#attribute(at);
      if (end === INCOMPLETE) return INCOMPLETE;
    }
  }

  /** @returns the end of the attribute that begins there, or INCOMPLETE */
  #attribute(at: number): number {
    const text = this.#text;
    const name = this.#names.read(text, at, 'attribute name');
    if (name === null) return INCOMPLETE;
    const equals = this.#afterBlanks(this.#names.end);
    if (equals === text.length) return INCOMPLETE;
    if (text.charCodeAt(equals) !== EQUALS) throw broken('missing attribute value');
    const opening = this.#afterBlanks(equals + 1);
    if (opening === text.length) return INCOMPLETE;
    const quote = text.charCodeAt(opening);
    if (quote !== QUOTE && quote !== APOSTROPHE) throw broken('missing attribute value quotes');
    const from = opening + 1;
    let isPlain = true;
    let to = from;
    for (; to < text.length; to++) {
      const code = text.charCodeAt(to);
      if (code === quote) break;
      if (code === LESS) throw broken('missing closing quotes');
      if (code === AMPERSAND || code < BLANK) isPlain = false;
    }
    if (to === text.length) return INCOMPLETE;
    const value = text.slice(from, to);
    // Blanks of any kind are blanks (XML 1.0, 3.3.3).
    const plain = isPlain ? value : dereferenced(withLineFeeds(value).replace(/[\t\n]/g, ' '));
    this.#attributes.add(name.qualified, plain);
    return to + 1;
  }

  #closeTag(at: number): number {
    const text = this.#text;
    const name = this.#open[this.#open.length - 1];
    if (name === undefined) throw broken('missing open tag');
    const from = at + 2;
    const end = this.#afterBlanks(from + name.qualified.length);
    if (end >= text.length && name.qualified.startsWith(text.slice(from).trimEnd())) return INCOMPLETE;
    if (!isAt(text, name.qualified, from) || text.charCodeAt(end) !== GREATER)
      throw broken('closing tag mismatch');
    this.#sinceEvent = 0;
    this.#close();
    return end + 1;
  }

  #close(): void {
    const name = this.#open.pop()!;
    const text = this.#texts.pop()!;
    if (this.#open.length === 0) this.#stage = 'after';
    this.events.close(name.local, typeof text === 'string' ? text : '');
  }

  /** A comment, a CDATA section or a document type. */
  #declaration(at: number): number {
    const text = this.#text;
    if (text.startsWith('<!--', at)) {
      const end = text.indexOf('--', at + 4);
      if (end < 0 || end + 2 === text.length) return INCOMPLETE;
      if (text.charCodeAt(end + 2) !== GREATER) throw broken('"--" in a comment');
      if (this.#stage === 'start') this.#stage = 'prolog';
      return end + 3;
    }
    if (text.startsWith('<![CDATA[', at) && this.#open.length > 0) {
      const end = text.indexOf(']]>', at + 9);
      if (end < 0) return INCOMPLETE;
      this.#add(withLineFeeds(text.slice(at + 9, end)));
      return end + 3;
    }
    if (
      text.length < at + 9 &&
      ['<!--', '<![CDATA[', '<!DOCTYPE'].some((each) => each.startsWith(text.slice(at)))
    )
      return INCOMPLETE;
    if (!text.startsWith('<!DOCTYPE', at) || this.#stage === 'within' || this.#stage === 'typed')
      throw broken('illegal declaration');
    const end = text.indexOf('>', at);
    if (end < 0) return INCOMPLETE;
    if (!TYPE.test(text.slice(at, end + 1)))
      throw broken('a document type that is not a name and an address alone');
    this.#stage = 'typed';
    return end + 1;
  }

  #instruction(at: number): number {
    const end = this.#text.indexOf('?>', at + 2);
    if (end < 0) return INCOMPLETE;
    const whole = this.#text.slice(at, end + 2);
    const isFirst = (this.#stage === 'start' || this.#stage === 'after') && DECLARATION.test(whole);
    if (!isFirst && !INSTRUCTION.test(whole)) throw broken('illegal instruction');
    if (isFirst || this.#stage === 'start') this.#stage = 'prolog';
    return end + 2;
  }

  #addText(from: number, to: number): void {
    const text = this.#text;
    if (this.#open.length === 0) {
      this.#addOutside(text.slice(from, to));
      return;
    }
    if (this.#sectionEnd.isIn(text, from, to)) throw broken('"]]>" in a text');
    let piece = text.slice(from, to);
    if (this.#return.isIn(text, from, to)) piece = withLineFeeds(piece);
    this.#add(this.#ampersand.isIn(text, from, to) ? dereferenced(piece) : piece);
  }

  #add(text: string): void {
    this.#sinceEvent = 0;
    const innermost = this.#texts.length - 1;
    const before = this.#texts[innermost]!;
    const all = typeof before === 'string' ? before + text : before + text.length;
    if ((typeof all === 'string' ? all.length : all) > MAX_LETTERS)
      throw new TableError('a text in it is longer than 16 MiB');
    this.#texts[innermost] = all;
  }

  /** Text before, between and after documents, of which only the last may follow a byte order mark. */
  #addOutside(text: string): void {
    if (NOT_BLANK.test(this.#stage === 'after' ? text.replaceAll('\ufeff', '') : text))
      throw broken('non-whitespace outside of root node');
    if (this.#stage === 'start' && text !== '') this.#stage = 'prolog';
  }

  #afterBlanks(from: number): number {
    let at = from;
    for (; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code > BLANK || (code !== BLANK && code !== LINE_FEED && code !== TAB && code !== RETURN)) break;
    }
    return at;
  }
}
