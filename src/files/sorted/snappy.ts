// Packs pages in Snappy's format. hyparquet-writer's own packer calls a writer for every byte.

const HASH_BITS = 14;
/** Positions by the hash of four bytes; those of an earlier page are behind the beginning of this one. */
const table = new Int32Array(1 << HASH_BITS);
const FARTHEST = 65_535;
/** Bytes at the end that are not searched. */
const MARGIN = 15;
/** After 32 bytes without a match every second one is tried, after 64 every third. */
const SKIP_BITS = 5;

/** Size that packed bytes never pass. */
export function mostPackedBytes(sizeBytes: number): number {
  return 32 + sizeBytes + Math.ceil(sizeBytes / 6);
}

function load(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Packs bytes from `start` to `end`. @returns where the packed ones, written from `at` on, end */
export function packSnappy(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
): number {
  let left = end - start;
  for (; left > 127; left = Math.floor(left / 128)) out[at++] = (left & 127) | 128;
  out[at++] = left;
  table.fill(-1);
  let literal = start;
  let from = start;
  const limit = end - MARGIN;
  let skip = 1 << SKIP_BITS;
  while (from < limit) {
    const four = load(bytes, from);
    const hash = Math.imul(four, 0x1e35a7bd) >>> (32 - HASH_BITS);
    const found = table[hash]!;
    table[hash] = from;
    if (found < start || from - found > FARTHEST || load(bytes, found) !== four) {
      from += skip++ >> SKIP_BITS;
      continue;
    }
    skip = 1 << SKIP_BITS;
    at = addLiteral(bytes, literal, from, out, at);
    let length = 4;
    while (from + length < end && bytes[found + length] === bytes[from + length]) length++;
    at = addCopy(from - found, length, out, at);
    from += length;
    literal = from;
    if (from < limit) table[Math.imul(load(bytes, from - 1), 0x1e35a7bd) >>> (32 - HASH_BITS)] = from - 1;
  }
  return addLiteral(bytes, literal, end, out, at);
}

function addLiteral(bytes: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  const length = end - start;
  if (length === 0) return at;
  const size = length - 1;
  if (size < 60) {
    out[at++] = size << 2;
    for (let from = start; from < end; from++) out[at++] = bytes[from]!;
    return at;
  }
  const sizeBytes = size < 1 << 8 ? 1 : size < 1 << 16 ? 2 : size < 1 << 24 ? 3 : 4;
  out[at++] = (59 + sizeBytes) << 2;
  for (let i = 0; i < sizeBytes; i++) out[at++] = size >>> (8 * i);
  out.set(bytes.subarray(start, end), at);
  return at + length;
}

function addCopy(distance: number, length: number, out: Uint8Array, at: number): number {
  while (length > 0) {
    // A copy has 4 bytes at least, where it is short.
    const part = length < 65 ? length : length < 68 ? 60 : 64;
    if (part >= 4 && part < 12 && distance < 2048) {
      out[at++] = 1 | ((part - 4) << 2) | ((distance >> 8) << 5);
      out[at++] = distance;
    } else {
      out[at++] = 2 | ((part - 1) << 2);
      out[at++] = distance;
      out[at++] = distance >> 8;
    }
    length -= part;
  }
  return at;
}
