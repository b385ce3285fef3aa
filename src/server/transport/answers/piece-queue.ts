// The bytes of an answer that are not written yet, in the pieces in which they were queued.

/**
 * Most bytes that `take` puts together from small pieces. With the head of the answer they fit uWS's cork (README U20).
 */
export const PACKED_BYTES = 15_000;

/** Small pieces are put together here. One buffer for all answers: uWS has copied its bytes when a write returns. */
const packed = Buffer.allocUnsafeSlow(PACKED_BYTES);

interface Piece {
  readonly bytes: Uint8Array;
  readonly sent: (() => void) | undefined;
}

export class PieceQueue {
  #pieces: Piece[] = [];
  /** How much of the first piece is taken. */
  #offsetBytes = 0;
  #sizeBytes = 0;
  #heldBytes = 0;
  /** Callbacks of the pieces of which the last byte is taken. */
  #sent: (() => void)[] = [];

  /** Bytes not taken yet. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Bytes of memory that the queue keeps: whole buffers, of which a piece may be a small part. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Adds bytes, which must not change until they are taken or `sent` is called. */
  push(bytes: Uint8Array, sent?: () => void): void {
    // Pieces of one buffer are queued one after the other.
    if (this.#pieces.at(-1)?.bytes.buffer !== bytes.buffer) this.#heldBytes += bytes.buffer.byteLength;
    this.#pieces.push({ bytes, sent });
    this.#sizeBytes += bytes.length;
  }

  /** The rest of the first piece. The queue must not be empty. */
  get first(): Uint8Array {
    return (this.#pieces[0] as Piece).bytes.subarray(this.#offsetBytes);
  }

  /**
   * Takes the next bytes, at least one and `maxBytes` at most: a part of a large piece where it lies, or a copy of
   * small pieces put together, valid until the next call.
   */
  take(maxBytes: number): Uint8Array {
    const { first } = this;
    const maxPackedBytes = Math.min(maxBytes, PACKED_BYTES);
    if (first.length >= maxPackedBytes) {
      const part = first.subarray(0, maxBytes);
      this.skip(part.length);
      return part;
    }
    let sizeBytes = 0;
    while (this.#sizeBytes > 0 && sizeBytes < maxPackedBytes) {
      const part = this.first.subarray(0, maxPackedBytes - sizeBytes);
      packed.set(part, sizeBytes);
      sizeBytes += part.length;
      this.skip(part.length);
    }
    return packed.subarray(0, sizeBytes);
  }

  /** Takes that many bytes of the first piece. */
  skip(sizeBytes: number): void {
    const { bytes, sent } = this.#pieces[0] as Piece;
    this.#sizeBytes -= sizeBytes;
    this.#offsetBytes += sizeBytes;
    if (this.#offsetBytes < bytes.length) return;
    this.#pieces.shift();
    if (this.#pieces[0]?.bytes.buffer !== bytes.buffer) this.#heldBytes -= bytes.buffer.byteLength;
    this.#offsetBytes = 0;
    if (sent !== undefined) this.#sent.push(sent);
  }

  /** Removes the rest of these bytes, which were pushed last. Returns how many of them had been taken. */
  withdraw(bytes: Uint8Array): number {
    if (this.#pieces.at(-1)?.bytes !== bytes) return bytes.length;
    this.#pieces.pop();
    if (this.#pieces.at(-1)?.bytes.buffer !== bytes.buffer) this.#heldBytes -= bytes.buffer.byteLength;
    const isFirst = this.#pieces.length === 0;
    const takenBytes = isFirst ? this.#offsetBytes : 0;
    if (isFirst) this.#offsetBytes = 0;
    this.#sizeBytes -= bytes.length - takenBytes;
    return takenBytes;
  }

  /** Calls the callbacks of pieces that are taken entirely. To be called when the bytes taken last are written. */
  callSent(): void {
    for (const sent of this.#sent.splice(0)) sent();
  }

  clear(): void {
    this.#pieces = [];
    this.#offsetBytes = 0;
    this.#sizeBytes = 0;
    this.#heldBytes = 0;
  }
}
