// The ABI of the kernel: every export. docs/kernel-abi.md tells what each call reads and writes, memory.ts draws where.
// Nothing throws and nothing is imported; a bad point is a status.

import { carefulCellAt, inDomain, MAX_RESOLUTION } from "./h3/cell";
import { ADMIN_UNITS } from "./hexcode/admin";
import { REACH, REACH_ROWS } from "./memory";

export {
  ABI_VERSION, ADMIN_COUNTS, BAND_BYTES, BAND_COUNT, BANDS, BLOCK_TEXT, CAPACITY, HOST_ROWS, INDEX, INPUT, OUTPUT, REACH, REACH_BYTES, RECORD_BYTES, RESOLUTIONS, ROW_BYTES, ROWS, SCRATCH,
  LINE_NAME_COUNT, LINE_NAMES, MEMBERS, MEMBERS_BYTES, PIECE_LIST_BYTES, PIECES, SCRATCH_BYTES, STATUS_COUNTS, TAIL_BYTES, TAILS, TEXT_IN, TEXT_IN_BYTES, TEXT_OUT, TEXT_OUT_BYTES,
  UNIT_NAME_BYTES, UNIT_NAMES,
} from "./memory";
export { centerOf, decodeBatch, decodeBatchTo, readText } from "./decode";
export { encodeBatch, encodeBatchTo, encodeCells, encodeCellsTo, encodeOne, pack } from "./encode";
export { borderBatch, borderOf, locateBatch, neighbourOf, regionOf, unitBatch, unitOf } from "./locate";
export { gridEnd } from "./region/grid";
export { useIndex } from "./region/load";
export { numberEnd, numberIsPlain, numberKind, readNumber } from "./text/numbers/parse";
export { printNumber } from "./text/numbers/print";
export { hostRowCount } from "./text/scan/host-rows";
export { csvEnd, csvMissing, scanCsv, useCsvColumns, useCsvFields } from "./text/scan/scan-csv";
export { blankLines } from "./text/scan/blank-lines";
export { jsonEnd, jsonState, scanArray, scanLines, scanNdjson } from "./text/scan/scan-json";
export { membersEnd, scanMembers } from "./text/scan/scan-members";
export { skipArray, skipCommas, skipDepth, skipInString } from "./text/scan/skip-array";
export { countDecoded, countEncoded } from "./text/write/provinces";
export { setTextEnd, textEnd } from "./text/write/text-out";
export { writeDecodedCsv } from "./text/write/write-csv";
export { writeDecodedJson, writeEncodedJson } from "./text/write/write-json";
export { writeRows } from "./text/write/write-rows";

/** Checks the table that the host has copied to REACH: 0, or 1 if a mask has a bit beyond the 34 provinces. */
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
