// The library as the command uses it: the binaries that ship with the package are read once; HEXCODES_INDEX takes the
// place of the shipped boundaries.

import { readFile } from 'node:fs/promises';
import { HexcodesError } from '../errors.js';
import { Kernel } from '../kernel/kernel.js';
import { Hexcodes, type HexcodesData } from '../library/hexcodes.js';
import type { WorkerKernel } from '../pool/worker.js';
import { CliFailure, EXIT } from './exit-codes.js';
import { reasonOf } from './file-faults.js';

/** Reads the kernel beside this code, and index and reach in data/. @param indexPath a boundary index of the user's own */
export async function readDataFiles(indexPath?: string): Promise<HexcodesData> {
  const shipped = (path: string) => readFile(new URL(path, import.meta.url));
  const [kernel, index, reach] = await Promise.all([
    shipped('../kernel.wasm'),
    indexPath === undefined ? shipped('../../data/index.bin') : readFile(indexPath),
    shipped('../../data/reach.bin'),
  ]);
  return { kernel, index, reach };
}

let reading: Promise<HexcodesData> | undefined;
let loading: Promise<Hexcodes> | undefined;

/** @throws CliFailure if the index that the user names cannot be used */
export function loadLibrary(): Promise<Hexcodes> {
  loading ??= guarded(async () => Hexcodes.from(await readOnce()));
  return loading;
}

/** The same binaries for the threads of a pool. */
export function workerKernel(): Promise<WorkerKernel> {
  return guarded(async () => {
    const { kernel, index, reach } = await readOnce();
    return { module: await Kernel.moduleOf(kernel), index, reach };
  });
}

const indexPath = (): string | undefined => process.env.HEXCODES_INDEX || undefined;

function readOnce(): Promise<HexcodesData> {
  reading ??= readDataFiles(indexPath());
  return reading;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  const path = indexPath();
  try {
    return await work();
  } catch (error) {
    const isTheirs = error instanceof HexcodesError || (error as NodeJS.ErrnoException).path === path;
    if (path === undefined || !isTheirs) throw error;
    throw new CliFailure(EXIT.BAD_INPUT, `HEXCODES_INDEX=${path}: ${reasonOf(error)}`);
  }
}
