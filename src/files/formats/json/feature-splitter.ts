// Cuts a GeoJSON FeatureCollection, as its bytes arrive, into the texts of its features.

import { badInput } from '../../exit-codes.js';
import { MOST_DEPTH } from './json-columns.js';

/** Longest feature; also the longest text before and after the features. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Finds the features by counting brackets outside strings. Each feature is parsed as JSON by the caller. */
export class FeatureSplitter {
  /** The text before the first feature, when it has been read. */
  head: string | null = null;
  readonly #file: string;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #part: 'head' | 'features' | 'tail' = 'head';
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** First characters of the last string at depth 1 of the head: a key, if a colon follows. */
  #key = '';
  #isFeaturesKey = false;
  #features = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Takes a chunk, which must not change afterwards; the features that it completes. */
  push(chunk: Uint8Array): string[] {
    const texts: string[] = [];
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
        else if (this.#part === 'head' && this.#depth === 1 && this.#key.length < 16) {
          this.#key += String.fromCharCode(byte);
        }
        continue;
      }
      if (this.#part === 'tail') continue;
      if (byte === QUOTE) {
        this.#isInString = true;
        this.#key = '';
      } else if (byte === OPEN || byte === OPEN_LIST) {
        if (this.#part === 'features' && this.#depth === 0) {
          if (byte !== OPEN) throw this.#broken('a list where a feature should stand');
          start = i;
        }
        this.#depth++;
        if (this.#depth > MOST_DEPTH)
          throw this.#broken(`lists and objects are nested more than ${MOST_DEPTH} deep`);
        if (this.#part === 'head' && byte === OPEN_LIST && this.#depth === 2 && this.#isFeaturesKey) {
          this.head = this.#take(chunk.subarray(start, i + 1));
          this.#part = 'features';
          this.#depth = 0;
          start = i + 1;
        }
        this.#isFeaturesKey = false;
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        if (this.#part === 'features' && this.#depth === 0) {
          if (byte !== CLOSE_LIST) throw this.#broken('an unexpected }');
          this.#held = [];
          this.#heldBytes = 0;
          this.#part = 'tail';
          start = i;
        } else {
          this.#depth--;
          if (this.#part === 'features' && this.#depth === 0) {
            texts.push(this.#take(chunk.subarray(start, i + 1)));
            this.#features++;
            start = i + 1;
          }
        }
      } else if (byte === COLON) {
        this.#isFeaturesKey = this.#part === 'head' && this.#depth === 1 && this.#key === 'features';
      } else if (this.#part === 'features' && this.#depth === 0) {
        if (byte !== COMMA && byte > 0x20) throw this.#broken('something that is no feature');
        start = i + 1;
      }
    }
    if (start < chunk.length) {
      this.#held.push(chunk.subarray(start));
      this.#heldBytes += chunk.length - start;
      if (this.#heldBytes > MAX_OBJECT_BYTES) {
        throw this.#broken(`more than ${MAX_OBJECT_BYTES / 2 ** 20} MiB without a whole feature`);
      }
    }
    return texts;
  }

  /**
   * After the last chunk: the text after the last feature.
   * @throws CliFailure BAD_INPUT if the collection is cut off
   */
  end(): string {
    if (this.#part === 'head') throw this.#broken('no list of features');
    if (this.#part === 'features') throw this.#broken('the file ends in the middle');
    const tail = this.#take(new Uint8Array(0));
    if (!tail.trimEnd().endsWith('}')) throw this.#broken('the file ends in the middle');
    return tail;
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
    const row = this.#part === 'features' ? this.#features + 1 : undefined;
    return badInput({ file: this.#file, row }, what);
  }
}
