// CSV and TSV into a sorting sink by bytes: rows are scanned and encoded by the kernel, and packed as they lie in the
// block. Of a failed row only the first of its reason is converted value by value, for its words.

import { OK } from '../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import { looksSwapped } from '../../hexcodes/wire/swapped.js';
import { holdsAngles } from '../../tables/positions/in-values.js';
import { keptColumns, type Sample } from '../columns/columns.js';
import { findPosition, resolutionColumn } from '../columns/position-columns.js';
import type { RowConverter } from '../convert-rows.js';
import type { Input } from '../disk/input.js';
import { FORMATS } from '../format.js';
import { raggedFault } from '../formats/csv-header.js';
import { type ScannedRows, scannedCsv } from '../formats/csv-scan.js';
import { adminOf } from '../formats/parquet/own-columns.js';
import type { TableColumn } from '../formats/table.js';
import type { Run } from '../request.js';
import { type RowFailure, SWAP_TRIES, Tally } from '../tally.js';
import { FROM_LAT, FROM_LNG, FROM_RESOLUTION } from './packed-rows.js';
import type { SortedSink } from './sorted-sink.js';

/** The columns of a CSV that is read by bytes. */
export interface CsvPlan {
  readonly where: { readonly lat: number; readonly lng: number };
  readonly columns: readonly TableColumn[];
  /** The field of each stored column, or one of the constants of packed-rows.ts. */
  readonly sources: Int32Array;
}

/** How an input can be read by bytes; null where it cannot. */
export function planCsv(
  { request, sourceFormat, source: dialect }: Run,
  input: Input,
  columns: readonly TableColumn[],
  sample: Sample,
): CsvPlan | null {
  if (FORMATS[sourceFormat].delimiter === null) return null;
  if (input.path === null || input.sizeBytes === null || request.errors.kind !== 'keep') return null;
  if (request.isFormer || request.hasCertainty === true) return null;
  if (resolutionColumn(sample.names, input.name) >= 0) return null;
  const where = findPosition(sample, request.columns, input.name, dialect.hasHeader);
  if (where.kind !== 'pair') return null;
  if (holdsAngles(sample, where.lat, 'lat') || holdsAngles(sample, where.lng, 'lng')) return null;
  const kept = keptColumns(columns, request.columns, input.name);
  const sources = kept.map((column) =>
    column === where.lat ? FROM_LAT : column === where.lng ? FROM_LNG : column,
  );
  return { where, columns, sources: Int32Array.from([...sources, FROM_RESOLUTION]) };
}

/** Reads an input from its beginning into a sink, and counts its rows. @throws CliFailure */
export async function sortCsv(
  run: Run,
  input: Input,
  inputNumber: number,
  { where, columns, sources }: CsvPlan,
  converter: RowConverter,
  sink: SortedSink,
): Promise<void> {
  const { hexcodes, request, targets, source: dialect } = run;
  const { kernel } = hexcodes;
  const { input: points, output } = kernel;
  const { tally } = targets;
  const delimiter = dialect.delimiter.charCodeAt(0);
  const byAdmin = new Uint32Array(256);
  const fieldStarts = new Uint32Array(columns.length);
  const fieldEnds = new Uint32Array(columns.length);
  let done = 0;
  for await (const rows of scannedCsv(kernel, input, dialect, where)) {
    const { count, block } = rows;
    const failed = kernel.exports.encodeBatch(count, request.resolution);
    if (failed > 0) noteFailures(run, rows, columns, converter, input.name, done);
    for (let row = 0; row < count; row++) {
      const isOk = output[recordStatusAt(row)] === OK;
      if (isOk) byAdmin[adminOf(output, RECORD_BYTES * row)]!++;
      sink.begin(output, RECORD_BYTES * row, points[2 * row]!, points[2 * row + 1]!, request.resolution);
      if (rows.isQuoted(row)) {
        const fields = rows.fieldsOf(row);
        while (fields.length < columns.length) fields.push('');
        sink.addFields(sources, fields);
        continue;
      }
      const end = rows.endOf(row);
      let at = rows.startOf(row);
      for (let column = 0; column < columns.length; column++) {
        fieldStarts[column] = at;
        while (at < end && block[at] !== delimiter) at++;
        fieldEnds[column] = at++;
      }
      sink.addBytes(sources, block, fieldStarts, fieldEnds);
    }
    sink.spillIfFull();
    done += count;
    tally.rows += count;
    run.tick({ inputNumber, inputOffset: 0, inputRows: done });
  }
  for (let admin = 0; admin < tally.byAdmin.length; admin++) tally.byAdmin[admin]! += byAdmin[admin]!;
}

/** Counts the failed rows of a batch, and notes the first of each reason. */
function noteFailures(
  { hexcodes, targets: { tally } }: Run,
  rows: ScannedRows,
  columns: readonly TableColumn[],
  converter: RowConverter,
  file: string,
  earlierRows: number,
): void {
  const { kernel } = hexcodes;
  const { input, output } = kernel;
  let tries = tally.failedRows;
  for (let row = 0; row < rows.count; row++) {
    const status = output[recordStatusAt(row)]!;
    if (status === OK) continue;
    const word = ROW_STATUSES[status] as RowFailure;
    if (tries++ < SWAP_TRIES && looksSwapped(kernel, input[2 * row]!, input[2 * row + 1]!)) tally.swapped++;
    tally.fail(word);
    if (tally.first.has(word)) continue;
    const fields = rows.fieldsOf(row);
    const records = output.slice();
    const points = input.slice();
    const values = columns.map((_, column) => [fields[column] ?? '']);
    const isRagged = fields.length !== columns.length;
    const unread = new Map(isRagged ? [[0, raggedFault(fields.length, columns.length)]] : []);
    const fault = converter.convert({ rowCount: 1, values, unread }, new Tally()).faultOf(0);
    output.set(records);
    input.set(points);
    tally.first.set(word, { file, row: earlierRows + row + 1, fault });
  }
}
