// The grid in use: where its tables lie and which part of the map it covers. load.ts and grid.ts fill it; locate.ts and
// locate-block.ts read it.

import { INDEX } from "../memory";
import { MEMORY_LIMIT } from "./layout";

/** The south-east corner of the box, micro-degrees. */
export let east: i32 = 0;
export let south: i32 = 0;
/** Cells of the grid to the west and to the north; no columns: no grid, and every point is outside. */
export let columns: u32 = 0;
export let rows: u32 = 0;
/** Addresses: u32 of each cell, records of 16 bytes, u8 of each tile (grid.ts). */
export let cells: usize = 0;
export let records: usize = 0;
export let tiles: usize = 0;

/** Takes a finished grid into use. */
export function useGrid(
  eastMicro: i32, southMicro: i32, columnCount: u32, rowCount: u32, cellsAt: usize, recordsAt: usize,
  tilesAt: usize,
): void {
  east = eastMicro;
  south = southMicro;
  columns = columnCount;
  rows = rowCount;
  cells = cellsAt;
  records = recordsAt;
  tiles = tilesAt;
}

/** Leaves the kernel without a grid. */
export function dropGrid(): void {
  useGrid(0, 0, 0, 0, 0, 0, 0);
}

/** Grows the memory up to an address; false where the index would take more than `limit` or the host gives no more. */
export function reserve(end: usize, limit: u32 = MEMORY_LIMIT): bool {
  if (end - INDEX > limit) return false;
  const pages = <i32>((end + 0xffff) >> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}
