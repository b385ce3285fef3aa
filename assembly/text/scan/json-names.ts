// Names of JSON members with the characters around them, as little-endian words: compared at once with loaded bytes.

import { BACKSLASH, hexDigit, LOWER_A, LOWER_CASE, LOWER_U, QUOTE, SPACE } from "../chars";

export const SEVEN_BYTES: u64 = 0xffffffffffffff;
export const SIX_BYTES: u64 = 0xffffffffffff;
export const ID_FIRST: u64 = 0x3a226469227b; // {"id":
export const ID_NEXT: u64 = 0x3a226469222c; // ,"id":
export const LAT_NEXT: u64 = 0x3a2274616c222c; // ,"lat":
export const LAT_FIRST: u64 = 0x3a2274616c227b; // {"lat":
export const LNG_NEXT: u64 = 0x3a22676e6c222c; // ,"lng":
/** Member names as json.dumps writes them, with a blank before the name. */
export const ID_AFTER_BLANK: u64 = 0x3a22646922202c; // , "id":
export const LAT_AFTER_BLANK: u64 = 0x3a2274616c22202c; // , "lat":
export const LNG_AFTER_BLANK: u64 = 0x3a22676e6c22202c; // , "lng":

const KEY_LAT: u32 = 0x2274616c; // lat"
const KEY_LNG: u32 = 0x22676e6c; // lng"
const KEY_LON: u32 = 0x226e6f6c; // lon"
const KEY_ID: u32 = 0x00226469; // id"
const KEY_LATITUDE: u64 = 0x656475746974616c; // latitude
const KEY_LONGITUD: u64 = 0x64757469676e6f6c; // longitud
const KEY_E: u16 = 0x2265; // e"
const KEY_HEXCODES: u64 = 0x7365646f63786568; // hexcodes
const KEY_RESOLUTI: u64 = 0x6974756c6f736572; // resoluti
const KEY_ON: u32 = 0x00226e6f; // on"
const THREE_BYTES: u32 = 0xffffff;

/** The members of an item, by their names: bits. Every other name is OTHER. */
export const OTHER: u32 = 0;
/** Also `latitude`. */
export const LAT_NAME: u32 = 1;
/** Also `longitude` and `lon`. */
export const LNG_NAME: u32 = 2;
export const ID_NAME: u32 = 4;
export const RESOLUTION_NAME: u32 = 8;
export const HEXCODES_NAME: u32 = 64;

/** `ns` and `ew`, refused together; a name that may say a hemisphere by itself is both: see hemisphereFault. */
const LAT_SIDE: u32 = 128;
const LNG_SIDE: u32 = 256;
export const SIDE_NAMES: u32 = LAT_SIDE | LNG_SIDE;
const LETTERS_CASE: u32 = 0x20202020;
const START_LAT: u32 = 0x74616c; // lat
const START_LNG: u32 = 0x676e6c; // lng
const START_LON: u32 = 0x6e6f6c; // lon
const START_GPS: u32 = 0x737067; // gps
const START_NORT: u32 = 0x74726f6e; // nort
const START_EAST: u32 = 0x74736165; // east
/** The last letters of north_south and east_west, and of direction, hemi, indicator and the like. */
const END_UTH: u32 = 0x687475; // uth
const END_EST: u32 = 0x747365; // est
const END_DIR: u32 = 0x726964; // dir
const END_ION: u32 = 0x6e6f69; // ion
const END_HEM: u32 = 0x6d6568; // hem
const END_EMI: u32 = 0x696d65; // emi
const END_ERE: u32 = 0x657265; // ere
const END_REF: u32 = 0x666572; // ref
const END_NCE: u32 = 0x65636e; // nce
const END_IGN: u32 = 0x6e6769; // ign
const END_TOR: u32 = 0x726f74; // tor
const END_ANT: u32 = 0x746e61; // ant
const END_NAL: u32 = 0x6c616e; // nal

/** Bytes of the longest of these names. */
const MAX_NAME_BYTES: u32 = 10;
/** An unescaped name and its quote; what is loaded after it is zero. */
const UNESCAPED: usize = memory.data(32, 16);

/** The member whose name, up to its closing quote, is at `p`. */
// @ts-ignore: decorator
@inline
export function memberAt(p: usize): u32 {
  const eight = load<u64>(p);
  const four = <u32>eight;
  if (four == KEY_LAT) return LAT_NAME;
  if (four == KEY_LNG) return LNG_NAME;
  if ((four & THREE_BYTES) == KEY_ID) return ID_NAME;
  if (four == KEY_LON) return LNG_NAME;
  if (eight == KEY_LATITUDE) return load<u8>(p, 8) == QUOTE ? LAT_NAME : OTHER;
  if (eight == KEY_LONGITUD) return load<u16>(p, 8) == KEY_E ? LNG_NAME : OTHER;
  if (eight == KEY_RESOLUTI) return (load<u32>(p, 8) & THREE_BYTES) == KEY_ON ? RESOLUTION_NAME : OTHER;
  if (eight == KEY_HEXCODES) return load<u8>(p, 8) == QUOTE ? HEXCODES_NAME : OTHER;
  return OTHER;
}

