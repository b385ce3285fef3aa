// Rows as CSV in chunks, for contents whose rows come one by one.

const QUOTED = /[",\r\n]|^\s|\s$/;
/** Letters of a chunk, about. */
const CHUNK_LETTERS = 256 * 1024;

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

  /** The rows so far, which are then forgotten. */
  take(): Uint8Array {
    const bytes = this.#encoder.encode(this.#lines.join(''));
    this.#lines = [];
    this.#letters = 0;
    return bytes;
  }
}

function quoted(text = ''): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
