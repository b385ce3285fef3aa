// Collects the chunks of a request body into one array, which grows no further than the limit.

const FIRST_BUFFER_BYTES = 4096;

/**
 * Returns a receiver for the chunks of a body, which are valid during the call only. It calls `work` once with the
 * whole body, valid during that call. For each chunk that exceeds the limit it calls `tooLarge` instead, and keeps
 * nothing; `tooLarge` must answer the request, so that no further chunk comes. Before it keeps bytes it calls `hold`
 * with how many, which may throw.
 */
export function collectBody(
  limitBytes: number,
  tooLarge: () => void,
  hold: (bytes: number) => void,
  work: (body: Uint8Array) => void,
): (chunk: Uint8Array, isLast: boolean) => void {
  let collected = Buffer.alloc(0);
  let sizeBytes = 0;
  return (chunk, isLast) => {
    // A body that comes in one chunk is not copied.
    if (sizeBytes === 0 && isLast && chunk.length <= limitBytes) {
      work(chunk);
      return;
    }
    const grownBytes = sizeBytes + chunk.length;
    if (grownBytes > limitBytes) {
      collected = Buffer.alloc(0);
      tooLarge();
      return;
    }
    if (grownBytes > collected.length) {
      const largerBytes = Math.min(limitBytes, Math.max(FIRST_BUFFER_BYTES, 2 * grownBytes));
      hold(largerBytes);
      const larger = Buffer.allocUnsafeSlow(largerBytes);
      larger.set(collected.subarray(0, sizeBytes));
      collected = larger;
    }
    collected.set(chunk, sizeBytes);
    sizeBytes = grownBytes;
    if (isLast) work(collected.subarray(0, sizeBytes));
  };
}
