// Rows as CSV in chunks, for contents whose rows come one by one.

import type { PlacedRow } from './shapes/shape-rows.js';

const QUOTED = /[",\r\n]|^\s|\s$/;
/** Approximate letters of a chunk. */
const CHUNK_LETTERS = 64 * 1024;

export class CsvLines {
  #lines: string[] = [];
  #letters = 0;
  readonly #encoder = new TextEncoder();

  /** @returns whether it is time to `take` */
  add(fields: readonly (string | undefined)[]): boolean {
    const line = `${fields.map(quoted).join(',')}\n`;
    this.#lines.push(line);
    this.#letters += line.length;
    return this.#letters >= CHUNK_LETTERS;
  }

  /** Removes and returns the rows so far. */
  take(): Uint8Array {
    const bytes = this.#encoder.encode(this.#lines.join(''));
    this.#lines = [];
    this.#letters = 0;
    return bytes;
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

function quoted(text = ''): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
