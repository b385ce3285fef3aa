// The delimiter of a CSV text, found in its header row: the one that gives the most fields with names that are known,
// then the most fields. A first line `sep=;`, which Excel writes and reads, names it.

import type { Delimiter } from '../job.js';
import { isKnownName } from '../rows/column-names.js';
import { withoutAround } from '../rows/csv-numbers.js';

export const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

const SEP_LINE = /^(?:\ufeff)?("?)sep=([,;\t|])\1\r?\n/i;

/** The delimiter that a first line `sep=` names, and the size of this line; undefined if there is none. */
export function sepLineOf(bytes: Uint8Array): { delimiter: Delimiter; sizeBytes: number } | undefined {
  const match = SEP_LINE.exec(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, 16)));
  if (match === null) return undefined;
  return { delimiter: match[2] as Delimiter, sizeBytes: Buffer.byteLength(match[0]) };
}

/** The delimiter of a header row; a comma where there is none. @param header whole, or its beginning */
export function delimiterOf(header: Uint8Array): Delimiter {
  const row = new TextDecoder().decode(header);
  let best: Delimiter = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const names = row.split(delimiter);
    if (names.length === 1) continue;
    const known = names.filter((name) => isKnownName(withoutAround(name, isBlankOrQuote)));
    const score = 1e6 * known.length + names.length;
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

function isBlankOrQuote(unit: string): boolean {
  return unit === '"' || unit.trim() === '';
}

const FIRST_BYTES = 4096;
const LF = 10;
const CR = 13;
const QUOTE = 34;
/** Byte order mark. */
const MARK = [0xef, 0xbb, 0xbf];
const DELIMITER_BYTES = DELIMITERS.map((delimiter) => delimiter.charCodeAt(0));

const NO_BYTES = new Uint8Array(0);

/** Collects the beginning of a text until its first row that is not blank is whole, whatever its delimiter. */
export class HeaderCollector {
  #bytes: Uint8Array = NO_BYTES;
  #size = 0;
  /** Where reading goes on, and where the row begins. */
  #at = 0;
  #rowStart = 0;
  #isBlank = true;
  #isFieldStart = true;
  #isQuoted = false;

  /** All bytes that were pushed; where the first chunk held the row, that chunk. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** The row, as far as it has come. */
  get row(): Uint8Array {
    return this.#bytes.subarray(this.#rowStart, this.#at);
  }

  /** Adds a chunk; whether the row is whole now. Only a chunk without the end of the row is copied. */
  push(chunk: Uint8Array): boolean {
    if (this.#size === 0) {
      this.#bytes = chunk;
      this.#size = chunk.length;
      if (this.#takeAll()) return true;
      this.#bytes = new Uint8Array(Math.max(FIRST_BYTES, 2 * chunk.length));
      this.#bytes.set(chunk);
      return false;
    }
    if (this.#size + chunk.length > this.#bytes.length) {
      const grown = new Uint8Array(2 * (this.#size + chunk.length));
      grown.set(this.bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#size);
    this.#size += chunk.length;
    return this.#takeAll();
  }

  #takeAll(): boolean {
    while (this.#at < this.#size) if (this.#take(this.#bytes[this.#at++]!)) return true;
    return false;
  }

  /** Reads one byte; whether the row ends with it. A quote opens a field behind any of the delimiters. */
  #take(byte: number): boolean {
    if (this.#isQuoted) {
      // The second of two quotes opens the field again.
      this.#isQuoted = byte !== QUOTE;
      this.#isFieldStart = !this.#isQuoted;
      return false;
    }
    if (this.#at <= MARK.length && byte === MARK[this.#at - 1]) return false;
    if (byte === LF && !this.#isBlank) return true;
    if (byte === LF) this.#rowStart = this.#at;
    else if (byte !== CR) this.#isBlank = false;
    this.#isQuoted = byte === QUOTE && this.#isFieldStart;
    this.#isFieldStart = byte === LF || DELIMITER_BYTES.includes(byte);
    return false;
  }
}
