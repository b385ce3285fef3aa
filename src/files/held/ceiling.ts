// The ceiling on what one file may make its reader hold: claims of sizes and counts are compared with it before memory
// is taken.

import { getHeapStatistics } from 'node:v8';
import { CliFailure, EXIT } from '../exit-codes.js';
import { badInput, type FaultLocation } from '../file-faults.js';
import { grouped } from '../terminal/paint.js';

const MIB = 2 ** 20;
const VARIABLE = 'HEXCODES_READ_MEMORY';
/** MiB that the variable may name. */
const LEAST = 16;
const MOST = 65_536;
const DEFAULT_MOST_BYTES = 1024 * MIB;

/**
 * Bytes that one file may take while it is read: `HEXCODES_READ_MEMORY` in MiB, else half of the heap that Node has, 1
 * GiB at most.
 * @throws CliFailure USAGE for a value that is no such number
 */
export function ceilingBytes(): number {
  const text = process.env[VARIABLE];
  if (text === undefined || text === '')
    return Math.min(DEFAULT_MOST_BYTES, Math.floor(getHeapStatistics().heap_size_limit / 2));
  const mib = Number(text);
  if (Number.isInteger(mib) && mib >= LEAST && mib <= MOST) return mib * MIB;
  throw new CliFailure(
    EXIT.USAGE,
    `${VARIABLE}=${text}: must be a whole number of MiB from ${LEAST} to ${MOST}`,
  );
}

/**
 * Refuses what is larger than the ceiling.
 * @param bytes that would be held, about
 * @param what as the subject of the sentence: `a row group`
 * @param wayOut besides a higher ceiling
 * @throws CliFailure BAD_INPUT that names file, subject, size, limit and the way out
 */
export function requireBelowCeiling(
  location: FaultLocation,
  bytes: number,
  what: string,
  wayOut: string,
): void {
  if (bytes > ceilingBytes()) throw beyondCeiling(location, bytes, what, wayOut);
}

/** The failure of `requireBelowCeiling`. */
export function beyondCeiling(
  location: FaultLocation,
  bytes: number,
  what: string,
  wayOut: string,
): CliFailure {
  return badInput(
    location,
    `${what} takes ${mebibytes(bytes)} of memory, and one file may take ${mebibytes(ceilingBytes())}`,
    `${wayOut} ${VARIABLE}=MiB allows more, where the machine has it.`,
  );
}

function mebibytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${grouped(Math.ceil(bytes / MIB))} MiB` : 'an endless number of MiB';
}
