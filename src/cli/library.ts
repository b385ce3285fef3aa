// The library as the command uses it: loaded once, from HEXCODES_INDEX where the user brings boundaries of their own.

import { HexcodesError } from '../errors.js';
import { Kernel } from '../kernel/kernel.js';
import { Hexcodes, type HexcodesData } from '../library/node.js';
import type { WorkerKernel } from '../pool/worker.js';
import { readDataFiles } from './data-files.js';
import { CliFailure, EXIT, reasonOf } from './exit-codes.js';

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
