// Memory of frames that wait, used again by later ones of any connection: new memory for each large frame costs page
// faults and collections, more than its copy (npm run bench -- bulk).

/** Smaller frames get memory of their own, which costs less than looking for it. */
const LEAST_BYTES = 16 * 1024;
/** Free memory that is kept. */
const KEPT_BYTES = 8 * 1024 * 1024;

export class WaitingFrames {
  /** The free buffers of each size, a power of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;

  /** A copy of a frame, to be given back once it is answered or dropped. */
  copyOf(frame: Uint8Array): Uint8Array {
    if (frame.length < LEAST_BYTES) return frame.slice();
    const sizeBytes = 2 ** Math.ceil(Math.log2(frame.length));
    let buffer = this.#free.get(sizeBytes)?.pop();
    if (buffer === undefined) buffer = new ArrayBuffer(sizeBytes);
    else this.#freeBytes -= sizeBytes;
    const copy = new Uint8Array(buffer, 0, frame.length);
    copy.set(frame);
    return copy;
  }

  giveBack({ length, buffer }: Uint8Array): void {
    const sizeBytes = buffer.byteLength;
    if (length < LEAST_BYTES || this.#freeBytes + sizeBytes > KEPT_BYTES) return;
    const sameSize = this.#free.get(sizeBytes) ?? [];
    sameSize.push(buffer as ArrayBuffer);
    this.#free.set(sizeBytes, sameSize);
    this.#freeBytes += sizeBytes;
  }

  /** Bytes of free memory. */
  get freeBytes(): number {
    return this.#freeBytes;
  }
}
