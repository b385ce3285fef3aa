// Sinks to which conversions write their answers, piece by piece. ByteSink collects them as one array, in a buffer of
// the caller if they fit and otherwise in one of its own; KernelSink passes them on from the kernel's memory.
import type { Kernel } from '../../kernel/kernel.js';

/**
 * Like target.set(source), where either may be a SharedArrayBuffer: V8 copies shared memory word by word, in twice the
 * time. Buffer.fill with a source as long as the target is one plain copy.
 */
export function copyBytes(target: Uint8Array, source: Uint8Array): void {
  if (source.length === 0) return;
  Buffer.from(target.buffer, target.byteOffset, target.length).fill(source, 0, source.length);
}

export interface AnswerSink {
  /** Bytes added so far and not yet passed on. */
  readonly sizeBytes: number;
  add(bytes: Uint8Array): void;
  addText(text: string): void;
  /** Free bytes, at least `sizeBytes`, for the caller to write to; `commit` then adds the first of them. */
  reserve(sizeBytes: number): Uint8Array<ArrayBuffer>;
  /** Adds the first bytes of the last `reserve`. */
  commit(sizeBytes: number): void;
  /** Offset in TEXT_OUT at which the kernel may write text. */
  readonly textOffset: number;
  /** Adds text that the kernel wrote at `textOffset`. */
  addWritten(text: Uint8Array): void;
  /**
   * Makes all of TEXT_OUT available for the kernel's text, so that `textOffset` is 0; returns false if it already
   * was.
   */
  freeTextOut(): boolean;
}

const FIRST_BYTES = 1 << 16;
/** Largest buffer that a reused sink keeps; answers to usual blocks need no more. */
const KEPT_BYTES = 1 << 21;

const encoder = new TextEncoder();

type Bytes = Uint8Array<ArrayBuffer>;

const NO_BYTES: Bytes = new Uint8Array(0);

export class ByteSink implements AnswerSink {
  /** Always 0: text is copied out of TEXT_OUT at once. */
  readonly textOffset = 0;
  /** Allocated on demand, and kept between uses. */
  #own: Bytes = NO_BYTES;
  #given: Bytes | undefined;
  /** The buffer that is being written, the caller's or `#own`. */
  #bytes: Bytes = NO_BYTES;
  #size = 0;

  get sizeBytes(): number {
    return this.#size;
  }

  /** All bytes so far: a view that is valid until the next call. */
  get added(): Bytes {
    return this.#bytes.subarray(0, this.#size);
  }

  /**
   * Drops all bytes.
   * @param buffer holds the next ones, as long as they fit
   */
  start(buffer?: Bytes): void {
    this.#size = 0;
    if (this.#own.length > KEPT_BYTES) this.#own = NO_BYTES;
    this.#given = buffer;
    this.#bytes = buffer ?? this.#own;
  }

  add(bytes: Uint8Array): void {
    this.#ensureFree(bytes.length);
    this.#bytes.set(bytes, this.#size);
    this.#size += bytes.length;
  }

  addText(text: string): void {
    // A UTF-16 unit is at most three bytes.
    this.#ensureFree(text.length * 3);
    this.#size += encoder.encodeInto(text, this.#bytes.subarray(this.#size)).written;
  }

  reserve(sizeBytes: number): Bytes {
    this.#ensureFree(sizeBytes);
    return this.#bytes.subarray(this.#size);
  }

  commit(sizeBytes: number): void {
    this.#size += sizeBytes;
  }

  addWritten(text: Uint8Array): void {
    this.add(text);
  }

  freeTextOut(): boolean {
    return false;
  }

  /** Removes the last bytes. */
  drop(sizeBytes: number): void {
    this.#size -= sizeBytes;
  }

  /**
   * All bytes, at the beginning of the given buffer or in an array with a buffer of its own. The sink is empty then.
   */
  take(): Bytes {
    const isGiven = this.#bytes === this.#given;
    const taken = isGiven ? this.#bytes.subarray(0, this.#size) : this.#bytes.slice(0, this.#size);
    this.start();
    return taken;
  }

  #ensureFree(sizeBytes: number): void {
    const needed = this.#size + sizeBytes;
    if (needed <= this.#bytes.length) return;
    const full = this.#bytes;
    if (needed > this.#own.length) this.#own = new Uint8Array(Math.max(needed, 2 * full.length, FIRST_BYTES));
    this.#own.set(full.subarray(0, this.#size));
    this.#bytes = this.#own;
  }
}

/** Bytes that the kernel's vector stores may overwrite beyond the text. */
const MARGIN_BYTES = 64;

/**
 * Collects answers in TEXT_OUT, where the kernel writes text, and passes them on from there: text of the kernel is
 * not copied before it leaves the process, and stays in the processor's cache.
 */
export class KernelSink implements AnswerSink {
  readonly #area: Bytes;
  /** Capacity for other bytes than the kernel's text, whose writers keep a margin. */
  readonly #limitBytes: number;
  #size = 0;
  #take: (bytes: Uint8Array, isLast: boolean) => void = () => {};

  constructor(kernel: Kernel) {
    this.#area = kernel.textOut;
    this.#limitBytes = this.#area.length - MARGIN_BYTES;
  }

  /**
   * Drops bytes that were not passed on.
   * @param take called with the bytes, in order, in one or several pieces; each is valid during the call. `isLast` is
   * true for the piece that `end` passes on; `end` passes on nothing where everything has been passed on before
   */
  start(take: (bytes: Uint8Array, isLast: boolean) => void): void {
    this.#size = 0;
    this.#take = take;
  }

  /** Bytes not yet passed on. */
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

  /** The kernel has written the text in place. */
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
