// Checks chunks before they are written to a stream: one that would be read as something else, such as a text letter by
// letter, is refused at once.
import { RECORD_BYTES } from '../../wire/frames/frame-layout.js';
import { HexcodesClientError } from '../errors.js';

/** Loops over a stream, once. A loop that is left early cancels the stream, and so ends its request. */
export async function* loopOver<T>(stream: ReadableStream<T>): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

export type StreamOperation = 'encode' | 'decode';

/** @throws HexcodesClientError BAD_ARGUMENT for any other word */
export function requireOperation(given: unknown): asserts given is StreamOperation {
  if (given === 'encode' || given === 'decode') return;
  throw refused(`operation is 'encode' or 'decode', not ${JSON.stringify(given)}`);
}

/**
 * Refuses a source that gives no chunks. An array is looked through, whatever else iterates only as it is written.
 * @throws HexcodesClientError BAD_ARGUMENT
 */
export function requireSource(source: unknown, operation: StreamOperation): void {
  if (source === undefined) return;
  const isIterable =
    typeof source === 'object' &&
    source !== null &&
    !ArrayBuffer.isView(source) &&
    (Symbol.iterator in source || Symbol.asyncIterator in source);
  if (!isIterable) throw refused(`source is an iterable of chunks; ${CHUNK_OF[operation]}`);
  if (!Array.isArray(source)) return;
  for (const chunk of source) {
    if (operation === 'encode') requirePairs(chunk);
    else requireHexcodes(chunk);
  }
}

const CHUNK_OF: Record<StreamOperation, string> = {
  encode: 'a chunk is a Float64Array of (lat, lng) pairs',
  decode: `a chunk is an array of hexcodes, or a Uint8Array of ${RECORD_BYTES}-byte records`,
};

/** @throws HexcodesClientError BAD_ARGUMENT */
export function requirePairs(chunk: unknown): asserts chunk is Float64Array {
  if (!(chunk instanceof Float64Array)) throw refused(CHUNK_OF.encode);
  if (chunk.length % 2 !== 0) throw refused(`${CHUNK_OF.encode}: ${chunk.length} numbers are odd`);
}

/** @throws HexcodesClientError BAD_ARGUMENT */
export function requireHexcodes(chunk: unknown): asserts chunk is readonly unknown[] | Uint8Array {
  if (Array.isArray(chunk)) return;
  if (!(chunk instanceof Uint8Array)) throw refused(CHUNK_OF.decode);
  if (chunk.length % RECORD_BYTES !== 0)
    throw refused(`${CHUNK_OF.decode}: ${chunk.length} bytes are not whole records`);
}

function refused(message: string): HexcodesClientError {
  return new HexcodesClientError('BAD_ARGUMENT', message);
}
