// Collects answers in TEXT_OUT, the area where the kernel writes text, and passes them on from there: text of the
// kernel is not copied before it leaves the process, and stays in the processor's cache meanwhile.
import type { Kernel } from '../../kernel/kernel.js';
import type { AnswerSink } from './byte-sink.js';

const encoder = new TextEncoder();

/** The kernel's vector stores may reach so far behind the text that they write. */
const MARGIN_BYTES = 64;

type Bytes = Uint8Array<ArrayBuffer>;

export class KernelSink implements AnswerSink {
  readonly #area: Bytes;
  /** The part of the area for other bytes than the kernel's text: its writers keep their own margin. */
  readonly #limitBytes: number;
  #size = 0;
  #take: (bytes: Uint8Array, isLast: boolean) => void = () => {};

  constructor(kernel: Kernel) {
    this.#area = kernel.textOut;
    this.#limitBytes = this.#area.length - MARGIN_BYTES;
  }

  /**
   * Drops bytes that were not passed on.
   * @param take is called with the bytes, in order, in one piece or several; each holds during its call only. `isLast`
   * is true for the piece that `end` passes on; `end` passes on nothing where all has been passed on before
   */
  start(take: (bytes: Uint8Array, isLast: boolean) => void): void {
    this.#size = 0;
    this.#take = take;
  }

  /** Bytes that are not passed on yet. */
  get sizeBytes(): number {
    return this.#size;
  }

  /** Passes on the rest, as the last piece. */
  end(): void {
    this.#passOn(true);
  }

  /** Passes on the bytes so far; more may follow. */
  flush(): void {
    this.#passOn(false);
  }

  add(bytes: Uint8Array): void {
    if (this.#size + bytes.length > this.#limitBytes) this.flush();
    let rest = bytes;
    // The answer to one row may be larger than the area: 256 KiB of control characters are six bytes each in JSON.
    for (; rest.length > this.#limitBytes; rest = rest.subarray(this.#limitBytes)) {
      this.#put(rest.subarray(0, this.#limitBytes));
      this.flush();
    }
    this.#put(rest);
  }

  addText(text: string): void {
    // A UTF-16 unit is at most three bytes.
    if (this.#size + 3 * text.length > this.#limitBytes) this.add(encoder.encode(text));
    else this.#size += encoder.encodeInto(text, this.#area.subarray(this.#size)).written;
  }

  /** The answer to the largest frame fits into the area. */
  reserve(sizeBytes: number): Bytes {
    if (this.#size + sizeBytes > this.#limitBytes) this.flush();
    if (sizeBytes > this.#limitBytes) throw new RangeError(`TEXT_OUT does not hold ${sizeBytes} bytes`);
    return this.#area.subarray(this.#size);
  }

  commit(sizeBytes: number): void {
    this.#size += sizeBytes;
  }

  get textOffset(): number {
    return this.#size;
  }

  /** The text is in its place already. */
  addWritten(text: Uint8Array): void {
    this.#size += text.length;
  }

  freeTextOut(): boolean {
    return this.#passOn(false);
  }

  #put(bytes: Uint8Array): void {
    this.#area.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  #passOn(isLast: boolean): boolean {
    if (this.#size === 0) return false;
    const added = this.#area.subarray(0, this.#size);
    this.#size = 0;
    this.#take(added, isLast);
    return true;
  }
}
