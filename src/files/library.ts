// The library for the command: the binary files that ship with the package are read once; HEXCODES_INDEX and
// HEXCODES_REACH replace the shipped ones.

import { readFileSync } from 'node:fs';
import { HexcodesError } from '../hexcodes/errors.js';
import { Kernel } from '../hexcodes/kernel/kernel.js';
import { Hexcodes, type HexcodesData } from '../hexcodes/library/hexcodes.js';
import type { WorkerKernel } from '../pool/worker.js';
import { CliFailure, EXIT, reasonOf } from './exit-codes.js';

/**
 * Reads the kernel beside this code, and index and reach in data/.
 * @param indexPath a boundary index of the user's own
 * @param reachPath a list of the user's own of the provinces that codes may name
 */
export async function readDataFiles(
  indexPath?: string,
  reachPath = givenPath('HEXCODES_REACH'),
): Promise<HexcodesData> {
  // Synchronously: three small files are read sooner than reading threads are started.
  const kernel = readFileSync(new URL('../kernel.wasm', import.meta.url));
  const index = readFileSync(indexPath ?? new URL('../../data/index.bin', import.meta.url));
  const reach = readFileSync(reachPath ?? new URL('../../data/reach.bin', import.meta.url));
  return { kernel, index, reach };
}

export async function readServedData(paths: {
  index: string | undefined;
  previousIndex: string | undefined;
  reach: string | undefined;
}): Promise<HexcodesData & { readonly previousIndex: Uint8Array | undefined }> {
  const { previousIndex: path } = paths;
  const previousIndex = path === undefined ? undefined : readFileSync(path);
  return { ...(await readDataFiles(paths.index, paths.reach)), previousIndex };
}

let reading: Promise<HexcodesData> | undefined;
let loading: Promise<Hexcodes> | undefined;

/** @throws CliFailure if the index that the user names cannot be used */
export function loadLibrary(): Promise<Hexcodes> {
  loading ??= guarded(async () => Hexcodes.from(await readOnce()));
  return loading;
}

/** The binaries of the kernel for the threads of a pool. */
export function workerKernel(): Promise<WorkerKernel> {
  return guarded(async () => {
    const { kernel, index, reach } = await readOnce();
    return { module: await Kernel.moduleOf(kernel), index, reach };
  });
}

const VARIABLES = ['HEXCODES_INDEX', 'HEXCODES_REACH'] as const;
const givenPath = (variable: (typeof VARIABLES)[number]): string | undefined =>
  process.env[variable] || undefined;

/** The files that replace shipped ones. */
export function givenData(): { readonly variable: string; readonly path: string }[] {
  return VARIABLES.map((variable) => ({ variable, path: givenPath(variable) ?? '' })).filter(
    ({ path }) => path !== '',
  );
}

function readOnce(): Promise<HexcodesData> {
  reading ??= readDataFiles(givenPath('HEXCODES_INDEX'));
  return reading;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  const given = VARIABLES.filter((variable) => givenPath(variable));
  try {
    return await work();
  } catch (error) {
    const { path } = error as NodeJS.ErrnoException;
    const atFault = path === undefined ? given : given.filter((variable) => givenPath(variable) === path);
    const isTheirs = error instanceof HexcodesError || path !== undefined;
    if (atFault.length === 0 || !isTheirs) throw error;
    const names = atFault.map((variable) => `${variable}=${givenPath(variable)}`).join(', ');
    throw new CliFailure(EXIT.BAD_INPUT, `${names}: ${reasonOf(error)}`);
  }
}
