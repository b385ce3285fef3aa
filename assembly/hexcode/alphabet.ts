// The twenty symbols of a payload: no vowels, no look-alikes, in ascending ASCII (docs/code-format.md, Canonical text);
// and the check symbol.

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

// The check symbol, in the ring GF(4) × Z/5 (20 = 4 × 5): Horner's rule from the left over admin letters, head and
// pairs with g = (α, 2) (docs/code-format.md, Write, 5). A value v stands for (v mod 4, v mod 5).

/** STEP[state × 32 + value]: state · g + value, for states and values 0 to 19. */
const STEP: usize = memory.data(20 * 32);
/** CLOSING[state]: the value c with state · g + c = 0. */
const CLOSING: usize = memory.data(20);

/** α · 0..3 in GF(4) written 0..3 is 0, 2, 3, 1. */
function timesAlpha(x: i32): i32 {
  return x == 0 ? 0 : x == 3 ? 1 : x + 1;
}

/** The value 0 to 19 that is x in GF(4) and y in Z/5. */
function valueFrom(x: i32, y: i32): i32 {
  return (5 * x + 16 * y) % 20;
}

for (let state = 0; state < 20; state++) {
  const x = timesAlpha(state & 3);
  const y = state % 5 * 2;
  // in GF(4) every element is its own negative
  store<u8>(CLOSING + state, <u8>valueFrom(x, (10 - y) % 5));
  for (let value = 0; value < 20; value++) {
    store<u8>(STEP + state * 32 + value, <u8>valueFrom(x ^ (value & 3), (y + value) % 5));
  }
}

/** The state after one more value 0 to 19; the first state is 0. */
// @ts-ignore: decorator
@inline
export function checkStep(state: u32, value: u32): u32 {
  return load<u8>(STEP + state * 32 + value);
}

/** The state after one more letter A-Z, which counts as its index mod 20. */
// @ts-ignore: decorator
@inline
export function checkLetter(state: u32, letter: u32): u32 {
  const value = letter - 0x41;
  return checkStep(state, value >= 20 ? value - 20 : value);
}

/** The value of the check symbol that closes a state. */
// @ts-ignore: decorator
@inline
export function checkOf(state: u32): u32 {
  return load<u8>(CLOSING + state);
}
