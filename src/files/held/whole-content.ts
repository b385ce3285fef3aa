// Contents that are read as a whole, up to the ceiling: what is packed may unpack to any size.

import { requireBelowCeiling } from './ceiling.js';

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
