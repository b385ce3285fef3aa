// Characters of JSON, CSV and numbers, as their bytes in ASCII and UTF-8, and escapes of JSON strings.

export const TAB: u32 = 9;
export const LINE_FEED: u32 = 10;
export const CARRIAGE_RETURN: u32 = 13;
export const SPACE: u32 = 32;
export const QUOTE: u32 = 34;
export const PLUS: u32 = 43;
export const COMMA: u32 = 44;
export const MINUS: u32 = 45;
export const POINT: u32 = 46;
export const SLASH: u32 = 47;
export const ZERO: u32 = 48;
export const COLON: u32 = 58;
export const OPEN_BRACKET: u32 = 91;
export const BACKSLASH: u32 = 92;
export const CLOSE_BRACKET: u32 = 93;
export const UNDERSCORE: u32 = 95;
export const LOWER_A: u32 = 97;
export const LOWER_B: u32 = 98;
export const LOWER_E: u32 = 101;
export const LOWER_F: u32 = 102;
export const LOWER_L: u32 = 108;
export const LOWER_N: u32 = 110;
export const LOWER_R: u32 = 114;
export const LOWER_T: u32 = 116;
export const LOWER_U: u32 = 117;
export const OPEN_BRACE: u32 = 123;
export const CLOSE_BRACE: u32 = 125;

/** The value of a hexadecimal digit. */
export function hexDigit(byte: u32): u32 {
  return isDigit(byte) ? byte - ZERO : (byte | LOWER_CASE) - LOWER_A + 10;
}

/** A letter of ASCII or-ed with this is its lower case. */
export const LOWER_CASE: u32 = 32;

// @ts-ignore: decorator
@inline
export function isDigit(byte: u32): bool {
  return byte - ZERO < 10;
}

/** Whether a byte is a letter, a digit or a separator of codes: such bytes need no escapes in CSV and JSON. */
// @ts-ignore: decorator
@inline
export function isCodeByte(byte: u32): bool {
  return (
    isDigit(byte) || (byte | LOWER_CASE) - LOWER_A < 26 || byte == MINUS || byte == SPACE || byte == POINT || byte == UNDERSCORE
  );
}

/** Result of escapedCharacter(): the address after the escape. */
export let escapeEnd: usize = 0;

/** "\\u" as a little-endian u16. */
const ESCAPED_UNIT: u16 = 0x755c;
const REPLACEMENT: u32 = 0xfffd;
const BACKSPACE: u32 = 8;
const FORM_FEED: u32 = 12;

/**
 * The character whose escape goes on at `p` after its backslash, in a text that ends at `end`; U+FFFD for half of a
 * surrogate pair.
 */
export function escapedCharacter(p: usize, end: usize): u32 {
  const kind: u32 = load<u8>(p);
  escapeEnd = p + 1;
  if (kind == LOWER_N) return LINE_FEED;
  if (kind == LOWER_R) return CARRIAGE_RETURN;
  if (kind == LOWER_T) return TAB;
  if (kind == LOWER_B) return BACKSPACE;
  if (kind == LOWER_F) return FORM_FEED;
  if (kind != LOWER_U) return kind;
  const unit = hexUnit(p + 1);
  p += 5;
  escapeEnd = p;
  if ((unit & 0xf800) != 0xd800) return unit;
  const low = p < end && load<u16>(p) == ESCAPED_UNIT ? hexUnit(p + 2) : 0;
  if (unit >= 0xdc00 || (low & 0xfc00) != 0xdc00) return REPLACEMENT;
  escapeEnd = p + 6;
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

/** The number that four hexadecimal digits are. */
function hexUnit(p: usize): u32 {
  return hexDigit(load<u8>(p)) << 12 | hexDigit(load<u8>(p, 1)) << 8 | hexDigit(load<u8>(p, 2)) << 4 | hexDigit(load<u8>(p, 3));
}
