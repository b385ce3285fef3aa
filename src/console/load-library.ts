// Loads the library with the boundaries of this service.
import { Kernel } from '../hexcodes/kernel/kernel.js';
import { Hexcodes } from '../hexcodes/library/hexcodes.js';
import { bytesOf } from './shipped.js';

export async function loadLibrary(): Promise<Hexcodes> {
  const [kernel, index, reach] = await Promise.all([bytesOf('kernel'), bytesOf('index'), bytesOf('reach')]);
  return Hexcodes.from({ kernel: await Kernel.compile(kernel), index, reach });
}
