// Puts answers together in the kernel's memory, in the area where it writes text, and hands them on from there: what the
// kernel makes is not moved before it leaves, and stays in the cache meanwhile.
import type { Kernel } from '../kernel/kernel.js';
import type { AnswerSink } from './answer-sink.js';

/** The kernel's vectors may write so far behind what they add. */
const MARGIN_BYTES = 64;

const encoder = new TextEncoder();

type Bytes = Uint8Array<ArrayBuffer>;

export class KernelSink implements AnswerSink {
  readonly #area: Bytes;
  /** Of the area, for what is not text: the kernel leaves its own margin behind text. */
  readonly #roomBytes: number;
  #size = 0;
  #take: (bytes: Uint8Array, isLast: boolean) => void = () => {};

  constructor(kernel: Kernel) {
    this.#area = kernel.textOut;
    this.#roomBytes = this.#area.length - MARGIN_BYTES;
  }

  /**
   * Starts anew.
   * @param take gets the bytes, in order, in one call or several, of which one is the last; they hold during the call only
   */
  start(take: (bytes: Uint8Array, isLast: boolean) => void): void {
    this.#size = 0;
    this.#take = take;
  }

  /** What is not yet handed on. */
  get sizeBytes(): number {
    return this.#size;
  }

  /** Hands on what is not yet handed on, as the last. */
  end(): void {
    this.#handOn(true);
  }

  /** Hands it on while more may come. */
  handOn(): void {
    this.#handOn(false);
  }

  add(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#area.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  addText(text: string): void {
    this.add(encoder.encode(text));
  }

  reserve(sizeBytes: number): Bytes {
    this.#makeRoom(sizeBytes);
    return this.#area.subarray(this.#size);
  }

  commit(sizeBytes: number): void {
    this.#size += sizeBytes;
  }

  get textOffset(): number {
    return this.#size;
  }

  addWritten(text: Uint8Array): void {
    this.#size += text.length;
  }

  makeTextRoom(): boolean {
    return this.#handOn(false);
  }

  #makeRoom(sizeBytes: number): void {
    if (this.#size + sizeBytes <= this.#roomBytes) return;
    this.makeTextRoom();
    // The largest frame of answers fits, and every answer to a row of text.
    if (sizeBytes > this.#roomBytes)
      throw new RangeError(`${sizeBytes} bytes are more than the kernel has room for`);
  }

  #handOn(isLast: boolean): boolean {
    if (this.#size === 0) return false;
    const added = this.#area.subarray(0, this.#size);
    this.#size = 0;
    this.#take(added, isLast);
    return true;
  }
}
