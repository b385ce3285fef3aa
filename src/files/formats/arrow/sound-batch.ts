// Checks the lengths that a record batch declares before any value is read: flechette trusts them, and four damaged
// bytes would make it collect billions of values from a file of some kilobytes.

import { type Batch, Type } from '@uwdata/flechette';
import { ceilingBytes } from '../../held/ceiling.js';

/** Rows of a batch whose columns may take no bytes a row: run-length encoded ones, and those of nulls. */
const MAX_ROWS_WITHOUT_BYTES = 1 << 24;
const BITS_PER_BYTE = 8;
const VIEW_BYTES = 16;
/** Longest text that a view holds inline. */
const INLINE_BYTES = 12;

/** Members of flechette's batches of one kind or another. */
type AnyBatch = Batch<unknown> & {
  readonly stride?: number;
  readonly names?: readonly string[];
  readonly typeIds?: Int8Array;
  readonly data?: readonly Uint8Array[];
  readonly dictionary?: { readonly data: readonly AnyBatch[]; readonly length: number };
};

/** @throws Error where a batch of `sizeBytes` cannot have `rows` rows */
export function checkRows(rows: number, sizeBytes: number): void {
  if (rows > Math.max(MAX_ROWS_WITHOUT_BYTES, BITS_PER_BYTE * sizeBytes))
    throw new Error(`a batch of ${sizeBytes} bytes claims ${rows} rows`);
}

/**
 * @param length values that the batch must have
 * @param sizeBytes of the message, unpacked
 * @throws Error where it, or a list or struct within it, claims values that are not there
 */
export function checkLengths(batch: Batch<unknown>, length: number, sizeBytes: number): void {
  check(batch as AnyBatch, length, sizeBytes, false);
}

/** @param isWithin whether the values are parts of others, which are made as a whole */
function check(batch: AnyBatch, length: number, sizeBytes: number, isWithin: boolean): void {
  if (batch.length !== length) throw new Error(`${batch.length} values where ${length} are due`);
  checkValidity(batch, length);
  if (batch.dictionary !== undefined) {
    checkDictionary(batch, length, sizeBytes);
    return;
  }
  const children = batch.children ?? [];
  const [first] = children;
  if (first === undefined) {
    checkFlat(batch, length, isWithin);
    return;
  }
  if (batch.stride !== undefined) {
    for (const child of children) checkChild(child, length * batch.stride, sizeBytes);
    return;
  }
  if (batch.typeIds !== undefined) {
    checkUnion(batch, length, sizeBytes);
    return;
  }
  if (batch.offsets === undefined) {
    // The values of a struct have the same indexes in its children; runs have lengths of their own.
    const isStruct = batch.names !== undefined;
    for (const child of children) checkChild(child, isStruct ? length : 0, sizeBytes);
    if (!isStruct) checkRuns(children, length, isWithin);
    return;
  }
  checkChild(first, 0, sizeBytes);
  const { offsets, sizes } = batch;
  requireEntries(offsets, sizes === undefined ? length + 1 : length, length);
  let total = 0;
  for (let i = 0; i < length; i++) {
    const start = Number(offsets[i]);
    const end = sizes === undefined ? Number(offsets[i + 1]) : start + Number(sizes[i]);
    if (!(start >= 0 && start <= end && end <= first.length))
      throw new Error(`a list from ${start} to ${end} of ${first.length} values`);
    total += end - start;
  }
  // Lists of other lists' values may overlap; within others they are collected all at once.
  if (sizes !== undefined) checkRows(total, sizeBytes);
}

function checkChild(child: AnyBatch, least: number, sizeBytes: number): void {
  if (!(child.length >= least)) throw new Error(`${child.length} values where ${least} are due`);
  checkRows(child.length, sizeBytes);
  check(child, child.length, sizeBytes, true);
}

function checkValidity({ nullCount, validity }: AnyBatch, length: number): void {
  if (nullCount > 0 && validity !== undefined && validity.length * BITS_PER_BYTE < length)
    throw new Error(`${validity.length} bytes of validity for ${length} values`);
}

/** Texts, bytes and numbers. */
function checkFlat(batch: AnyBatch, length: number, isWithin: boolean): void {
  const { offsets, values, data } = batch;
  if (data !== undefined) {
    checkViews(batch, length, isWithin);
    return;
  }
  if (values === undefined) return;
  if (offsets === undefined) {
    const isBits = (batch.type as { typeId: number }).typeId === Type.Bool;
    const due = isBits ? Math.ceil(length / BITS_PER_BYTE) : length * (batch.stride ?? 1);
    if (values.length < due) throw new Error(`${values.length} values where ${due} are due`);
    return;
  }
  if (length === 0) return;
  requireEntries(offsets, length + 1, length);
  let start = Number(offsets[0]);
  for (let i = 1; i <= length; i++) {
    const end = Number(offsets[i]);
    if (!(start >= 0 && start <= end && end <= values.length))
      throw new Error(`a text from ${start} to ${end} of ${values.length} bytes`);
    start = end;
  }
}