/** A name with valid escapes may stand for any name. */
export function escapedMemberAt(p: usize): u32 {
  memory.fill(UNESCAPED, 0, 32);
  for (let size: u32 = 0; size <= MAX_NAME_BYTES; size++, p++) {
    let byte: u32 = load<u8>(p);
    if (byte == QUOTE) {
      store<u8>(UNESCAPED + <usize>size, <u8>QUOTE);
      return memberAt(UNESCAPED);
    }
    if (byte == BACKSLASH) {
      // No name has a character of the short escapes.
      if (load<u8>(p, 1) != LOWER_U || load<u16>(p, 2) != 0x3030) return OTHER;
      byte = hexDigit(load<u8>(p, 4)) << 4 | hexDigit(load<u8>(p, 5));
      p += 5;
    }
    // All are lower-case letters.
    if (byte - LOWER_A > 25) return OTHER;
    store<u8>(UNESCAPED + <usize>size, <u8>byte);
  }
  return OTHER;
}

/** The sides that an unknown name from `p` to its closing quote at `end` may be of. */
// @ts-ignore: decorator
@inline
export function sidesAt(p: usize, end: usize, hasEscapes: bool): u32 {
  const first = <u32>load<u8>(p) | LOWER_CASE;
  // n, e, l and g with a letter that may follow, an escape, or a blank: also that of two bytes, and those of three
  const second = <u32>load<u8>(p, 1) | LOWER_CASE;
  const isLetter = second - LOWER_A < 26;
  const isSide = first == 0x6e ? !isLetter || second == 0x73 || second == 0x6f
    : first == 0x65 ? !isLetter || second == 0x77 || second == 0x61
    : first == 0x6c ? second == 0x61 || second == 0x6f || second == 0x6e
    : first == 0x67 && second == 0x70;
  if (!isSide && !hasEscapes && first != SPACE && first != 0xe2 && first != 0xef) return OTHER;
  return sidesOf(p, end, hasEscapes);
}

function sidesOf(p: usize, end: usize, hasEscapes: bool): u32 {
  if (hasEscapes && hasPlainEscape(p, end)) return SIDE_NAMES;
  const first: u32 = load<u8>(p);
  if (first == SPACE || first == 0xc2 || first == 0xe2 || first == 0xef || load<u16>(end - 2) == 0xa0c2) return SIDE_NAMES;
  while (end > p && load<u8>(end - 1) == SPACE) end--;
  const four = load<u32>(p) | LETTERS_CASE;
  const last: u32 = <u32>load<u8>(end - 1) | LOWER_CASE;
  if (end - p <= 3) {
    // ns, n_s, ew, e_w
    if ((four & 0xff) == 0x6e && last == 0x73) return LAT_SIDE;
    return (four & 0xff) == 0x65 && last == 0x77 ? LNG_SIDE : OTHER;
  }
  const end3 = load<u32>(end - 4) >>> 8 | (LETTERS_CASE >>> 8);
  if (four == START_NORT) return end3 == END_UTH ? SIDE_NAMES : OTHER;
  if (four == START_EAST) return end3 == END_EST ? SIDE_NAMES : OTHER;
  if (!isSideEnd(end3)) return OTHER;
  // ns_indicator, n/s indicator, ew_dir, e_w_sign
  const two = four & 0xffff;
  const apart = four & 0xff00ff;
  if (two == 0x736e || apart == 0x73006e || two == 0x7765 || apart == 0x770065) return SIDE_NAMES;
  const three = four & THREE_BYTES;
  return three == START_LAT || three == START_LNG || three == START_LON || three == START_GPS ? SIDE_NAMES : OTHER;
}

/** Whether three letters end a name of a side: ns and ew, or one of the words of SIDE in names.ts of the library. */
function isSideEnd(end3: u32): bool {
  const end2 = end3 >>> 8;
  if (end2 == 0x736e || end2 == 0x7765) return true;
  return end3 == END_DIR || end3 == END_ION || end3 == END_HEM || end3 == END_EMI || end3 == END_ERE || end3 == END_REF
    || end3 == END_NCE || end3 == END_IGN || end3 == END_TOR || end3 == END_ANT || end3 == END_NAL;
}

/** Whether a name has an escape of a character of ASCII: `n\/s`, `\u006es`. */
function hasPlainEscape(p: usize, end: usize): bool {
  for (; p < end; p++) {
    if (load<u8>(p) != BACKSLASH) continue;
    p++;
    if (load<u8>(p) != LOWER_U || (load<u16>(p, 1) == 0x3030 && load<u8>(p, 3) < 0x38)) return true;
  }
  return false;
}
