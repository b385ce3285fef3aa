// Copies bytes from and to memory that threads share.

/**
 * Like target.set(source), where either may be a SharedArrayBuffer: V8 copies shared memory word by word, in twice the
 * time. Buffer.fill with a source as long as the target is one plain copy.
 */
export function copyBytes(target: Uint8Array, source: Uint8Array): void {
  if (source.length === 0) return;
  Buffer.from(target.buffer, target.byteOffset, target.length).fill(source, 0, source.length);
}
