// Moves bytes out of and into memory that threads share.

/**
 * As target.set(source), where either may be shared: that moves shared memory word by word, in twice the time. Filling with
 * as many bytes as there is room for is one copy.
 */
export function copyBytes(target: Uint8Array, source: Uint8Array): void {
  if (source.length === 0) return;
  Buffer.from(target.buffer, target.byteOffset, target.length).fill(source, 0, source.length);
}
