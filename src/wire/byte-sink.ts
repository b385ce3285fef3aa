// Bytes that are appended piece by piece and handed over as one array with its own buffer.

const encoder = new TextEncoder();

export class ByteSink {
  #bytes = new Uint8Array(1 << 16);
  #size = 0;

  get sizeBytes(): number {
    return this.#size;
  }

  add(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  addText(text: string): void {
    // A UTF-16 unit is at most three bytes.
    this.#makeRoom(text.length * 3);
    this.#size += encoder.encodeInto(text, this.#bytes.subarray(this.#size)).written;
  }

  /** Takes back the last bytes. */
  drop(sizeBytes: number): void {
    this.#size -= sizeBytes;
  }

  /** All that was added, and starts anew. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#size);
    this.#size = 0;
    return taken;
  }

  #makeRoom(sizeBytes: number): void {
    const needed = this.#size + sizeBytes;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }
}
