// The binaries that ship with the package, for the commands: the kernel beside this code, index and reach in data/.
import { readFile } from 'node:fs/promises';
import type { HexcodesData } from '../library/hexcodes.js';

/** Reads all three; `indexPath` takes the place of the shipped boundary index. */
export async function readDataFiles(indexPath?: string): Promise<HexcodesData> {
  const shipped = (path: string) => readFile(new URL(path, import.meta.url));
  const [kernel, index, reach] = await Promise.all([
    shipped('../kernel.wasm'),
    indexPath === undefined ? shipped('../../data/index.bin') : readFile(indexPath),
    shipped('../../data/reach.bin'),
  ]);
  return { kernel, index, reach };
}
