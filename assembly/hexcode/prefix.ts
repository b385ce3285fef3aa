// The admin code at the start of a canonical hexcode, with the hyphen behind it, to its admin number: one look-up by a
// perfect hash of these three or four bytes.

import { ADMIN_UNITS, adminLetters } from "./admin";

const HYPHEN: u32 = 0x2d;

/** Hash of a prefix → the same bytes (0 for none); and the admin number. */
const SLOTS: u32 = 256;
export const SLOT_PREFIXES: usize = memory.data(SLOTS * 4);
export const SLOT_ADMINS: usize = memory.data(SLOTS);
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
export function slotOf(prefix: u32): u32 {
  return prefix * multiplier >> 24;
}

function fillSlots(): bool {
  memory.fill(SLOT_PREFIXES, 0, SLOTS * 4);
  for (let admin: u32 = 0; admin < ADMIN_UNITS; admin++) {
    const letters = adminLetters(admin);
    const prefix = letters | HYPHEN << (letters >> 16 ? 24 : 16);
    const slot = slotOf(prefix);
    if (load<u32>(SLOT_PREFIXES + 4 * slot) != 0) return false;
    store<u32>(SLOT_PREFIXES + 4 * slot, prefix);
    store<u8>(SLOT_ADMINS + slot, <u8>admin);
  }
  return true;
}
while (!fillSlots()) multiplier += 2;
