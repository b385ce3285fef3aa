// Single conversions by the kernel of this thread.
import { type Kernel, OK } from '../../kernel/kernel.js';
import type { Converter } from './single.js';

/** Where readText puts the resolution: after two f64 and one u64. */
const RESOLUTION_AT = 24;
/** A code ends at the first NUL of its record. */
const RECORD_TEXT_BYTES = 19;

export class KernelConverter implements Converter {
  readonly #kernel: Kernel;
  readonly #record: Buffer;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const { buffer, byteOffset } = kernel.output;
    this.#record = Buffer.from(buffer, byteOffset, RECORD_TEXT_BYTES);
  }

  encode(latDeg: number, lngDeg: number, resolution: number): number {
    return this.#kernel.exports.encodeOne(latDeg, lngDeg, resolution);
  }

  get code(): string {
    let end = 0;
    while (end < RECORD_TEXT_BYTES && this.#record[end] !== 0) end++;
    return this.#record.toString('latin1', 0, end);
  }

  decode(text: string): boolean {
    return this.#kernel.readText(text) === OK;
  }

  get latDeg(): number {
    return this.#kernel.outputFloats[0] as number;
  }

  get lngDeg(): number {
    return this.#kernel.outputFloats[1] as number;
  }

  get resolution(): number {
    return this.#kernel.output[RESOLUTION_AT] as number;
  }
}
