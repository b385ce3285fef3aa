// The lengths that a record batch claims, before any value is read: flechette believes them, and four damaged bytes would
// make it collect billions of values of a file of some kilobytes.

import type { Batch } from '@uwdata/flechette';

/** Rows of a batch whose columns may take no bytes a row: run-length encoded ones, and those of nulls. */
const MAX_ROWS_WITHOUT_BYTES = 1 << 24;
const BITS_PER_BYTE = 8;

type AnyBatch = Batch<unknown>;

/** @throws Error where a batch of so many bytes cannot have so many rows */
export function checkRows(rows: number, sizeBytes: number): void {
  if (rows > Math.max(MAX_ROWS_WITHOUT_BYTES, BITS_PER_BYTE * sizeBytes))
    throw new Error(`a batch of ${sizeBytes} bytes claims ${rows} rows`);
}

/**
 * @param length values that the batch must have
 * @throws Error where it, or a list or struct within it, claims values that are not there
 */
export function checkLengths(batch: AnyBatch, length: number, sizeBytes: number): void {
  if (batch.length !== length) throw new Error(`${batch.length} values where ${length} are due`);
  const children = batch.children ?? [];
  const [first] = children;
  if (first === undefined || 'stride' in batch) {
    for (const child of children)
      checkChild(child, length * (batch as AnyBatch & { stride: number }).stride, sizeBytes);
    return;
  }
  if (batch.offsets === undefined) {
    // The values of a struct stand at the same places in its children; runs and unions have lengths of their own.
    const isStruct = 'names' in batch;
    for (const child of children) checkChild(child, isStruct ? length : 0, sizeBytes);
    return;
  }
  checkChild(first, 0, sizeBytes);
  if ('typeIds' in batch) return;
  const { offsets, sizes } = batch;
  for (let i = 0; i < length; i++) {
    const start = Number(offsets[i]);
    const end = sizes === undefined ? Number(offsets[i + 1]) : start + Number(sizes[i]);
    if (!(start >= 0 && start <= end && end <= first.length))
      throw new Error(`a list from ${start} to ${end} of ${first.length} values`);
  }
}

function checkChild(child: AnyBatch, least: number, sizeBytes: number): void {
  if (child.length < least) throw new Error(`${child.length} values where ${least} are due`);
  checkRows(child.length, sizeBytes);
  checkLengths(child, child.length, sizeBytes);
}
