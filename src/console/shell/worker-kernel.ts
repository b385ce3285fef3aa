// The kernel of the page and of its workers, of the files that the page was loaded with.
import { Kernel } from '../../hexcodes/kernel/kernel.js';
import { bytesOf } from './bytes.js';

/** Addresses of the kernel and of the boundaries. */
export type KernelPaths = Readonly<Record<'kernel' | 'index' | 'reach', string>>;

export async function kernelFiles(paths: KernelPaths): Promise<{
  readonly kernel: WebAssembly.Module;
  readonly index: Uint8Array;
  readonly reach: Uint8Array;
}> {
  const [kernel, index, reach] = await Promise.all([paths.kernel, paths.index, paths.reach].map(bytesOf));
  return { kernel: await Kernel.compile(kernel!), index: index!, reach: reach! };
}

export async function kernelOf(paths: KernelPaths): Promise<Kernel> {
  const { kernel, index, reach } = await kernelFiles(paths);
  return Kernel.create(kernel, index, reach);
}
