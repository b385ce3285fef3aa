// Bytes that are appended piece by piece and handed over as one array with its own buffer.

const FIRST_BYTES = 1 << 16;
const KEPT_BYTES = 1 << 21;

const encoder = new TextEncoder();

export class ByteSink {
  #bytes = new Uint8Array(FIRST_BYTES);
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

  /** Room for so many bytes, to be written by the caller, who then says how many there are. */
  reserve(sizeBytes: number): Uint8Array<ArrayBuffer> {
    this.#makeRoom(sizeBytes);
    return this.#bytes.subarray(this.#size);
  }

  /** Adds the first bytes of what was reserved. */
  commit(sizeBytes: number): void {
    this.#size += sizeBytes;
  }

  /** Takes back the last bytes. */
  drop(sizeBytes: number): void {
    this.#size -= sizeBytes;
  }

  /** All that was added, in `room` if it fits there, and starts anew. */
  take(room?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const added = this.#bytes.subarray(0, this.#size);
    this.clear();
    if (room === undefined || room.length < added.length) return added.slice();
    room.set(added);
    return room.subarray(0, added.length);
  }

  /** Forgets what was added. A sink that is used again keeps no more memory than usual blocks need. */
  clear(): void {
    this.#size = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = new Uint8Array(FIRST_BYTES);
  }

  #makeRoom(sizeBytes: number): void {
    const needed = this.#size + sizeBytes;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
  }
}
