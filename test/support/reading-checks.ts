// Checks on every text that is read: an accepted text has one canonical text, which reads as itself.

import type { Kernel } from '#hexcodes';
import { readByPeer } from './peers/reading.js';

export interface ReadingCounts {
  texts: number;
  accepted: number;
  /** Faults, in words. */
  wrong: string[];
}

/** Whether readAscii answers as readText did, and says whether the text is canonical. */
function readsAlikeAsBytes(kernel: Kernel, text: string, status: number, canonical: string | null): boolean {
  const { exports, output, textIn } = kernel;
  const answer = output.slice(0, 52);
  textIn.set(Buffer.from(text.slice(0, 65)));
  if (exports.readAscii(text.length) !== status || output[26] !== Number(text === canonical)) return false;
  output[26] = answer[26]!;
  return answer.every((byte, at) => byte === output[at]);
}

/**
 * Reads `count` texts of a supply. An accepted text's canonical text reads as itself and is what pack gives; every
 * `peerEvery`-th answer is compared with the second implementation. A trap of the kernel throws.
 */
export function checkReading(
  kernel: Kernel,
  texts: Iterator<string>,
  count: number,
  peerEvery: number,
): ReadingCounts {
  const counts: ReadingCounts = { texts: 0, accepted: 0, wrong: [] };
  const { exports, output, outputCells } = kernel;
  for (; counts.texts < count; counts.texts++) {
    const text = texts.next().value as string;
    const complain = (what: string) => counts.wrong.push(`${JSON.stringify(text)}: ${what}`);
    const status = kernel.readText(text);
    const canonical = status === 0 ? kernel.textAt(32) : null;
    if (/^[\0-\x7f]*$/.test(text) && !readsAlikeAsBytes(kernel, text, status, canonical))
      complain('its bytes are read in another way');
    if (canonical !== null) {
      counts.accepted++;
      const cell = outputCells[2] as bigint;
      const admin = output[25] as number;
      if (exports.pack(cell, admin) !== 0 || kernel.textAt(0) !== canonical)
        complain(`${canonical} is not what pack gives`);
      if (kernel.readText(canonical) !== 0 || kernel.textAt(32) !== canonical || outputCells[2] !== cell)
        complain(`${canonical} does not read as itself`);
      if (output[25] !== admin) complain(`${canonical} has another province`);
    } else if (status !== 3) complain(`status ${status}`);
    if (counts.texts % peerEvery === 0 && (readByPeer(text)?.canonical ?? null) !== canonical)
      complain(`kernel ${canonical}, peer ${readByPeer(text)?.canonical ?? null}`);
  }
  return counts;
}
