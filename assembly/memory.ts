// The only file that knows addresses and capacities. Everything is laid out at compile time, each area after the one
// before it. After useIndex nothing grows the memory again, so views that are made then never detach.

//   0x00000  static tables of the compiler (H3 constants, digit tables, alphabet)      256 KiB at most, 226 now
//   0x40000  INPUT    CAPACITY × 20 B   points (f64 lat, f64 lng) or records
//   0x54000  OUTPUT   CAPACITY × 20 B   records, cells or positions
//   0x68000  SCRATCH  what the passes over a block hand each other (below)
//   0x78000  TEXT_IN  UTF-16 units of one code, tails, counts; from BLOCK_TEXT on bytes of JSON, NDJSON or CSV
//   0xC0000  TEXT_OUT bytes of answers: text, or records that leave from there
//  0x210000  ROWS     CAPACITY × 32 B   the rows of a block of text (text/row.ts)
//  0x230000  REACH    HEADS × 401 × u64: admin codes that a (head, first pair or none) may carry
//  0x23D000  RESOLUTIONS  one byte a point, for batches of mixed resolutions
//  0x23E000  HOST_ROWS  CAPACITY × u16: rows that the host must read itself
//  0x240000  UNIT_NAMES  64 × 32 B: names of former provinces, for the writers of text
//  0x240800  BANDS    16 × 32 B: shares of right provinces by distance to a border, for the writers of text
//  0x240A00  PIECES   2 × 2 KiB: what is written after a row that is OK, and after one that failed
//  0x241A00  LINE_NAMES  8 × 16 B: members that are added to lines of NDJSON
//  0x241A80  MEMBERS  columns that lines of NDJSON are read into, 32 B each, and their names
//  0x250000  INDEX    the boundary index, copied in once; the loader and useIndex grow the memory for it
//
// test/conformance/kernel/abi.test.ts checks that no two areas overlap.

/** Version of docs/kernel-abi.md that this module keeps to; hosts refuse any other. */
export const ABI_VERSION: u32 = 1;

/** Points per call: INPUT and OUTPUT together stay inside a 256 KiB second-level cache. */
export const CAPACITY: u32 = 4096;

/** Bytes of a text record: canonical code in ASCII, NUL padded, byte 19 = point status. */
export const RECORD_BYTES: u32 = 20;

/** Bytes of a position: f64 latDeg, f64 lngDeg. */
export const POINT_BYTES: u32 = 16;

export const INPUT: usize = 0x40000;
export const OUTPUT: usize = INPUT + CAPACITY * RECORD_BYTES;
export const SCRATCH: usize = OUTPUT + CAPACITY * RECORD_BYTES;
export const SCRATCH_BYTES: u32 = 0x10000;
export const TEXT_IN: usize = SCRATCH + SCRATCH_BYTES;
export const TEXT_IN_BYTES: u32 = 0x48000;
export const TEXT_OUT: usize = TEXT_IN + TEXT_IN_BYTES;
/**
 * The answer to a frame of 65,536 points fits, or those to sixteen of 4,096: the service sends a turn's answers in one
 * write.
 */
export const TEXT_OUT_BYTES: u32 = 0x150000;
/** The upper half of TEXT_OUT: where the fields of scanned rows are (text/scan/scan-csv.ts). */
export const FIELDS_BYTES: u32 = TEXT_OUT_BYTES / 2;
export const FIELDS: usize = TEXT_OUT + TEXT_OUT_BYTES - FIELDS_BYTES;

/**
 * TEXT_IN begins with the UTF-16 units of one code. The ends of answers follow, one for each row status
 * (text/write/statuses.ts).
 */
export const TAILS: usize = TEXT_IN + 256;
export const TAIL_BYTES: u32 = 256;
export const ROW_STATUSES: u32 = 6;
/** u32 for each row status: how many rows were written with it since the host cleared the counts. */
export const STATUS_COUNTS: usize = TAILS + ROW_STATUSES * TAIL_BYTES;
/** u32 for each admin number: OK rows that were counted since the host cleared them. */
export const ADMIN_COUNTS: usize = (STATUS_COUNTS + ROW_STATUSES * 4 + 15) & ~15;
/** Block text, to the end of TEXT_IN. */
export const BLOCK_TEXT: usize = TEXT_IN + 2048;

