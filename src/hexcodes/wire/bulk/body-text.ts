// Whether bytes of CSV are text: UTF-8 without NUL. A block ends with a row, so no character is cut in two by its
// bounds.

import { isUtf8 } from 'node:buffer';
import { BulkInputError } from '../job.js';

export function isText(block: Uint8Array): boolean {
  // Buffer searches for a byte many times as fast as Uint8Array.
  return !Buffer.from(block.buffer, block.byteOffset, block.length).includes(0) && isUtf8(block);
}

/** The error for a block that is not text. @param before bytes of the body before the block */
export function notText(block: Uint8Array, before: number): BulkInputError {
  const nul = block.indexOf(0);
  const wrong = firstWrong(nul < 0 ? block : block.subarray(0, nul));
  if (wrong < 0)
    return new BulkInputError(`Byte ${before + nul + 1} of the body is NUL: CSV is text in UTF-8`);
  return new BulkInputError(
    `Byte ${before + wrong + 1} of the body is not UTF-8, in which CSV must be written`,
  );
}

/** The place of the first byte that belongs to no UTF-8 character; -1 if there is none. */
function firstWrong(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1;
  let [good, bad] = [0, bytes.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isBeginning(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  // At most three bytes back to the start of the character that does not go on as it should.
  while (!isUtf8(bytes.subarray(0, good))) good--;
  return good;
}

/** Whether bytes are UTF-8 but for a last character that may go on. */
function isBeginning(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
