// The 34 admin codes, in the order of src/hexcodes/admin-units.ts. An admin number is an index in this table, counted
// from 0. Codes of two letters are looked up by both letters, codes of three letters by all three.

export const ADMIN_UNITS: u32 = 34;
export const NO_ADMIN: u32 = 255;

/** Four bytes a code: two or three letters, NULs. */
const CODES: usize = memory.data<u8>([
  0x54, 0x51, 0, 0, // TQ
  0x43, 0x42, 0, 0, // CB
  0x4c, 0x43, 0x55, 0, // LCU
  0x4c, 0x43, 0x49, 0, // LCI
  0x54, 0x4e, 0, 0, // TN
  0x44, 0x42, 0, 0, // DB
  0x4c, 0x53, 0, 0, // LS
  0x53, 0x4c, 0, 0, // SL
  0x50, 0x54, 0, 0, // PT
  0x42, 0x4e, 0, 0, // BN
  0x51, 0x4e, 0x48, 0, // QNH
  0x48, 0x4e, 0, 0, // HN
  0x48, 0x50, 0, 0, // HP
  0x48, 0x59, 0, 0, // HY
  0x4e, 0x42, 0, 0, // NB
  0x54, 0x48, 0, 0, // TH
  0x4e, 0x41, 0, 0, // NA
  0x48, 0x54, 0, 0, // HT
  0x51, 0x54, 0, 0, // QT
  0x48, 0x55, 0x45, 0, // HUE
  0x44, 0x4e, 0x47, 0, // DNG
  0x51, 0x4e, 0x47, 0, // QNG
  0x47, 0x4c, 0, 0, // GL
  0x44, 0x4c, 0x4b, 0, // DLK
  0x4b, 0x48, 0, 0, // KH
  0x4c, 0x44, 0, 0, // LD
  0x44, 0x4e, 0, 0, // DN
  0x54, 0x4e, 0x48, 0, // TNH
  0x48, 0x43, 0x4d, 0, // HCM
  0x44, 0x54, 0, 0, // DT
  0x41, 0x47, 0, 0, // AG
  0x56, 0x4c, 0, 0, // VL
  0x43, 0x54, 0, 0, // CT
  0x43, 0x4d, 0, 0, // CM
]);

/** (first letter - A) × 26 + second letter - A → admin number of the code of two letters, or NO_ADMIN. */
const TWO: usize = memory.data(26 * 26);
/** (the same) × 26 + third letter - A → admin number of the code of three letters, or NO_ADMIN. */
const THREE: usize = memory.data(26 * 26 * 26);

memory.fill(TWO, <u8>NO_ADMIN, 26 * 26);
memory.fill(THREE, <u8>NO_ADMIN, 26 * 26 * 26);
for (let a: u32 = 0; a < ADMIN_UNITS; a++) {
  const code = CODES + 4 * a;
  const two = (<u32>load<u8>(code) - 0x41) * 26 + load<u8>(code, 1) - 0x41;
  const third: u32 = load<u8>(code, 2);
  if (third == 0) store<u8>(TWO + two, <u8>a);
  else store<u8>(THREE + two * 26 + third - 0x41, <u8>a);
}

/** The letters of an admin number below 34: first in the low byte, the third byte 0 for two letters. */
// @ts-ignore: decorator
@inline
export function adminLetters(admin: u32): u32 {
  return load<u32>(CODES + 4 * admin);
}

/** The admin number of `count` (2 or 3) characters A-Z or 2-9 at `text`, or NO_ADMIN. */
export function adminAt(text: usize, count: u32): u32 {
  const a: u32 = <u32>load<u8>(text) - 0x41;
  const b: u32 = <u32>load<u8>(text, 1) - 0x41;
  if (a > 25 || b > 25) return NO_ADMIN;
  if (count == 2) return load<u8>(TWO + a * 26 + b);
  const c: u32 = <u32>load<u8>(text, 2) - 0x41;
  return c > 25 ? NO_ADMIN : load<u8>(THREE + (a * 26 + b) * 26 + c);
}

// The admin code at the start of a canonical hexcode, with the hyphen after it, to its admin number: one look-up by a
// perfect hash of these three or four bytes.

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
