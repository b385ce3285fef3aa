// The bare kernel, without the library's loader, and the borders of an index, for the tests of boundaries.

import { readFileSync } from 'node:fs';
import { ProvinceBorders } from '#dist/hexcodes/geometry/province-borders.js';
import { exportsOf, type KernelExports } from '#dist/hexcodes/kernel/exports.js';

export type Build = 'kernel' | 'kernel.debug';

const compiled = new Map<Build, WebAssembly.Module>();

export function bareKernel(build: Build = 'kernel'): KernelExports {
  let module = compiled.get(build);
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(`dist/${build}.wasm`));
    compiled.set(build, module);
  }
  return exportsOf(module);
}

/** Copies an index into the kernel and takes it into use; returns the answer of useIndex. */
export function putIndex(kernel: KernelExports, file: Uint8Array): number {
  const index = kernel.INDEX.value;
  const missing = index + file.length - kernel.memory.buffer.byteLength;
  if (missing > 0) kernel.memory.grow(Math.ceil(missing / 65536));
  new Uint8Array(kernel.memory.buffer).set(file, index);
  return kernel.useIndex(file.length);
}

/** Unit at whole micro-degrees, 63 outside. */
export function unitAtMicro(kernel: KernelExports, x: number, y: number): number {
  const unit = kernel.unitOf(y / 1e6, x / 1e6);
  return unit === 255 ? 63 : unit;
}

/** Compares the batch path, which locates points in passes of its own, with answers of the single path. */
export class BatchWitness {
  readonly #points: Float64Array;
  readonly #answers: Uint8Array;
  readonly #expected: Uint8Array;
  #count = 0;
  /** Blocks of many lengths, so that their ends fall everywhere. */
  #length = 1;

  /** To be made when the kernel has its index: the views stay attached from then on. */
  constructor(private readonly kernel: KernelExports) {
    const capacity = kernel.CAPACITY.value;
    this.#points = new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * capacity);
    this.#answers = new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, capacity);
    this.#expected = new Uint8Array(capacity);
  }

  add(latDeg: number, lngDeg: number, region: number): void {
    this.#points[2 * this.#count] = latDeg;
    this.#points[2 * this.#count + 1] = lngDeg;
    this.#expected[this.#count++] = region;
    if (this.#count === this.#length) this.compare();
  }

  /** Compares the places that were added since the last call. */
  compare(): void {
    this.kernel.locateBatch(this.#count);
    for (let i = 0; i < this.#count; ++i)
      if (this.#answers[i] !== this.#expected[i])
        throw new Error(
          `at ${this.#points[2 * i]}, ${this.#points[2 * i + 1]} (place ${i} of ${this.#count}) the batch says ` +
            `region ${this.#answers[i]}, the single path ${this.#expected[i]}`,
        );
    this.#count = 0;
    this.#length = (this.#length * 5 + 1) % this.#expected.length || 1;
  }
}

// The borders of the provinces of an index, as the endpoints and the command give them.

export const bordersOf = (index: Uint8Array): ProvinceBorders => new ProvinceBorders(index);
