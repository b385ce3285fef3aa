// The ABI of the kernel: every export. ARCHITECTURE.md tells what each call reads and writes, memory.ts draws where.
// Nothing throws and nothing is imported; a bad point is a status.

import { REACH_ROWS, REACH } from "./memory";
import { carefulCellAt, inDomain, MAX_RESOLUTION } from "./h3/cell";
import { ADMIN_UNITS } from "./hexcode/admin";

export { CAPACITY, RECORD_BYTES, INPUT, OUTPUT, TEXT_IN, TEXT_IN_BYTES, TEXT_OUT, TEXT_OUT_BYTES, REACH, REACH_BYTES, RESOLUTIONS, INDEX } from "./memory";
export { encodeBatch, encodeBatchTo, encodeCells, encodeCellsTo, encodeOne } from "./encode";
export { centerOf, decodeBatch, decodeBatchTo, pack, readText } from "./decode";
export { locateBatch, regionOf, unitOf, useIndex } from "./region/locate";
export { BLOCK_TEXT, HOST_ROWS, ROW_BYTES, ROWS, SCRATCH, SCRATCH_BYTES, STATUS_COUNTS, TAIL_BYTES, TAILS } from "./memory";
export { setTextEnd, textEnd } from "./text/write";
export { writeDecodedCsv, writeEncodedCsv } from "./text/write-csv";
export { writeDecodedJson, writeEncodedJson } from "./text/write-json";
export { csvEnd, scanCsv, useCsvColumns } from "./text/csv";
export { jsonEnd, jsonState, scanArray, scanNdjson } from "./text/json";
export { hostRowCount } from "./text/host-rows";
export { numberEnd, numberIsPlain, numberKind, readNumber } from "./text/parse";
export { printNumber } from "./text/print";

/** Checks the reach table that was copied in: 0, or 1 where a mask has a bit beyond the 34 provinces. */
export function useReach(): u32 {
  for (let row: u32 = 0; row < REACH_ROWS; row++) {
    if (load<u64>(REACH + 8 * row) >> ADMIN_UNITS) return 1;
  }
  return 0;
}

/** The H3 cell of a position in degrees, whatever its province; 0 outside the kernel's domain or resolution 0-15. */
export function cellOf(latDeg: f64, lngDeg: f64, resolution: u32): u64 {
  if (!inDomain(latDeg, lngDeg) || resolution > MAX_RESOLUTION) return 0;
  return carefulCellAt(latDeg, lngDeg, <i32>resolution);
}
