// The kernel's records of a batch: counts, and the rows that failed.

import { OK } from '../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../hexcodes/wire/job.js';
import type { Failure } from './driver.js';
import { adminOf } from './formats/parquet/own-columns.js';

/** Counts rows by status, and those that are OK by province. */
export function countRows(
  records: Uint8Array,
  rowCount: number,
  byStatus: Uint32Array,
  byAdmin: Uint32Array,
): void {
  byStatus.fill(0);
  byAdmin.fill(0);
  for (let row = 0; row < rowCount; row++) {
    const status = records[recordStatusAt(row)]!;
    byStatus[status]!++;
    if (status === OK) byAdmin[adminOf(records, RECORD_BYTES * row)]!++;
  }
}

export function* failuresIn(records: Uint8Array, rowCount: number): Generator<Failure> {
  for (let row = 0; row < rowCount; row++) {
    const status = records[recordStatusAt(row)]!;
    if (status !== OK) yield { row, status: ROW_STATUSES[status]! };
  }
}
