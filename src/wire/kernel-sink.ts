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
  /** What was reserved and is larger than the area. */
  #large: Bytes | undefined;
  #take: (bytes: Uint8Array) => void = () => {};

  constructor(kernel: Kernel) {
    this.#area = kernel.textOut;
    this.#roomBytes = this.#area.length - MARGIN_BYTES;
  }

  /**
   * Starts anew.
   * @param take gets the bytes, in order, in one call or several; they hold during the call only
   */
  start(take: (bytes: Uint8Array) => void): void {
    this.#size = 0;
    this.#large = undefined;
    this.#take = take;
  }

  /** Hands on what is not yet handed on. */
  end(): void {
    this.makeTextRoom();
  }

  add(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    if (bytes.length > this.#roomBytes) {
      this.#take(bytes);
    } else {
      this.#area.set(bytes, this.#size);
      this.#size += bytes.length;
    }
  }

  addText(text: string): void {
    this.add(encoder.encode(text));
  }

  reserve(sizeBytes: number): Bytes {
    this.#makeRoom(sizeBytes);
    this.#large = sizeBytes > this.#roomBytes ? new Uint8Array(sizeBytes) : undefined;
    return this.#large ?? this.#area.subarray(this.#size);
  }

  commit(sizeBytes: number): void {
    const large = this.#large;
    this.#large = undefined;
    if (large !== undefined) this.#take(large.subarray(0, sizeBytes));
    else this.#size += sizeBytes;
  }

  get textOffset(): number {
    return this.#size;
  }

  addWritten(text: Uint8Array): void {
    this.#size += text.length;
  }

  makeTextRoom(): boolean {
    if (this.#size === 0) return false;
    const added = this.#area.subarray(0, this.#size);
    this.#size = 0;
    this.#take(added);
    return true;
  }

  #makeRoom(sizeBytes: number): void {
    if (this.#size + sizeBytes > this.#roomBytes) this.makeTextRoom();
  }
}
