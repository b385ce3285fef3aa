// The ceiling on what one file may make its reader hold: claims of sizes and counts are compared with it before memory
// is taken.

import { getHeapStatistics } from 'node:v8';
import { badInput, CliFailure, EXIT, type FaultLocation } from '../exit-codes.js';
import { grouped } from '../terminal/say.js';

// Contents that are read as a whole, up to the ceiling: what is packed may unpack to any size.

/** An input as far as it is read here. */
interface Content {
  /** Name in messages. */
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** The pieces and what they are put together to. */
const COPIES = 2;

/**
 * All bytes of an input, in a buffer of their own.
 * @param what as the subject of a sentence
 * @param wayOut besides a higher ceiling
 * @param factor memory that a byte takes where it is used
 * @throws CliFailure BAD_INPUT as soon as they pass the ceiling
 */
export async function wholeContent(
  { name, chunks }: Content,
  what: string,
  wayOut: string,
  factor = COPIES,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks()) {
    size += chunk.length;
    requireBelowCeiling({ file: name }, factor * size, what, wayOut);
    parts.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts.splice(0)) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const MIB = 2 ** 20;
const VARIABLE = 'HEXCODES_READ_MEMORY';
/** MiB that the variable may name. */
const LEAST = 16;
const MOST = 65_536;
const DEFAULT_MAX_BYTES = 1024 * MIB;

/**
 * Bytes that one file may take while it is read: `HEXCODES_READ_MEMORY` in MiB, else half of the heap that Node has, 1
 * GiB at most.
 * @throws CliFailure USAGE for a value that is no such number
 */
export function ceilingBytes(): number {
  const text = process.env[VARIABLE];
  if (text === undefined || text === '')
    return Math.min(DEFAULT_MAX_BYTES, Math.floor(getHeapStatistics().heap_size_limit / 2));
  const mib = Number(text);
  if (Number.isInteger(mib) && mib >= LEAST && mib <= MOST) return mib * MIB;
  throw new CliFailure(
    EXIT.USAGE,
    `${VARIABLE}=${text}: must be a whole number of MiB from ${LEAST} to ${MOST}`,
  );
}

/**
 * Refuses what is larger than the ceiling.
 * @param bytes that would be held, approximately
 * @param what as the subject of the sentence: `a row group`
 * @param wayOut besides a higher ceiling
 * @throws CliFailure BAD_INPUT that names file, subject, size, limit and the remedy
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
