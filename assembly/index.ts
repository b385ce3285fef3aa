// The ABI of the kernel: every export. docs/kernel-abi.md tells what each call reads and writes, memory.ts draws where.
// Nothing throws and nothing is imported; a bad point is a status.

export * from "./points";
export {
  ADMIN_COUNTS, BAND_BYTES, BAND_COUNT, BANDS, BLOCK_TEXT, FIELDS, FIELDS_BYTES, HOST_ROWS, LINE_NAME_COUNT, LINE_NAMES, MEMBERS,
  MEMBERS_BYTES, PIECE_LIST_BYTES, PIECES, ROW_BYTES, ROWS, STATUS_COUNTS, TAIL_BYTES, TAILS, UNIT_NAME_BYTES,
  UNIT_NAMES,
} from "./memory";
export { numberEnd, numberIsPlain, numberKind, readNumber } from "./text/numbers/parse";
export { printNumber } from "./text/numbers/print";
export { blankLines, hostRowCount } from "./text/scan/input";
export { CSV_PIECE, CSV_PIECE_BYTES, csvRows } from "./text/scan/csv-rows";
export { csvEnd, csvMissing, scanCsv, useCsvColumns, useCsvFields } from "./text/scan/scan-csv";
export { jsonEnd, jsonState, scanArray, scanLines, scanNdjson } from "./text/scan/scan-json";
export { membersEnd, scanMembers } from "./text/scan/scan-members";
export { skipArray, skipCommas, skipDepth, skipInString } from "./text/scan/skip-array";
export { countDecoded, countEncoded } from "./text/write/statuses";
export { setTextEnd, textEnd } from "./text/write/text-out";
export { writeDecodedCsv } from "./text/write/write-csv";
export { writeDecodedJson, writeEncodedJson } from "./text/write/write-json";
export { chooseMembers, writeDecodedRows, writeRows } from "./text/write/write-rows";
