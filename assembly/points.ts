// The calls of docs/kernel-abi.md for points, records and single texts: the whole of kernel-scalar.wasm, which is built
// without SIMD, and the first part of kernel.wasm.

import { carefulCellAt, inDomain, MAX_RESOLUTION } from "./h3/cell";
import { ADMIN_UNITS } from "./hexcode/admin";
import { REACH, REACH_ROWS } from "./memory";

export {
  ABI_VERSION, CAPACITY, INDEX, INPUT, OUTPUT, REACH, REACH_BYTES, RECORD_BYTES, RESOLUTIONS, SCRATCH, SCRATCH_BYTES,
  TEXT_IN, TEXT_IN_BYTES, TEXT_OUT, TEXT_OUT_BYTES,
} from "./memory";
export { centerOf, decodeBatch, decodeBatchTo, readAscii, readText } from "./decode";
export { encodeBatch, encodeBatchTo, encodeCells, encodeCellsTo, encodeOne, pack } from "./encode";
export { borderBatch, borderOf, locateBatch, neighbourOf, regionOf, unitBatch, unitOf } from "./locate";
export { gridEnd } from "./region/grid";
export { useIndex } from "./region/load";

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
