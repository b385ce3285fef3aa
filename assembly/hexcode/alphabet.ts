// The twenty symbols of a payload: no vowels, no look-alikes, in ascending ASCII (docs/code-format.md, Canonical text).

/** Value 0 to 19 → symbol. */
export const SYMBOLS: usize = memory.data<u8>([
  0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, // 2-9
  0x43, 0x46, 0x47, 0x48, 0x4a, 0x4b, 0x4d, 0x50, 0x51, 0x52, 0x56, 0x58, // C F G H J K M P Q R V X
]);

export const NO_VALUE: u32 = 255;

/** Character code below 128 → value 0 to 19, or NO_VALUE. */
const VALUES: usize = memory.data(128);

memory.fill(VALUES, <u8>NO_VALUE, 128);
for (let v = 0; v < 20; v++) store<u8>(VALUES + load<u8>(SYMBOLS + v), <u8>v);

// @ts-ignore: decorator
@inline
export function symbolOf(value: u32): u32 {
  return load<u8>(SYMBOLS + value);
}

/** Symbol values by character code, below 128. */
// @ts-ignore: decorator
@inline
export function valueOf(character: u32): u32 {
  return load<u8>(VALUES + character);
}