export const ROWS: usize = TEXT_OUT + TEXT_OUT_BYTES;
export const ROW_BYTES: u32 = 32;

/** Rows of the reach table: 16 heads × (0 = no pair, 1..399 = value of the first pair, 400 unused). */
export const REACH: usize = ROWS + CAPACITY * ROW_BYTES;
export const REACH_ROWS: u32 = 16 * 401;
export const REACH_BYTES: u32 = REACH_ROWS * 8;

/** u8 for each point, read by the batch calls when their resolution is EACH_ITS_OWN. */
export const RESOLUTIONS: usize = (REACH + REACH_BYTES + 0xfff) & ~0xfff;
export const EACH_ITS_OWN: u32 = 255;

/** u16: numbers of the rows that the last scan left to the host, in order. */
export const HOST_ROWS: usize = RESOLUTIONS + CAPACITY;

/** Names of the units, written by the host: u8 size, then UTF-8. The last one, of OUTSIDE, stays empty. */
export const UNIT_NAMES: usize = HOST_ROWS + CAPACITY * 2;
export const UNIT_NAME_BYTES: u32 = 32;

/**
 * Shares by distance to a border, put there by the host: u32 upper bound in metres, ascending, u8 size, the number's
 * text. The last one takes every distance; one of size 0 is unknown.
 */
export const BANDS: usize = UNIT_NAMES + 64 * UNIT_NAME_BYTES;
export const BAND_BYTES: u32 = 32;
export const BAND_COUNT: u32 = 16;

/**
 * Two lists of pieces, put there by the host: writeRows writes the first after a row that is OK, the second after one
 * that failed (text/write/write-rows.ts).
 */
export const PIECES: usize = BANDS + BAND_COUNT * BAND_BYTES;
export const PIECE_LIST_BYTES: u32 = 2048;
/**
 * Names that lines must not have: u64 of the first bytes after the quote, u64 mask of as many as the name has with its
 * closing quote. A mask of 0 ends them.
 */
export const LINE_NAMES: usize = PIECES + 2 * PIECE_LIST_BYTES;
export const LINE_NAME_COUNT: u32 = 8;
/** Columns of a table, put there by the host, and their names after them (text/scan/scan-members.ts). */
export const MEMBERS: usize = LINE_NAMES + LINE_NAME_COUNT * 16;
export const MEMBERS_BYTES: u32 = 0xe000;

/** Starts a page, as the memory grows by pages. */
export const INDEX: usize = (MEMBERS + MEMBERS_BYTES + 0xffff) & ~0xffff;

/** Point statuses, byte 19 of a record; the host's names are in src/hexcodes/kernel/kernel.ts. */
export const OK: u32 = 0;
export const OUTSIDE_COVERAGE: u32 = 1;
export const NOT_A_COORDINATE: u32 = 2;
export const INVALID_HEXCODE: u32 = 3;

// The parts of an answer, from OUTPUT on or from the address that a call was given. The host has the same layout
// in src/hexcodes/kernel/output-layout.ts; test/conformance/kernel/abi.test.ts compares the two.

// A batch of `count`, or one text that was read:
//
//   records     20 bytes each, the status in byte 19 (hexcode/record.ts)
//   cells       u64 cell × count, u8 admin number × count, u8 status × count
//   positions   (f64 latDeg, f64 lngDeg) × count, u8 resolution × count, u8 status × count
//   one text    f64 latDeg, f64 lngDeg, u64 cell, u8 resolution, u8 admin number; the canonical record at byte 32

/** Byte of a record's status. */
export const AT_STATUS: usize = RECORD_BYTES - 1;

export const NO_RESOLUTION: u8 = 255;

// @ts-ignore: decorator
@inline
export function recordAt(records: usize, index: u32): usize {
  return records + <usize>(index * RECORD_BYTES);
}

// @ts-ignore: decorator
@inline
export function adminsOfCells(cells: usize, count: u32): usize {
  return cells + 8 * count;
}

