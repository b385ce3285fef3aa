// Pieces of JSON bodies as bytes, padded to whole vectors so that they are copied without a loop.

import { QUOTE, ZERO } from "../chars";

/** {"hexcodes":" */
export const HEXCODES_HEAD: usize = memory.data<u8>([
  123, 34, 104, 101, 120, 99, 111, 100, 101, 115, 34, 58, 34, 0, 0, 0,
], 16);

/** ","lat": as eight bytes. */
export const LAT_AFTER_TEXT: u64 = 0x3a2274616c222c22;

/** {"hexcodes":null,"lat": */
export const HEXCODES_NULL: usize = memory.data<u8>([
  123, 34, 104, 101, 120, 99, 111, 100, 101, 115, 34, 58, 110, 117, 108, 108,
  44, 34, 108, 97, 116, 34, 58, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** ,"lng": as seven bytes and a NUL that the number overwrites. */
export const LNG_MEMBER: u64 = 0x003a22676e6c222c;

/** ,"resolution": */
export const RESOLUTION: usize = memory.data<u8>([
  44, 34, 114, 101, 115, 111, 108, 117, 116, 105, 111, 110, 34, 58, 0, 0,
], 16);

/** ,"admin_code": */
export const ADMIN_CODE: usize = memory.data<u8>([
  44, 34, 97, 100, 109, 105, 110, 95, 99, 111, 100, 101, 34, 58, 0, 0,
], 16);

/** ","former_province":" of FORMER_BYTES, or without its first and last byte and before null */
export const FORMER: usize = memory.data<u8>([
  34, 44, 34, 102, 111, 114, 109, 101, 114, 95, 112, 114, 111, 118, 105, 110,
  99, 101, 34, 58, 34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);
export const FORMER_BYTES: usize = 21;

/** ","border_m": of BORDER_BYTES */
export const BORDER: usize = memory.data<u8>([
  34, 44, 34, 98, 111, 114, 100, 101, 114, 95, 109, 34, 58, 0, 0, 0, 0,
], 16);
export const BORDER_BYTES: usize = 13;

/** ,"certainty": of CERTAINTY_BYTES */
export const CERTAINTY: usize = memory.data<u8>([
  44, 34, 99, 101, 114, 116, 97, 105, 110, 116, 121, 34, 58, 0, 0, 0,
], 16);
export const CERTAINTY_BYTES: usize = 13;

/** ","status":"OK"} */
export const OK_END: usize = memory.data<u8>([
  34, 44, 34, 115, 116, 97, 116, 117, 115, 34, 58, 34, 79, 75, 34, 125, 0,
], 16);

/** null */
export const NULL: usize = memory.data<u8>([
  110, 117, 108, 108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** {"lat": */
export const LAT_HEAD: usize = memory.data<u8>([
  123, 34, 108, 97, 116, 34, 58, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** null,"lng":null,"resolution":null */
export const NULLS: usize = memory.data<u8>([
  110, 117, 108, 108, 44, 34, 108, 110, 103, 34, 58, 110, 117, 108, 108, 44,
  34, 114, 101, 115, 111, 108, 117, 116, 105, 111, 110, 34, 58, 110, 117, 108,
  108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** ,"hexcodes": */
export const HEXCODES: usize = memory.data<u8>([
  44, 34, 104, 101, 120, 99, 111, 100, 101, 115, 34, 58, 0, 0, 0, 0,
], 16);

/** ,"id": */
export const ID: usize = memory.data<u8>([
  44, 34, 105, 100, 34, 58, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
], 16);

/** Resolution × 32 → ,"resolution":…,"admin_code":" of MIDDLE_BYTES, or one more from resolution 10 on. */
export const MIDDLES: usize = memory.data(16 * 32, 16);
export const MIDDLE_BYTES: usize = 30;

for (let resolution: usize = 0; resolution < 16; resolution++) {
  let p = MIDDLES + (resolution << 5);
  memory.copy(p, RESOLUTION, 14);
  p += 14;
  if (resolution > 9) store<u8>(p++, <u8>ZERO + 1);
  store<u8>(p, <u8>(ZERO + <u32>(resolution % 10)));
  memory.copy(p + 1, ADMIN_CODE, 14);
  store<u8>(p + 15, <u8>QUOTE);
}
