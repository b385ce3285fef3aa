// The admin code at the start of a canonical hexcode, with the hyphen after it, to its admin number: one look-up by a
// perfect hash of these three or four bytes.

import { ADMIN_UNITS, adminLetters } from "./admin";

const HYPHEN: u32 = 0x2d;

/** Hash of a prefix → the same bytes (0 for none); and the admin number. */
const BUCKETS: u32 = 256;
export const BUCKET_PREFIXES: usize = memory.data(BUCKETS * 4);
export const BUCKET_ADMINS: usize = memory.data(BUCKETS);
/** The first odd multiplier under which the 34 prefixes have different hashes. */
let multiplier: u32 = 0x9e3779b1;

/** The prefix at the start of a text: four bytes, or three where the third is the hyphen. */
// @ts-ignore: decorator
@inline
export function prefixAt(text: usize): u32 {
  const bytes = load<u32>(text);
  return bytes & ((bytes >> 16 & 255) == HYPHEN ? 0xffffff : 0xffffffff);
}

// @ts-ignore: decorator
@inline
export function bucketOf(prefix: u32): u32 {
  return prefix * multiplier >> 24;
}

function fillBuckets(): bool {
  memory.fill(BUCKET_PREFIXES, 0, BUCKETS * 4);
  for (let admin: u32 = 0; admin < ADMIN_UNITS; admin++) {
    const letters = adminLetters(admin);
    const prefix = letters | HYPHEN << (letters >> 16 ? 24 : 16);
    const bucket = bucketOf(prefix);
    if (load<u32>(BUCKET_PREFIXES + 4 * bucket) != 0) return false;
    store<u32>(BUCKET_PREFIXES + 4 * bucket, prefix);
    store<u8>(BUCKET_ADMINS + bucket, <u8>admin);
  }
  return true;
}
while (!fillBuckets()) multiplier += 2;
