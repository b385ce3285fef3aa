// Memory of frames that wait and of bodies that come in pieces, used again by later ones of any connection: new memory
// for each large one costs page faults and collections of the whole heap, more than its copy (npm run bench -- bulk).

/** Smaller pieces get memory of their own, which costs less than looking for it. */
const MIN_BYTES = 16 * 1024;
/** Free memory that is kept. */
const KEPT_BYTES = 8 * 1024 * 1024;

class KeptMemory {
  /** The free buffers of each size, a power of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;

  /** Memory with any contents, to be given back once. */
  take(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (sizeBytes < MIN_BYTES) return new Uint8Array(sizeBytes);
    const wholeBytes = 2 ** Math.ceil(Math.log2(sizeBytes));
    let buffer = this.#free.get(wholeBytes)?.pop();
    if (buffer === undefined) buffer = new ArrayBuffer(wholeBytes);
    else this.#freeBytes -= wholeBytes;
    return new Uint8Array(buffer, 0, sizeBytes);
  }

  /** A copy of bytes, to be given back once. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = this.take(bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Takes back memory, by the view that was taken or by a part of it. Nobody may use it any more. */
  giveBack({ buffer }: Uint8Array): void {
    const wholeBytes = buffer.byteLength;
    if (wholeBytes < MIN_BYTES || this.#freeBytes + wholeBytes > KEPT_BYTES) return;
    const sameSize = this.#free.get(wholeBytes) ?? [];
    sameSize.push(buffer as ArrayBuffer);
    this.#free.set(wholeBytes, sameSize);
    this.#freeBytes += wholeBytes;
  }
}

/** One for all connections. */
export const keptMemory = new KeptMemory();
