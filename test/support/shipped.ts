// A kernel with what the package ships, as the server has it.
import { readFileSync } from 'node:fs';
import { Kernel } from '#dist/kernel/kernel.js';

export function shippedKernel(): Kernel {
  const [module, index, reach] = ['dist/kernel.wasm', 'data/index.bin', 'data/reach.bin'].map((path) =>
    readFileSync(path),
  ) as [Buffer, Buffer, Buffer];
  return Kernel.create(new Uint8Array(module), index, reach);
}
