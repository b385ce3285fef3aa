// The shared texts of a workbook in blocks of UTF-8: a text of its own takes several times its letters, and one block
// that grows is copied.

/** Room for a letter in UTF-8, at most. */
const LETTER_BYTES = 3;
const BLOCK_BYTES = 256 * 1024;
/** Texts whose ends are in one list. */
const LIST_TEXTS = 65_536;
/** Texts that are kept once they were requested again; most lists are short. */
const MAX_KEPT = 4096;

export class TextList {
  /** No text lies in two blocks. */
  readonly #blocks: Uint8Array[] = [];
  /** The end of each text, counted through all blocks: it begins at the end before, or at the start of its block. */
  readonly #ends: Uint32Array[] = [];
  /** Texts that are longer than a block. */
  readonly #long = new Map<number, string>();
  #size = 0;
  /**
   * The index whose text was requested last, of those with one remainder by MAX_KEPT; and the text from the second time
   * on: strings of a list whose texts all differ would outlive the young generation of V8.
   */
  readonly #asked = new Int32Array(MAX_KEPT).fill(-1);
  readonly #kept: (string | undefined)[] = new Array<string | undefined>(MAX_KEPT).fill(undefined);
  readonly #encoder = new TextEncoder();
  // A text may begin with what elsewhere is a byte order mark.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  count = 0;

  /** @param hold is told of bytes that are held, and throws where they are too many */
  constructor(private readonly hold: (bytes: number) => void) {}

  add(text: string): void {
    if (this.count % LIST_TEXTS === 0) {
      this.hold(LIST_TEXTS * Uint32Array.BYTES_PER_ELEMENT);
      this.#ends.push(new Uint32Array(LIST_TEXTS));
    }
    const most = LETTER_BYTES * text.length;
    if (most > BLOCK_BYTES) {
      this.hold(2 * text.length);
      this.#long.set(this.count, text);
    } else {
      if (this.#size + most > this.#blocks.length * BLOCK_BYTES) {
        this.hold(BLOCK_BYTES);
        this.#size = this.#blocks.push(new Uint8Array(BLOCK_BYTES)) * BLOCK_BYTES - BLOCK_BYTES;
      }
      const into = this.#blocks.at(-1)?.subarray(this.#size % BLOCK_BYTES);
      if (most > 0) this.#size += this.#encoder.encodeInto(text, into!).written;
    }
    this.#ends.at(-1)![this.count++ % LIST_TEXTS] = this.#size;
  }

  /** @returns undefined for a number that has no text */
  at(index: number): string | undefined {
    if (!(Number.isInteger(index) && index >= 0 && index < this.count)) return undefined;
    const key = index % MAX_KEPT;
    const isAgain = this.#asked[key] === index;
    const kept = isAgain ? this.#kept[key] : undefined;
    if (kept !== undefined) return kept;
    const text =
      this.#long.get(index) ?? this.#text(index === 0 ? 0 : this.#endOf(index - 1), this.#endOf(index));
    this.#asked[key] = index;
    this.#kept[key] = isAgain ? text : undefined;
    return text;
  }

  #endOf(index: number): number {
    return this.#ends[Math.floor(index / LIST_TEXTS)]![index % LIST_TEXTS]!;
  }

  #text(endBefore: number, end: number): string {
    if (end === endBefore) return '';
    const block = Math.floor((end - 1) / BLOCK_BYTES);
    const start = Math.max(0, endBefore - block * BLOCK_BYTES);
    return this.#decoder.decode(this.#blocks[block]!.subarray(start, end - block * BLOCK_BYTES));
  }
}
