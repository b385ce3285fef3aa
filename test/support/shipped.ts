// A kernel with what the package ships, as the server has it.
import { readFileSync } from 'node:fs';
import { Kernel } from '#dist/hexcodes/kernel/kernel.js';

/** The three binaries of the package, for `Hexcodes.from` and servers. */
export function shippedFiles() {
  const [kernel, index, reach] = ['dist/kernel.wasm', 'data/index.bin', 'data/reach.bin'].map(
    (path) => new Uint8Array(readFileSync(path)),
  ) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  return { kernel, index, reach };
}

export function shippedKernel(): Kernel {
  const { kernel, index, reach } = shippedFiles();
  return Kernel.create(kernel, index, reach);
}
