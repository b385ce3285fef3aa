// Unpacks Zstandard of a known size, natively where Node has it (22.15 and later), and never to much more than that
// size; finds the frames of a stream.

import * as zlib from 'node:zlib';
import { decompressZstd } from 'hyparquet-compressors';

type Native = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
/** Node 20 has no Zstandard, and its types do not declare it. */
const native = (zlib as unknown as { zstdDecompressSync?: Native }).zstdDecompressSync;

const FRAME = 0xfd2fb528;
const SKIPPED_FRAME = 0x184d2a50;
const BLOCK_BYTES = 128 * 1024;
/** The largest window that Zstandard's own command accepts by default. */
const MAX_WINDOW_BYTES = 1 << 27;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
/** Kinds of blocks: one byte that is repeated, and one that is packed. */
const RUN = 1;
const COMPRESSED = 2;
/** Flags of a frame: it has no window of its own, and a checksum at its end. */
const SINGLE = 32;
const CHECKSUM = 4;
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/**
 * @param sizeBytes expected size of the content
 * @param maxBytes allowed size
 * @throws Error for broken data, and for data that declares more
 */
export function unpackZstd(bytes: Uint8Array, sizeBytes: number, maxBytes = sizeBytes): Uint8Array {
  if (native !== undefined) return native(bytes, { maxOutputLength: Math.max(1, sizeBytes) });
  requireZstdBelow(bytes, Math.max(sizeBytes, maxBytes));
  return decompressZstd(bytes);
}

/**
 * Reads frames and blocks without unpacking them.
 * @throws Error for data that may unpack to more
 */
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
      const block = blockAt(view, at);
      isLast = block.isLast;
      if (frame.contentBytes === null) add(block.kind === COMPRESSED ? BLOCK_BYTES : block.size);
      at += 3 + block.storedBytes;
    }
    if (frame.hasChecksum) at += 4;
  }
}

/**
 * The frames of a stream of bytes: Node 22 unpacks only the first frame, and no version of Node reports bytes after
 * the last. Skippable frames are omitted.
 */
export class ZstdFrames {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #isCut = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Whether the stream has ended within a frame, which Node 22 does not report. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * Advances to the next frame.
   * @returns false at the end of the stream
   * @throws Error for anything but a frame
   */
  async next(): Promise<boolean> {
    while (!this.#isCut) {
      const start = await this.#taken(4, 0);
      if (start.length < 4) return false;
      const magic = viewOf(start).getUint32(0, true);
      if (magic === FRAME) return true;
      if ((magic & 0xfffffff0) >>> 0 !== SKIPPED_FRAME) throw new Error('no frame begins');
      const size = await this.#taken(4);
      if (!this.#isCut) for await (const _ of this.#passed(viewOf(size).getUint32(0, true)));
    }
    return false;
  }

  /** The bytes of the current frame, to its end. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    const flags = (await this.#taken(1))[0];
    if (flags === undefined) return;
    yield Uint8Array.of(...MAGIC, flags);
    yield* this.#passed(headBytes(flags) - 1);
    for (let isLast = false; !(isLast || this.#isCut); ) {
      const head = await this.#taken(3);
      if (this.#isCut) return;
      yield head;
      const block = blockAt(viewOf(head), 0);
      isLast = block.isLast;
      yield* this.#passed(block.storedBytes);
    }
    if ((flags & CHECKSUM) !== 0) yield* this.#passed(4);
  }

  /** @param least number of bytes that are required */
  async #taken(size: number, least = size): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#passed(size)) pieces.push(piece);
    const taken = Buffer.concat(pieces);
    this.#isCut = taken.length < size && !(taken.length === least);
    return taken;
  }

  /** The next bytes, fewer only at the end of the stream. */
  async *#passed(size: number): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0 && !this.#isCut; ) {
      if (this.#chunk.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) this.#isCut = true;
        else this.#chunk = next.value;
        continue;
      }
      const piece = this.#chunk.subarray(0, left);
      this.#chunk = this.#chunk.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Bytes of the head of a frame after its first four. */
function headBytes(flags: number): number {
  const isSingle = (flags & SINGLE) !== 0;
  return 1 + (isSingle ? 0 : 1) + DICTIONARY_ID_BYTES[flags & 3]! + sizeBytesOf(flags);
}

/** Bytes of the size of the content in the head of a frame. */
const sizeBytesOf = (flags: number): number => [(flags & SINGLE) !== 0 ? 1 : 0, 2, 4, 8][flags >> 6]!;

function blockAt(view: DataView, at: number) {
  const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  const kind = (header >> 1) & 3;
  const size = header >> 3;
  return { isLast: (header & 1) === 1, kind, size, storedBytes: kind === RUN ? 1 : size };
}

interface Frame {
  /** null where the frame does not give it. */
  readonly contentBytes: number | null;
  readonly windowBytes: number;
  readonly hasChecksum: boolean;
  readonly blocksAt: number;
}

function frameAt(view: DataView, start: number): Frame {
  const flags = view.getUint8(start);
  let windowBytes = 0;
  if ((flags & SINGLE) === 0) {
    const window = view.getUint8(start + 1);
    const base = 2 ** (10 + (window >> 3));
    windowBytes = base + (base / 8) * (window & 7);
  }
  const blocksAt = start + headBytes(flags);
  const sizeBytes = sizeBytesOf(flags);
  return {
    contentBytes: contentBytesAt(view, blocksAt - sizeBytes, sizeBytes),
    windowBytes,
    hasChecksum: (flags & CHECKSUM) !== 0,
    blocksAt,
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