// @ts-ignore: decorator
@inline
export function statusesOfCells(cells: usize, count: u32): usize {
  return adminsOfCells(cells, count) + count;
}

// @ts-ignore: decorator
@inline
export function resolutionsOfPositions(positions: usize, count: u32): usize {
  return positions + POINT_BYTES * count;
}

// @ts-ignore: decorator
@inline
export function statusesOfPositions(positions: usize, count: u32): usize {
  return resolutionsOfPositions(positions, count) + count;
}

/** The parts of an answer of readText after its position. */
export const READ_CELL: usize = OUTPUT + 16;
export const READ_RESOLUTION: usize = OUTPUT + 24;
export const READ_ADMIN: usize = OUTPUT + 25;
/** Only readAscii. */
export const READ_IS_CANONICAL: usize = OUTPUT + 26;
export const READ_RECORD: usize = OUTPUT + 32;

// The map of SCRATCH: the arrays through which the passes over a block of points or records hand each other their
// results. 28 of its 64 KiB are used: later passes use the bytes of arrays that are no longer needed.

// Encoding, BLOCK_POINTS points:
//
//   LATTICE          i32 i, i32 j   the cell at resolution 13 or 15, on face 5       8 bytes a point
//   WORDS            u64            base cell << 45 | fifteen digits                 8
//   ADMIN_NUMBERS    u32            admin number, NO_ADMIN outside                   4
//   then three groups that use the same bytes, one after the other:
//     VECTORS        f64 × 2, × 3   x, y and z of two points each                   24
//     QUOTIENTS_I, _J  f32          quotients by 49 between two look-ups             4, 4
//     LOOKUPS         u32            address, in a table, of the next look-up         4
//     LOWER, MIDDLE, UPPER  u32     digits 12-15, 8-11, 4-7                          4, 4, 4
//     GRID_U … CROSSINGS          locating, see below
//
// Decoding, BLOCK_RECORDS records:
//
//   LATTICE          as above, always at resolution 15
//   TEXTS            8 × u16 lanes, 16 × u8 values, u32 fault, u8 pairs, u8 admin number, u64 sum: 48 bytes a record

/** Points of a block: the arrays of its passes stay in the first-level cache. A multiple of 4. */
export const BLOCK_POINTS: u32 = 512;

export const LATTICE: usize = SCRATCH;
export const WORDS: usize = LATTICE + 8 * BLOCK_POINTS;
export const ADMIN_NUMBERS: usize = WORDS + 8 * BLOCK_POINTS;
export const VECTORS: usize = ADMIN_NUMBERS + 4 * BLOCK_POINTS;
export const QUOTIENTS_I: usize = ADMIN_NUMBERS + 4 * BLOCK_POINTS;
export const QUOTIENTS_J: usize = QUOTIENTS_I + 4 * BLOCK_POINTS;
export const LOOKUPS: usize = QUOTIENTS_J + 4 * BLOCK_POINTS;
export const LOWER: usize = LOOKUPS + 4 * BLOCK_POINTS;
export const MIDDLE: usize = LOWER + 4 * BLOCK_POINTS;
export const UPPER: usize = MIDDLE + 4 * BLOCK_POINTS;

/**
 * Locating (region/locate.ts). For all points: i32 distances from the grid's corner to the west and to the north,
 * u32 addresses of cell and tile. For points in mixed tiles: u32 4 × point. For points whose cells list segments, 16
 * bytes: u64 the cell and the next one, u32 4 × point, u32 that nobody reads.
 */
export const GRID_U: usize = QUOTIENTS_I;
export const GRID_V: usize = QUOTIENTS_J;
export const CELLS: usize = LOOKUPS;
export const TILES: usize = LOWER;
export const MIXED_POINTS: usize = MIDDLE;
export const CROSSINGS: usize = UPPER;

/** Records of a block. */
export const BLOCK_RECORDS: u32 = 256;

export const TEXTS: usize = WORDS;
export const TEXT_BYTES: usize = 48;
export const AT_VALUES: usize = 16;
export const AT_FAULT: usize = 32;
export const AT_PAIRS: usize = 36;
export const AT_ADMIN: usize = 37;
export const AT_SUM: usize = 40;
