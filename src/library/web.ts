// The library for browsers: load() fetches the binaries of the package, at addresses relative to this file.

import { HexcodesError } from '../errors.js';
import { Kernel } from '../kernel/kernel.js';
import { Hexcodes as Anywhere } from './hexcodes.js';

export * from './hexcodes.js';

export class Hexcodes extends Anywhere {
  /**
   * Makes an instance with the boundaries of this package. Bundlers find the three URLs, which are literals.
   * @throws HexcodesError BAD_DATA if a file cannot be fetched or is damaged
   */
  static async load(): Promise<Hexcodes> {
    const [kernel, index, reach] = await Promise.all([
      fetchBytes(new URL('../kernel.wasm', import.meta.url)).then((bytes) => Kernel.compile(bytes)),
      fetchBytes(new URL('../../data/index.bin', import.meta.url)),
      fetchBytes(new URL('../../data/reach.bin', import.meta.url)),
    ]);
    return Hexcodes.from({ kernel, index, reach });
  }
}

async function fetchBytes(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url).catch((error: unknown) => unreachable(url, error));
  if (!response.ok) throw new HexcodesError('BAD_DATA', `${url.href} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer().catch((error: unknown) => unreachable(url, error)));
}

function unreachable(url: URL, error: unknown): never {
  throw new HexcodesError('BAD_DATA', `${url.href} cannot be fetched: ${String(error)}`);
}
