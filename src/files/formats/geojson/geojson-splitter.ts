// Cuts GeoJSON, as its bytes arrive, into the texts of its features: a sequence of objects, one or many, each a
// collection, a feature or a geometry, with blanks, line ends, record separators (RFC 8142) or nothing between them.

import { badInput, reasonOf } from '../../exit-codes.js';
import { MAX_DEPTH } from '../values/json-columns.js';
import { FeatureShapes, type ShapedFeature } from './feature-shapes.js';

/** Longest feature; also the longest text before and after the features of a collection. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024;
/** Longest spelling of the key `features` in characters, with an escape for each letter. */
const MAX_KEY_LETTERS = 48;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const RECORD_SEPARATOR = 0x1e;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

interface CollectionEvents {
  /** The text before the first feature. @param isFirst whether nothing is before it in the file */
  head(text: string, isFirst: boolean): void;
  /** The text after the last feature. @param head the text before the first, @param members parsed from both */
  tail(head: string, text: string, members: Record<string, unknown>, isFirst: boolean): void;
}

/** Between two objects of the file; in one whose list of features has not begun; in the list; after it. */
type Part = 'between' | 'object' | 'features' | 'tail';

/**
 * Finds features by their shapes, and other features by counting brackets outside strings: the caller parses their
 * texts as JSON.
 */
export class GeoJsonSplitter {
  /** Shapes of features; none until one is learned. */
  readonly shapes = new FeatureShapes();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #part: Part = 'between';
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The last string at depth 1 of an object, unparsed: a key, if a colon follows. */
  #key = '';
  #isFeaturesKey = false;
  #head = '';
  #objects = 0;
  #features = 0;
  #marks = 0;

  constructor(
    private readonly file: string,
    private readonly events: CollectionEvents,
  ) {}

  /**
   * Accepts a chunk, which must not change afterwards; the caller must consume everything that is returned.
   * @returns the features of collections, and whole objects outside of them, that it completes: several with shapes,
   * or the text of another one
   */
  *push(chunk: Uint8Array): Generator<string | ShapedFeature[]> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] === OPEN && this.#depth === 0 && this.#part !== 'tail') {
        const shaped: ShapedFeature[] = [];
        start = i = this.#takeShaped(bytes, i, shaped);
        if (shaped.length > 0) yield shaped;
        if (i === bytes.length) break;
      }
      const byte = bytes[i]!;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) {
          this.#isInString = false;
          continue;
        }
        if (this.#depth === 1 && this.#part !== 'features' && this.#key.length <= MAX_KEY_LETTERS)
          this.#key += String.fromCharCode(byte);
        continue;
      }
      if (byte === QUOTE && this.#part !== 'between' && this.#depth > 0) {
        this.#isInString = true;
        this.#key = '';
      } else if (byte === OPEN || byte === OPEN_LIST) {
        if (this.#depth === 0) {
          if (byte !== OPEN) throw this.#broken('a list where a feature should stand');
          if (this.#part === 'between') this.#part = 'object';
          start = i;
        }
        this.#depth++;
        if (this.#depth > MAX_DEPTH)
          throw this.#broken(`lists and objects are nested more than ${MAX_DEPTH} deep`);
        if (byte === OPEN_LIST && this.#depth === 2 && this.#isFeaturesKey) {
          if (this.#part === 'tail') throw this.#broken('a collection with two lists of features');
          this.#head = this.#take(bytes.subarray(start, i + 1));
          this.events.head(this.#head, this.#objects === 0);
          this.#part = 'features';
          this.#depth = 0;
          start = i + 1;
        }
        this.#isFeaturesKey = false;
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        if (this.#depth === 0) {
          if (this.#part !== 'features' || byte !== CLOSE_LIST)
            throw this.#broken(`an unexpected ${byte === CLOSE ? '}' : ']'}`);
          this.#part = 'tail';
          this.#depth = 1;
          start = i;
          continue;
        }
        this.#depth--;
        if (this.#depth > 0) continue;
        const text = this.#take(bytes.subarray(start, i + 1));
        start = i + 1;
        if (this.#part === 'tail') this.#endCollection(text);
        else {
          yield text;
          this.#features++;
        }
        if (this.#part === 'features') continue;
        this.#part = 'between';
        this.#objects++;
      } else if (this.#depth === 0) {
        if (!this.#isBlank(byte)) throw this.#broken('something that is not a feature');
        start = i + 1;
      } else if (byte === COLON && this.#depth === 1 && this.#part !== 'features') {
        this.#isFeaturesKey = this.#key.length >= 8 && unescaped(this.#key) === 'features';
        if (this.#isFeaturesKey && this.#part === 'tail')
          throw this.#broken('a collection with two lists of features');
      }
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
  }

  /** Keeps the beginning of an object whose end is in a later chunk. */
  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > MAX_OBJECT_BYTES)
      throw this.#broken(`more than ${MAX_OBJECT_BYTES / 2 ** 20} MiB without a whole feature`);
  }

  /**
   * Consumes features of known shapes.
   * @returns the offset after them and their separator
   */
  #takeShaped(bytes: Buffer, from: number, into: ShapedFeature[]): number {
    let at = from;
    while (at < bytes.length && bytes[at] === OPEN) {
      const feature = this.shapes.featureAt(bytes, at);
      if (feature === null) break;
      into.push(feature);
      at = feature.end;
      while (at < bytes.length && this.#isSeparator(bytes[at]!)) at++;
    }
    this.#features += into.length;
    if (this.#part === 'between') this.#objects += into.length;
    return at;
  }

  /** After the last chunk. @throws CliFailure BAD_INPUT if the file is cut off */
  end(): void {
    if (this.#part !== 'between') throw this.#broken('the file ends in the middle');
  }

  /** Whether a byte may be between objects, or between features. */
  #isBlank(byte: number): boolean {
    if (this.#isSeparator(byte)) return true;
    if (this.#part === 'features') return false;
    // Concatenated files keep their byte order marks.
    return byte === BYTE_ORDER_MARK[this.#marks++ % BYTE_ORDER_MARK.length];
  }

  #isSeparator(byte: number): boolean {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return true;
    return byte === (this.#part === 'features' ? COMMA : RECORD_SEPARATOR);
  }

  #endCollection(tail: string): void {
    let members: Record<string, unknown>;
    try {
      members = JSON.parse(this.#head + tail) as Record<string, unknown>;
    } catch (error) {
      throw badInput({ file: this.file }, `not JSON around the features (${reasonOf(error)})`);
    }
    if (members.type !== undefined && members.type !== 'FeatureCollection')
      throw this.#broken(`a list of features in an object of the type ${JSON.stringify(members.type)}`);
    this.events.tail(this.#head, tail, members, this.#objects === 0);
  }

  #take(bytes: Uint8Array): string {
    const all = this.#heldBytes === 0 ? bytes : Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    this.#heldBytes = 0;
    try {
      return this.#decoder.decode(all);
    } catch {
      throw this.#broken('not UTF-8');
    }
  }

  #broken(what: string): Error {
    const isInRow = this.#part === 'features' || (this.#part === 'object' && this.#features > 0);
    return badInput({ file: this.file, row: isInRow ? this.#features + 1 : undefined }, what);
  }
}

function unescaped(key: string): string {
  if (!key.includes('\\')) return key;
  try {
    return JSON.parse(`"${key}"`) as string;
  } catch {
    return key;
  }
}
