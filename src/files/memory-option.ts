// `--memory MiB` of commands that go on from the disk when memory is full.

import { CliFailure, EXIT } from './exit-codes.js';

const MIB = 2 ** 20;

/** Bytes. @throws CliFailure USAGE */
export function memoryBytesOf(text: string): number {
  const mib = Number(text);
  if (Number.isInteger(mib) && mib >= 1 && mib <= 65_536) return mib * MIB;
  throw new CliFailure(EXIT.USAGE, `--memory ${text}: must be a whole number of MiB from 1 to 65536`);
}
