// The library for Node: load() reads the binaries of the package.

import { readFile } from 'node:fs/promises';
import { Hexcodes as Anywhere } from './hexcodes.js';

export * from './hexcodes.js';

export class Hexcodes extends Anywhere {
  /**
   * Makes an instance with the boundaries of this package.
   * @throws HexcodesError BAD_DATA if a file is damaged; the file system's error if one is missing
   */
  static async load(): Promise<Hexcodes> {
    const [kernel, index, reach] = await Promise.all(
      ['../kernel.wasm', '../../data/index.bin', '../../data/reach.bin'].map((path) =>
        readFile(new URL(path, import.meta.url)),
      ),
    );
    return Hexcodes.from({ kernel: kernel!, index: index!, reach: reach! });
  }
}
