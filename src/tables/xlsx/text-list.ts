// The shared texts of a workbook in one block of UTF-8: a text of its own takes several times its letters.

/** Room for a letter in UTF-8, at most, and what a text takes beside its letters. */
const LETTER_BYTES = 3;
const TEXT_BYTES = 4;
const FIRST_BYTES = 4096;
/** Texts that were asked for last; most lists are short. */
const KEPT = 4096;

export class TextList {
  #bytes = new Uint8Array(FIRST_BYTES);
  #ends = new Uint32Array(FIRST_BYTES / TEXT_BYTES);
  #size = 0;
  readonly #kept = new Map<number, string>();
  readonly #encoder = new TextEncoder();
  // A text may begin with what elsewhere is a byte order mark.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  count = 0;

  /** @param hold is told of bytes that are held, and throws where they are too many */
  constructor(private readonly hold: (bytes: number) => void) {}

  add(text: string): void {
    const most = this.#size + LETTER_BYTES * text.length;
    if (most > this.#bytes.length) this.#bytes = this.#grown(this.#bytes, Math.max(most, 2 * this.#size));
    if (this.count === this.#ends.length) this.#ends = this.#grown(this.#ends, 2 * this.count);
    this.#size += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#size)).written;
    this.#ends[this.count++] = this.#size;
  }

  /** @returns undefined for a number that has no text */
  at(index: number): string | undefined {
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    if (!(index >= 0 && index < this.count)) return undefined;
    const start = index === 0 ? 0 : this.#ends[index - 1]!;
    const text = this.#decoder.decode(this.#bytes.subarray(start, this.#ends[index]));
    if (this.#kept.size === KEPT) this.#kept.clear();
    this.#kept.set(index, text);
    return text;
  }

  #grown<List extends Uint8Array | Uint32Array>(list: List, length: number): List {
    this.hold((length - list.length) * list.BYTES_PER_ELEMENT);
    const grown = new (list.constructor as new (length: number) => List)(length);
    grown.set(list);
    return grown;
  }
}
