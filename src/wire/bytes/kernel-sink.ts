// Puts answers together in the kernel's memory, in the area where it writes text, and hands them on from there: what the
// kernel makes is not moved before it leaves, and stays in the cache meanwhile.
import type { Kernel } from '../../kernel/kernel.js';
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
   * @param take gets the bytes, in order, in one call or several; they hold during the call only. `isLast`: there
   * are no more; where the last were handed on before, nothing says so
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
    if (this.#size + bytes.length > this.#roomBytes) this.makeTextRoom();
    let rest = bytes;
    // One row of text may become more than there is room for: 256 KiB of control characters, six bytes each in JSON.
    for (; rest.length > this.#roomBytes; rest = rest.subarray(this.#roomBytes)) {
      this.#put(rest.subarray(0, this.#roomBytes));
      this.makeTextRoom();
    }
    this.#put(rest);
  }

  addText(text: string): void {
    this.add(encoder.encode(text));
  }

  reserve(sizeBytes: number): Bytes {
    if (this.#size + sizeBytes > this.#roomBytes) this.makeTextRoom();
    // The largest frame of answers fits.
    if (sizeBytes > this.#roomBytes)
      throw new RangeError(`${sizeBytes} bytes are more than the kernel has room for`);
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

  #put(bytes: Uint8Array): void {
    this.#area.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  #handOn(isLast: boolean): boolean {
    if (this.#size === 0) return false;
    const added = this.#area.subarray(0, this.#size);
    this.#size = 0;
    this.#take(added, isLast);
    return true;
  }
}
