// Counts rows by province, once their answers are written. A pass of its own for the callers that want it: inside the
// loops of the writers it would cost all others 2 to 4 in a hundred.

import { ADMIN_COUNTS, INPUT, OUTPUT, RECORD_BYTES, ROW_BYTES } from "../../memory";
import { AT_STATUS, recordAt, statusesOfPositions } from "../../output-layout";
import { prefixAt, BUCKET_ADMINS, BUCKET_PREFIXES, bucketOf } from "../../hexcode/prefix";
import { readAdmin, readBytes } from "../../hexcode/reading";
import { ROW_OK, rowAt, rowStatus } from "../row";

// @ts-ignore: decorator
@inline
function add(admin: u32): void {
  const count = ADMIN_COUNTS + (<usize>admin << 2);
  store<u32>(count, load<u32>(count) + 1);
}

/** Adds the OK rows of `encode` to ADMIN_COUNTS, by the prefixes of their records in OUTPUT. */
export function countEncoded(count: u32): void {
  let row = rowAt(0);
  let record = OUTPUT;
  for (const end = rowAt(count); row < end; row += ROW_BYTES, record += RECORD_BYTES) {
    if (rowStatus(row) != ROW_OK || load<u8>(record, AT_STATUS)) continue;
    add(load<u8>(bucketOf(prefixAt(record)), BUCKET_ADMINS));
  }
}

/** Adds the OK rows of `decode` to ADMIN_COUNTS, by the codes that they gave: records in INPUT, in any spelling. */
export function countDecoded(count: u32): void {
  const statuses = statusesOfPositions(OUTPUT, count);
  for (let index: u32 = 0; index < count; index++) {
    if (rowStatus(rowAt(index)) != ROW_OK || load<u8>(statuses + index)) continue;
    const record = recordAt(INPUT, index);
    const prefix = prefixAt(record);
    const bucket = bucketOf(prefix);
    // A prefix with its hyphen can be read in one way only.
    if (load<u32>(bucket << 2, BUCKET_PREFIXES) == prefix) add(load<u8>(bucket, BUCKET_ADMINS));
    else if (readBytes(record, <u32>AT_STATUS)) add(readAdmin);
  }
}
