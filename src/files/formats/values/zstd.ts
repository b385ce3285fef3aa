// Unpacks Zstandard of a known size, natively where Node has it (22.15 and later), and never to much more than that
// size.

import * as zlib from 'node:zlib';
import { decompressZstd } from 'hyparquet-compressors';

type Native = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
/** Node 20 has no Zstandard, and its types know none. */
const native = (zlib as unknown as { zstdDecompressSync?: Native }).zstdDecompressSync;

const FRAME = 0xfd2fb528;
const SKIPPED_FRAME = 0x184d2a50;
const BLOCK_BYTES = 128 * 1024;
/** The largest window that Zstandard's own command accepts without being asked. */
const MAX_WINDOW_BYTES = 1 << 27;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const COMPRESSED = 2;

/**
 * @param sizeBytes that the content should have
 * @param maxBytes that it may have
 * @throws Error for broken data, and for data that claims more
 */
export function unpackZstd(bytes: Uint8Array, sizeBytes: number, maxBytes = sizeBytes): Uint8Array {
  if (native !== undefined) return native(bytes, { maxOutputLength: Math.max(1, sizeBytes) });
  requireZstdBelow(bytes, Math.max(sizeBytes, maxBytes));
  return decompressZstd(bytes);
}

/** Walks frames and blocks without unpacking them. @throws Error for data that may unpack to more */
export function requireZstdBelow(bytes: Uint8Array, maxBytes: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let total = 0;
  const add = (claimed: number): void => {
    total += claimed;
    if (total > maxBytes) throw new Error(`it claims more than ${maxBytes} bytes`);
  };
  for (let at = 0; at < bytes.length; ) {
    const magic = view.getUint32(at, true);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPED_FRAME) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (magic !== FRAME) throw new Error('it is not a frame of Zstandard');
    const frame = frameAt(view, at + 4);
    if (frame.windowBytes > MAX_WINDOW_BYTES && frame.windowBytes > maxBytes)
      throw new Error(`it claims a window of ${frame.windowBytes} bytes`);
    if (frame.contentBytes !== null) add(frame.contentBytes);
    at = frame.blocksAt;
    for (let isLast = false; !isLast; ) {
      const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
      isLast = (header & 1) === 1;
      const kind = (header >> 1) & 3;
      const size = header >> 3;
      if (frame.contentBytes === null) add(kind === COMPRESSED ? BLOCK_BYTES : size);
      at += 3 + (kind === 1 ? 1 : size);
    }
    if (frame.hasChecksum) at += 4;
  }
}

interface Frame {
  /** null where the frame does not say it. */
  readonly contentBytes: number | null;
  readonly windowBytes: number;
  readonly hasChecksum: boolean;
  readonly blocksAt: number;
}

function frameAt(view: DataView, start: number): Frame {
  const flags = view.getUint8(start);
  const isSingle = (flags & 32) !== 0;
  let at = start + 1;
  let windowBytes = 0;
  if (!isSingle) {
    const window = view.getUint8(at++);
    const base = 2 ** (10 + (window >> 3));
    windowBytes = base + (base / 8) * (window & 7);
  }
  at += DICTIONARY_ID_BYTES[flags & 3]!;
  const hasChecksum = (flags & 4) !== 0;
  const sizes = [isSingle ? 1 : 0, 2, 4, 8];
  const sizeBytes = sizes[flags >> 6]!;
  return {
    contentBytes: contentBytesAt(view, at, sizeBytes),
    windowBytes,
    hasChecksum,
    blocksAt: at + sizeBytes,
  };
}

function contentBytesAt(view: DataView, at: number, sizeBytes: number): number | null {
  switch (sizeBytes) {
    case 0:
      return null;
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}
