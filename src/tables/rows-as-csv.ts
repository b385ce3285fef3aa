// Rows as CSV in chunks, for contents whose rows come one by one.

import type { PlacedRow } from './shapes/shapes.js';

const QUOTED = /[",\r\n]|^\s|\s$/;
/** Bytes that end a chunk. */
const CHUNK_BYTES = 64 * 1024;
/** Letters of a text that is written letter by letter. */
const SHORT = 64;
const MAX_ASCII = 127;
const [LINE_FEED, BLANK, QUOTE, COMMA] = [10, 32, 34, 44] as const;

export class CsvLines {
  #bytes = new Uint8Array(2 * CHUNK_BYTES);
  #at = 0;
  readonly #encoder = new TextEncoder();

  /** @returns whether it is time to `take` */
  add(fields: readonly (string | undefined)[]): boolean {
    this.#reserve(fields.length + 1);
    for (let f = 0; f < fields.length; f++) {
      if (f > 0) this.#bytes[this.#at++] = COMMA;
      const text = fields[f];
      if (text === undefined || text === '') continue;
      this.#reserve(3 * text.length + fields.length + 1);
      if (text.length > SHORT || !this.#addPlain(text)) this.#addText(quoted(text), fields.length + 1);
    }
    this.#bytes[this.#at++] = LINE_FEED;
    return this.#at >= CHUNK_BYTES;
  }

  /** Removes and returns the rows so far. */
  take(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.#at);
    this.#at = 0;
    return bytes;
  }

  /** @returns false for a text with quotes, and with other letters than ASCII */
  #addPlain(text: string): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      const isBlank = code <= BLANK && (i === 0 || i === text.length - 1 || code !== BLANK);
      if (isBlank || code > MAX_ASCII || code === QUOTE || code === COMMA) return false;
      bytes[at + i] = code;
    }
    this.#at = at + text.length;
    return true;
  }

  /** @param after bytes that there must be room for after the text */
  #addText(text: string, after: number): void {
    this.#reserve(3 * text.length + after);
    this.#at += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#at)).written;
  }

  /** Makes room for bytes. */
  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#at + more));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** Rows with `lat` and `lng` after their other columns; `lat` holds the fault of a position that cannot be read. */
export function* rowsAsCsv(
  names: readonly string[],
  rows: Iterable<PlacedRow<string | undefined>>,
): Generator<Uint8Array> {
  const lines = new CsvLines();
  lines.add([...names, 'lat', 'lng']);
  for (const { fields, point, fault } of rows)
    if (lines.add([...fields, ...(point === null ? [fault, ''] : [`${point[1]}`, `${point[0]}`])]))
      yield lines.take();
  yield lines.take();
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
