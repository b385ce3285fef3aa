// Names of JSON members with the characters around them, as little-endian words: compared at once with loaded bytes.

export const KEY_LAT: u32 = 0x2274616c; // lat"
export const KEY_LNG: u32 = 0x22676e6c; // lng"
export const FIVE_BYTES: u64 = 0xffffffffff;
export const SEVEN_BYTES: u64 = 0xffffffffffffff;
export const SIX_BYTES: u64 = 0xffffffffffff;
export const ID_FIRST: u64 = 0x3a226469227b; // {"id":
export const ID_NEXT: u64 = 0x3a226469222c; // ,"id":
export const LAT_NEXT: u64 = 0x3a2274616c222c; // ,"lat":
export const LAT_FIRST: u64 = 0x3a2274616c227b; // {"lat":
export const LAT_MEMBER: u64 = 0x3a2274616c; // lat":
export const LNG_NEXT: u64 = 0x3a22676e6c222c; // ,"lng":
export const KEY_ID: u32 = 0x00226469; // id"
export const KEY_HEXCODES: u64 = 0x7365646f63786568; // hexcodes
export const KEY_RESO: u32 = 0x6f736572; // reso
export const KEY_SOLUTION: u64 = 0x6e6f6974756c6f73; // solution
