// Characters of JSON, CSV and numbers, as their bytes in ASCII and UTF-8.

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
