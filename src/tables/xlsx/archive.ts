// The parts of a ZIP archive, found by the directory at its end, read by ranges and unpacked in pieces: a part may
// unpack to any size.

import { Inflate } from 'fflate';
import { TableError } from '../table-error.js';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 65_535;
/** Stands for a size or an offset that is in the longer fields of ZIP64, which some exporters write for every size. */
const IN_ZIP64 = 0xffff_ffff;
const ZIP64 = 1;
const STORED = 0;
const DEFLATED = 8;
/** Packed bytes at once: each may become a thousand, and texts of larger pieces outlive the young generation of V8. */
const PIECE_BYTES = 4096;

/** A part beyond 256 MiB that unpacks to more than 200 times its size is not a table: tables pack to a tenth. */
const SURE_BYTES = 256 * 2 ** 20;
const MAX_PACKING = 200;

/** The bytes of an archive: an array of them is one, and so is a file that is read where it is requested. */
export interface Bytes {
  readonly length: number;
  /** Bytes from an offset up to another; fewer where the archive ends. They are valid until the next call. */
  subarray(start: number, end: number): Uint8Array;
}

export interface Part {
  readonly name: string;
  readonly method: number;
  readonly archive: Bytes;
  /** Where its packed bytes are. */
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
}

/**
 * The content of a part in pieces.
 * @throws TableError where the part is not as large as it says; no more of it is unpacked
 */
export function* piecesOf({ name, method, archive, start, end, sizeBytes }: Part): Generator<Uint8Array> {
  const packedBytes = end - start;
  if (method === STORED) {
    if (packedBytes !== sizeBytes) throw new TableError(`${name} has another size than it says`);
    for (let at = start; at < end; at += PIECE_BYTES)
      yield archive.subarray(at, Math.min(end, at + PIECE_BYTES));
    return;
  }
  if (method !== DEFLATED) throw new TableError(`${name} is packed in a way that is not read`);
  if (sizeBytes > SURE_BYTES && sizeBytes > MAX_PACKING * packedBytes)
    throw new TableError(`${name} unpacks to ${Math.round(sizeBytes / packedBytes)} times its size`);
  let pieces: Uint8Array[] = [];
  let size = 0;
  const inflate = new Inflate((piece) => {
    size += piece.length;
    if (size > sizeBytes) throw new Error('too large');
    pieces.push(piece);
  });
  for (let at = start; at < end; at += PIECE_BYTES) {
    const packed = archive.subarray(at, Math.min(end, at + PIECE_BYTES));
    try {
      inflate.push(packed, at + PIECE_BYTES >= end);
    } catch (error) {
      throw new TableError(`${name} is broken, or larger than it says`, undefined, { cause: error });
    }
    yield* pieces;
    pieces = [];
  }
  if (size !== sizeBytes) throw new TableError(`${name} has another size than it says`);
}

/**
 * The parts by the directory at the archive's end.
 * @throws TableError for an archive that is broken
 */
export function partsOf(archive: Bytes): Part[] {
  try {
    return listedIn(archive);
  } catch (error) {
    // An offset beyond the end.
    if (error instanceof RangeError) throw new TableError('the directory of the archive is broken');
    throw error;
  }
}

function listedIn(archive: Bytes): Part[] {
  const tailStart = Math.max(0, archive.length - END_BYTES - MAX_COMMENT_BYTES);
  const tail = viewOf(archive, tailStart, archive.length);
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== END) end--;
  if (end < 0) throw new TableError('the archive has no directory');
  const parts: Part[] = [];
  const directory = viewOf(archive, tail.getUint32(end + 16, true), tailStart + end);
  let at = 0;
  for (let left = tail.getUint16(end + 10, true); left > 0; left--) {
    if (directory.getUint32(at, true) !== ENTRY)
      throw new TableError('the directory of the archive is broken');
    const nameBytes = directory.getUint16(at + 28, true);
    const extra = at + ENTRY_BYTES + nameBytes;
    const extraBytes = directory.getUint16(at + 30, true);
    const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + ENTRY_BYTES, nameBytes));
    const { sizeBytes, packedBytes, local } = sizesOf(directory, at, extra, extra + extraBytes);
    const header = viewOf(archive, local, local + LOCAL_BYTES);
    if (header.getUint32(0, true) !== LOCAL) throw new TableError('the directory of the archive is broken');
    const start = local + LOCAL_BYTES + header.getUint16(26, true) + header.getUint16(28, true);
    if (start + packedBytes > archive.length) throw new TableError(`${name} is cut off`);
    parts.push({
      name,
      method: directory.getUint16(at + 10, true),
      archive,
      start,
      end: start + packedBytes,
      sizeBytes,
    });
    at = extra + extraBytes + directory.getUint16(at + 32, true);
  }
  return parts;
}

/** A copy of bytes, which holds. */
function viewOf(archive: Bytes, start: number, end: number): DataView<ArrayBuffer> {
  return new DataView(new Uint8Array(archive.subarray(start, Math.max(start, end))).buffer);
}

/** Sizes and offset of a part: values that do not fit are in an extra field, in this order. */
function sizesOf(
  view: DataView,
  entry: number,
  extra: number,
  extraEnd: number,
): Pick<Part, 'sizeBytes'> & { packedBytes: number; local: number } {
  let at = extra;
  while (at + 4 <= extraEnd && view.getUint16(at, true) !== ZIP64) at += 4 + view.getUint16(at + 2, true);
  at += 4;
  const value = (short: number): number => {
    if (short !== IN_ZIP64 || at + 8 > extraEnd) return short;
    const long = Number(view.getBigUint64(at, true));
    at += 8;
    return long;
  };
  const sizeBytes = value(view.getUint32(entry + 24, true));
  const packedBytes = value(view.getUint32(entry + 20, true));
  return { sizeBytes, packedBytes, local: value(view.getUint32(entry + 42, true)) };
}
