// Bytes that are appended piece by piece and handed over as one array, in a buffer that was brought for it or in one of
// its own.

import type { AnswerSink } from './answer-sink.js';

const FIRST_BYTES = 1 << 16;
const KEPT_BYTES = 1 << 21;

const encoder = new TextEncoder();

type Bytes = Uint8Array<ArrayBuffer>;

export class ByteSink implements AnswerSink {
  /** The kernel's text is moved from there each time. */
  readonly textOffset = 0;
  /** Kept from one use to the next. */
  #own: Bytes = new Uint8Array(FIRST_BYTES);
  #room: Bytes | undefined;
  /** One of the two. */
  #bytes: Bytes = this.#own;
  #size = 0;

  get sizeBytes(): number {
    return this.#size;
  }

  /** All that was added so far: a view that holds until the next call. */
  get added(): Bytes {
    return this.#bytes.subarray(0, this.#size);
  }

  /** Starts anew. `room`: where the bytes are to stand, if they fit. */
  start(room?: Bytes): void {
    this.#size = 0;
    // A sink that is used again keeps no more memory than usual blocks need.
    if (this.#own.length > KEPT_BYTES) this.#own = new Uint8Array(FIRST_BYTES);
    this.#room = room;
    this.#bytes = room ?? this.#own;
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

  reserve(sizeBytes: number): Bytes {
    this.#makeRoom(sizeBytes);
    return this.#bytes.subarray(this.#size);
  }

  commit(sizeBytes: number): void {
    this.#size += sizeBytes;
  }

  addWritten(text: Uint8Array): void {
    this.add(text);
  }

  makeTextRoom(): boolean {
    return false;
  }

  /** Takes back the last bytes. */
  drop(sizeBytes: number): void {
    this.#size -= sizeBytes;
  }

  /** All that was added: the beginning of the room, or an array with a buffer of its own. Starts anew without a room. */
  take(): Bytes {
    const isInRoom = this.#bytes === this.#room;
    const taken = isInRoom ? this.#bytes.subarray(0, this.#size) : this.#bytes.slice(0, this.#size);
    this.start();
    return taken;
  }

  #makeRoom(sizeBytes: number): void {
    const needed = this.#size + sizeBytes;
    if (needed <= this.#bytes.length) return;
    const full = this.#bytes;
    if (needed > this.#own.length) this.#own = new Uint8Array(Math.max(needed, 2 * full.length));
    this.#own.set(full.subarray(0, this.#size));
    this.#bytes = this.#own;
  }
}