/** Views are texts anywhere in a buffer, and all of them may be the same text. */
function checkViews({ values, data = [] }: AnyBatch, length: number, isWithin: boolean): void {
  const bytes = values as unknown as Uint8Array;
  if (bytes.length < VIEW_BYTES * length)
    throw new Error(`${bytes.length} bytes of views for ${length} texts`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let total = 0;
  for (let at = 0; at < VIEW_BYTES * length; at += VIEW_BYTES) {
    const size = view.getInt32(at, true);
    total += size;
    if (size >= 0 && size <= INLINE_BYTES) continue;
    const [buffer, start] = [view.getInt32(at + 8, true), view.getInt32(at + 12, true)];
    const bytesThere = data[buffer]?.length ?? 0;
    if (!(size >= 0 && start >= 0 && start + size <= bytesThere))
      throw new Error(`a text from ${start} to ${start + size} of ${bytesThere} bytes`);
  }
  if (isWithin) requireWithin(total);
}

/** Dictionaries of several batches that have been checked. */
const SOUND = new WeakSet<object>();

function checkDictionary(batch: AnyBatch, length: number, sizeBytes: number): void {
  const { values, dictionary } = batch;
  const entries = dictionary?.length ?? 0;
  if (values === undefined || values.length < length)
    throw new Error(`a dictionary without keys of ${length} values`);
  if (dictionary !== undefined && !SOUND.has(dictionary)) {
    for (const each of dictionary.data) {
      checkRows(each.length, sizeBytes);
      check(each, each.length, sizeBytes, true);
    }
    SOUND.add(dictionary);
  }
  // Its values are made once, however many keys refer to them.
  for (let i = 0; i < length; i++) {
    if (!isValid(batch, i)) continue;
    const key = Number(values[i]);
    if (!(key >= 0 && key < entries)) throw new Error(`entry ${key} of a dictionary of ${entries}`);
  }
}

/** Bytes of each text among the values of runs; null for other values. */
function textLengths(batches: readonly AnyBatch[]): number[] | null {
  if (batches.some(({ offsets, children }) => offsets === undefined || (children?.length ?? 0) > 0))
    return null;
  return batches.flatMap(({ offsets, length }) =>
    Array.from({ length }, (_, i) => Number(offsets![i + 1]) - Number(offsets![i])),
  );
}

function isValid({ nullCount, validity }: AnyBatch, i: number): boolean {
  if (nullCount === 0 || validity === undefined || validity.length === 0) return true;
  return (((validity[i >> 3] ?? 0) >> (i & 7)) & 1) === 1;
}

/** A value of a union is at an offset of one of its children, which others may share. */
function checkUnion({ children, offsets, typeIds }: AnyBatch, length: number, sizeBytes: number): void {
  const isSparse = offsets === undefined || offsets === null;
  for (const child of children) checkChild(child, isSparse ? length : 0, sizeBytes);
  if ((typeIds?.length ?? 0) < length) throw new Error(`${typeIds?.length} types for ${length} values`);
}

/** The ends of runs, ascending, of which the last is the number of rows. */
function checkRuns([ends, values]: readonly AnyBatch[], length: number, isWithin: boolean): void {
  const runs = ends?.values;
  if (runs === undefined || ends === undefined || values === undefined)
    throw new Error('runs without their ends');
  const lengths = isWithin ? textLengths([values]) : null;
  let total = 0;
  let before = 0;
  for (let i = 0; i < ends.length; i++) {
    const end = Number(runs[i]);
    if (end <= before) throw new Error(`a run that ends at ${end} after one that ends at ${before}`);
    total += (end - before) * (lengths?.[i] ?? 0);
    before = end;
  }
  requireWithin(total);
  if (before < length || values.length < ends.length)
    throw new Error(`runs of ${before} values where ${length} are due`);
}

function requireEntries(offsets: ArrayLike<unknown>, entries: number, length: number): void {
  if (length > 0 && offsets.length < entries)
    throw new Error(`${offsets.length} offsets for ${length} values`);
}

/** Texts within lists are made together, and again at each use. */
function requireWithin(bytes: number): void {
  const most = ceilingBytes() / 2;
  if (bytes > most)
    throw new Error(`values within others have ${bytes} bytes of text, and at most ${most} are read`);
}
