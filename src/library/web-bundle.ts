// The entry hexcodes/web: the library for browsers as one file that holds kernel, index and reach. It fetches nothing, so
// it works from any server or CDN and in workers.

import { Kernel } from '../kernel/kernel.js';
import { Hexcodes as Anywhere } from './hexcodes.js';
import { INDEX, KERNEL, REACH } from './web-data.js';

export * from './hexcodes.js';

export class Hexcodes extends Anywhere {
  /**
   * Makes an instance with the boundaries of this package; compiles without blocking the page.
   * @throws HexcodesError BAD_DATA if this file is damaged
   */
  static async load(): Promise<Hexcodes> {
    const kernel = await Kernel.compile(bytesOf(KERNEL));
    return Hexcodes.from({ kernel, index: bytesOf(INDEX), reach: bytesOf(REACH) });
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
