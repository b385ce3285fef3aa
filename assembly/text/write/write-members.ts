// The members of a line of NDJSON but for those that are left out, each as it is in the line. Columns of MEMBERS, after
// those of the scan, have the names of members that are kept, which are written in the order of these columns, or of
// members that are left out. json-lines.ts has scanned the line: it is JSON, and a name with escapes is in no column.

import { MEMBERS } from "../../memory";
import { COMMA, OPEN_BRACE } from "../chars";
import { NO_COLUMN, noteStart, startOf } from "../scan/json-lines";
import { afterSpace, skipName, skipValue } from "../scan/json-values";
import { COLUMN_BYTES, isNamed } from "../scan/scan-members";
import { copyText } from "./text-out";

/** In a column: bounds of the member in the line; 0 where there is none. */
const AT_START: usize = 8;
const AT_END: usize = 12;

/** The first column whose name may start so, by startOf. */
const STARTS: usize = memory.data(64, 8);

let first: usize = 0;
let end: usize = 0;
let keeps: bool = false;

/** Whether members of lines are left out. */
export let choosesMembers: bool = false;

/**
 * Sets which members of lines are written: with `isKeep` those that columns `from` to `to` of MEMBERS name, else all
 * others.
 */
export function chooseMembers(from: u32, to: u32, isKeep: bool): void {
  choosesMembers = isKeep || from < to;
  first = columnAt(from);
  end = columnAt(to);
  keeps = isKeep;
  memory.fill(STARTS, NO_COLUMN, 64);
  for (let column = from; column < to; column++) noteStart(STARTS, <usize>load<u32>(columnAt(column)) + 1, <u8>(column - from));
}

// @ts-ignore: decorator
@inline
function columnAt(column: u32): usize {
  return MEMBERS + <usize>column * COLUMN_BYTES;
}

/** Writes the chosen members of the line at `p`, each after an opening brace or a comma; returns `out` for none. */
export function writeMembers(p: usize, out: usize): usize {
  for (let column = first; keeps && column < end; column += COLUMN_BYTES) store<u32>(column, 0, AT_START);
  let mark: u8 = <u8>OPEN_BRACE;
  // Members come in the order of the columns, mostly.
  let next = first;
  do {
    p = afterSpace(p + 1);
    const name = p;
    let column = next;
    if (column >= end || !isNamed(column, name)) {
      column = first + <usize>load<u8>(STARTS + startOf(name + 1)) * COLUMN_BYTES;
      while (column < end && !isNamed(column, name)) column += COLUMN_BYTES;
    }
    p = skipValue(afterSpace(afterSpace(skipName(name)) + 1));
    if (column < end) next = column + COLUMN_BYTES;
    if (keeps && column < end) {
      store<u32>(column, <u32>name, AT_START);
      store<u32>(column, <u32>p, AT_END);
    } else if (!keeps && column >= end) {
      store<u8>(out, mark);
      out = copyText(name, p, out + 1);
      mark = <u8>COMMA;
    }
    p = afterSpace(p);
  } while (load<u8>(p) == COMMA);
  for (let column = first; keeps && column < end; column += COLUMN_BYTES) {
    const start = <usize>load<u32>(column, AT_START);
    if (!start) continue;
    store<u8>(out, mark);
    out = copyText(start, <usize>load<u32>(column, AT_END), out + 1);
    mark = <u8>COMMA;
  }
  return out;
}
