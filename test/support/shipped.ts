// The version of the package, and a kernel with its files, as the server has it.
import { readFileSync } from 'node:fs';
import { Hexcodes, type Kernel } from '#hexcodes';

export const VERSION = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;

/** The three binaries of the package, for `Hexcodes.from` and servers. */
export function shippedFiles() {
  const [kernel, index, reach] = ['dist/kernel.wasm', 'data/index.bin', 'data/reach.bin'].map(
    (path) => new Uint8Array(readFileSync(path)),
  ) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  return { kernel, index, reach };
}

export function shippedKernel(): Kernel {
  return Hexcodes.from(shippedFiles()).kernel;
}
