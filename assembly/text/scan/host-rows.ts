// The rows that a scan leaves to the host, which reads them with the platform's own parsers
// (src/hexcodes/wire/rows/read-row.ts).

import { HOST_ROWS } from "../../memory";
import { addRowFlags, LEFT_TO_HOST } from "../row";

/** Rows that the last scan listed in HOST_ROWS. */
export let hostRowCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function clearHostRows(): void {
  hostRowCount = 0;
}

/** Lists a row for the host. Its position or code in INPUT must be one that fails until the host has read it. */
export function leaveToHost(index: u32, row: usize): void {
  addRowFlags(row, LEFT_TO_HOST);
  store<u16>(HOST_ROWS + (<usize>hostRowCount << 1), <u16>index);
  hostRowCount += 1;
}
