// Bytes as text, without the replacement characters that decoders put in place of what is not UTF-8.

import { isUtf8 } from 'node:buffer';

/** @throws Error for bytes that are not UTF-8 */
export function utf8Text(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error('text that is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
