// The files that the page was loaded with, for the page and its workers, and a kernel of them.
import { Kernel } from '../../hexcodes/kernel/kernel.js';

/** Addresses of the kernel and of the boundaries. */
export type KernelPaths = Readonly<Record<'kernel' | 'index' | 'reach', string>>;

export async function kernelFiles(paths: KernelPaths) {
  const [kernel, index, reach] = await Promise.all([paths.kernel, paths.index, paths.reach].map(bytesOf));
  return { kernel: await Kernel.compile(kernel!), index: index!, reach: reach! };
}

export async function kernelOf(paths: KernelPaths): Promise<Kernel> {
  const { kernel, index, reach } = await kernelFiles(paths);
  return Kernel.create(kernel, index, reach);
}

/** Between attempts at a file, where a network fails for a moment. */
const PAUSES_MS = [500, 2000];
/** A service that asks for a longer pause is not waited for. */
const MAX_PAUSE_MS = 10_000;

/** @throws TypeError where the service cannot be reached */
export async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
  for (const pauseMs of [...PAUSES_MS, undefined]) {
    let waitMs = pauseMs;
    try {
      const answer = await fetch(path);
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
      const wantedMs = 1000 * Number(answer.headers.get('retry-after') ?? 0);
      if (waitMs !== undefined && wantedMs > waitMs) waitMs = wantedMs <= MAX_PAUSE_MS ? wantedMs : undefined;
      if (waitMs === undefined) throw new TypeError(`${path}: ${answer.status}`);
    } catch (error) {
      if (waitMs === undefined) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  throw new TypeError(path);
}
