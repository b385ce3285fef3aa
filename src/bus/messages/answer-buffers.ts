// Memory of answers, used again: new memory for each costs page faults, and the garbage collector works whenever 64 MB
// of it have been taken.

const MIN_BYTES = 4096;
const MAX_BYTES = 2 * 1024 * 1024;
/** Most bytes of free buffers. */
const KEPT_BYTES = 16 * 1024 * 1024;

export class AnswerBuffers {
  readonly #free = new Map<number, Uint8Array<ArrayBuffer>[]>();
  #freeBytes = 0;

  /** At least as many bytes, a power of two of them; what an earlier answer left in it is still there. */
  take(leastBytes: number): Uint8Array<ArrayBuffer> {
    if (leastBytes > MAX_BYTES) return new Uint8Array(leastBytes);
    const sizeBytes = Math.max(MIN_BYTES, 2 ** Math.ceil(Math.log2(leastBytes)));
    const buffer = this.#free.get(sizeBytes)?.pop();
    if (buffer === undefined) return new Uint8Array(sizeBytes);
    this.#freeBytes -= sizeBytes;
    return buffer;
  }

  /** Takes back a whole buffer, or any part of it, that nobody reads any more. */
  giveBack({ buffer }: Uint8Array): void {
    const { byteLength } = buffer;
    if (!(buffer instanceof ArrayBuffer)) return;
    if (byteLength > MAX_BYTES || this.#freeBytes + byteLength > KEPT_BYTES) return;
    const sameSize = this.#free.get(byteLength);
    if (sameSize === undefined) this.#free.set(byteLength, [new Uint8Array(buffer)]);
    else sameSize.push(new Uint8Array(buffer));
    this.#freeBytes += byteLength;
  }
}
