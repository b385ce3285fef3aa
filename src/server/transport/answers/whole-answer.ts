// Writes an answer whose body is there as a whole. The caller has corked the response; see README U18 and U19.
import type { UwsResponse } from '../uws.js';

/**
 * Larger bodies do not fit uWS's cork together with their head. `end` drops such a body if the socket does not take the
 * whole head, and copies the part of it that the socket does not take; `tryEnd` does neither.
 */
const MAX_END_BYTES = 15_000;

/**
 * Writes the body behind a head that is already written. Returns false, with nothing written, if the body is too large
 * for this: it is then for `writeLargeBody`.
 */
export function writeBody(
  res: UwsResponse,
  isHead: boolean,
  status: number,
  body: string | Uint8Array,
  close: boolean,
): boolean {
  if (isHead) {
    const sizeBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    // On a connection that stays open, uWS would take a size given to endWithoutBody for bytes that are still to be sent.
    if (close) res.endWithoutBody(sizeBytes, true);
    else res.writeHeader('Content-Length', String(sizeBytes)).endWithoutBody();
  } else if (status === 204 || status === 304) {
    // These must not have a Content-Length, which uWS would make of any argument.
    res.endWithoutBody();
  } else if (typeof body === 'string' || body.length <= MAX_END_BYTES || close) {
    res.end(body, close);
  } else {
    return false;
  }
  return true;
}

/** Writes a body as fast as the socket takes it; `done` is called when the socket has taken all of it. */
export function writeLargeBody(
  res: UwsResponse,
  body: Uint8Array,
  isOver: () => boolean,
  done: () => void,
): void {
  res.onWritable((offsetBytes) => {
    if (isOver()) return true;
    const [isTaken, isDone] = res.tryEnd(body.subarray(offsetBytes), body.length);
    if (isDone) done();
    return isTaken;
  });
  const [, isDone] = res.tryEnd(body, body.length);
  if (isDone) done();
}
