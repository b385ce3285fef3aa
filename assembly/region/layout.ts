// The boundary index: the layout of its file, of the segments and the grid in memory, and what useIndex answers.

// The file, format 1, all numbers little-endian:
//
//     0  u32 magic "HXIX"          32  u32 segments         64  u8 × 64  unit → admin number,
//     4  u32 format                36  u32 arcs                          255 where there is no unit
//     8  u32 size of the file      40  u32 offset of arcs  128  meta: JSON, for people and /v1/meta
//    12  u32 CRC-32 of the rest    44  u32 bytes of arcs     …  arcs, to the end of the file
//    16  i32 west, south,          48  u32 offset of meta
//        east, north: the box      52  u32 bytes of meta
//        of all vertices,          56  u32 units, 1..63
//        micro-degrees             60  u32 zero
//
// An arc is a line of segments with the same unit on either side, all numbers but the first two as LEB128:
// u8 left, u8 right, count of segments, first vertex (x − west, y − south), then a zigzag step (dx, dy) per
// segment, all in units of VERTEX_STEP. src/hexcodes/kernel/index-file.ts reads the same bytes for people.

export const MAGIC: u32 = 0x58495848;
export const FORMAT: u32 = 1;
export const HEADER_BYTES: u32 = 128;

export const AT_SIZE: usize = 8;
export const AT_CHECKSUM: usize = 12;
export const AT_BOX: usize = 16;
export const AT_SEGMENTS: usize = 32;
export const AT_ARCS: usize = 36;
export const AT_ARCS_OFFSET: usize = 40;
export const AT_ARCS_BYTES: usize = 44;
export const AT_META_OFFSET: usize = 48;
export const AT_META_BYTES: usize = 52;
export const AT_UNITS: usize = 56;
export const AT_ZERO: usize = 60;
export const AT_ADMINS: usize = 64;

/** Unit of every point that no unit holds; units are 0..62. */
export const OUTSIDE: u32 = 63;
/** Micro-degrees between neighbouring positions of a vertex. */
export const VERTEX_STEP: i32 = 10;
/** Width and height of the box lie below it: products in the crossing test then stay below 2^50. */
export const SIDE_LIMIT: i64 = 1 << 25;

// A segment in memory, 16 bytes, always from south to north (level ones never count and are dropped):
//
//     0  i32 u0     micro-degrees west of the box's east side at its southern end
//     4  u32 v0     micro-degrees north of the box's south side
//     8  i32 du     to its northern end
//    12  u32 dv << 6 | left ^ right
export const SEGMENT_BYTES: usize = 16;
export const EFFECT_BITS: u32 = 6;
export const EFFECT_MASK: u32 = 63;

/**
 * Cells of the grid are squares of 2^CELL_BITS micro-degrees. Measured on the shipped map one point after the other,
 * least of 25 rounds of 262,144 points, ns a point with 2^14 | 2^15: land 12.4 | 11.6, cities 6.6 | 8.4, 200 m around
 * vertices 43 | 48, box of map and zones 31 | 17; memory 5.0 | 1.9 MiB. 2^13 takes 16 MiB and is no faster. A table of
 * larger squares before the cells took 13.0 over land there, since the second look-up waits for the first; it pays in
 * passes over a block of points (locateBlock).
 */
export const CELL_BITS: u32 = 14;

/** Tiles are squares of 2^TILE_BITS cells; most of the map is tiles of one unit, and those fit a cache. */
export const TILE_BITS: u32 = 2;
/** Instead of a tile's unit: its cells differ, or one of them lists segments. */
export const MIXED: u32 = 64;

/** Number of tiles over `cells` rows or columns of cells. */
// @ts-ignore: decorator
@inline
export function tilesOf(cells: u32): u32 {
  return (cells + ((1 << TILE_BITS) - 1)) >> TILE_BITS;
}

/** The answers of useIndex; src/hexcodes/kernel/index-file.ts has the words for them. */
export const ACCEPTED: u32 = 0;
export const REFUSED_SIZE: u32 = 1;
export const REFUSED_MAGIC: u32 = 2;
export const REFUSED_FORMAT: u32 = 3;
export const REFUSED_CHECKSUM: u32 = 4;
export const REFUSED_HEADER: u32 = 5;
export const REFUSED_ARCS: u32 = 6;
export const REFUSED_OPEN: u32 = 7;
export const REFUSED_MEMORY: u32 = 8;

/** The most memory that an index may take, file and grid together. */
export const MEMORY_LIMIT: u32 = 64 << 20;
