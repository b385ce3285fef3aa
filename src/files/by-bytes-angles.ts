// Positions as people write them, `21°01'43.7"N` or `+21.0288`, in rows that are converted by bytes. The kernel reads
// numbers alone; a file whose first rows hold others is converted value by value, but a later row may hold one, too.

import { type BlockReport, type ConvertedBlock, ROW_STATUSES } from '../hexcodes/wire/job.js';
import { plainNumber } from '../hexcodes/wire/rows/csv-fields.js';
import { countSlow } from '../hexcodes/wire/rows/row-allowance.js';
import { type FailedRow, failedRowsOf, packedFailures } from '../hexcodes/wire/rows/row-report.js';
import type { Opening } from './by-bytes-opening.js';
import { reportOf } from './by-bytes-rows.js';
import { type RowConverter, rowConverter } from './convert-rows.js';
import type { Input } from './disk/input.js';
import { csvQuoted, fieldsOf } from './formats/csv-rows.js';
import type { TableColumn } from './formats/table.js';
import { degreesOf, textOf } from './formats/values/column-text.js';
import type { Run } from './request.js';
import { Tally } from './tally.js';

const CR = 13;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const TEXT: TableColumn = { name: '', kind: 'text' };

const converters = new WeakMap<Opening, RowConverter>();

function converterOf(run: Run, input: Input, opening: Opening): RowConverter {
  const known = converters.get(opening);
  if (known !== undefined) return known;
  const columns = opening.names.map((name) => ({ ...TEXT, name }));
  const made = rowConverter(run.hexcodes, run.request, {
    columns,
    sample: { names: opening.names, rows: run.sample?.rows ?? [] },
    file: input.name,
    hasHeader: run.source.hasHeader,
    isTyped: false,
    needsPosition: false,
    isSorted: false,
  });
  converters.set(opening, made);
  return made;
}

/** The answer to a block, with the answers to its rows of such positions. */
export function withAngles(
  run: Run,
  input: Input,
  opening: Opening,
  block: Uint8Array,
  answer: ConvertedBlock,
): ConvertedBlock {
  const { csv, delimiter } = opening.job;
  if (csv === undefined || run.request.operation !== 'encode') return answer;
  if (answer.byStatus[INVALID_REQUEST] === 0) return answer;
  const failed = failedRowsOf(reportOf(answer));
  const angles = new Map<FailedRow, readonly string[]>();
  for (const each of failed) {
    if (each.status !== 'INVALID_REQUEST') continue;
    const fields = fieldsOf(block, each.start, each.end, delimiter);
    if (fields.length === opening.names.length && isAngle(fields[csv.lat]!, fields[csv.lng]!))
      angles.set(each, fields);
  }
  return angles.size === 0 ? answer : answered(run, input, opening, answer, failed, angles);
}

/** Whether a pair is a position that has a text which is no plain number. */
function isAngle(lat: string, lng: string): boolean {
  if (![lat, lng].some((text) => Number.isNaN(Number(plainNumber(text))) || text.includes('+'))) return false;
  return !Number.isNaN(degreesOf(TEXT, lat, 'lat')) && !Number.isNaN(degreesOf(TEXT, lng, 'lng'));
}

function answered(
  run: Run,
  input: Input,
  opening: Opening,
  answer: ConvertedBlock,
  failed: readonly FailedRow[],
  angles: ReadonlyMap<FailedRow, readonly string[]>,
): ConvertedBlock {
  const { names, job } = opening;
  const separator = String.fromCharCode(job.delimiter);
  const rows = [...angles.values()];
  countSlow('file', 'number', rows.length);
  const converter = converterOf(run, input, opening);
  const values = names.map((_, column) => rows.map((fields) => fields[column]!));
  const tally = new Tally();
  const converted = converter.convert({ rowCount: rows.length, values }, tally);
  const { added } = converter.columns;
  const byStatus = answer.byStatus.slice();
  const byAdmin = reportOf(answer).byAdmin.slice();
  tally.byAdmin.forEach((count, admin) => {
    byAdmin[admin]! += count;
  });
  const pieces: Uint8Array[] = [];
  const left: FailedRow[] = [];
  let at = 0;
  let shift = 0;
  let row = 0;
  for (const each of failed) {
    if (!angles.has(each)) {
      left.push({ ...each, answerStart: each.answerStart + shift, answerEnd: each.answerEnd + shift });
      continue;
    }
    const { answerStart, answerEnd } = each;
    const status = converted.status[row]!;
    const texts = added.map((column, c) =>
      csvQuoted(textOf(column, converted.values[names.length + c]?.[row]), separator),
    );
    row++;
    // The answer is the row as it came, our fields, which have no quotes, and its line end.
    const ended = Buffer.from(answer.bytes.subarray(answerStart, answerEnd));
    let bareEnd = ended.length - (ended.at(-2) === CR ? 2 : 1);
    const lineEnd = ended.subarray(bareEnd);
    for (let n = 0; n < added.length; n++) bareEnd = ended.lastIndexOf(job.delimiter, bareEnd - 1);
    const made = Buffer.concat([
      ended.subarray(0, bareEnd),
      Buffer.from([''].concat(texts).join(separator)),
      lineEnd,
    ]);
    pieces.push(answer.bytes.subarray(at, answerStart), made);
    at = answerEnd;
    byStatus[INVALID_REQUEST]!--;
    byStatus[ROW_STATUSES.indexOf(status)]!++;
    const moved = { answerStart: answerStart + shift, answerEnd: answerStart + shift + made.length };
    shift += made.length - ended.length;
    if (status !== 'OK') left.push({ ...each, ...moved, status });
  }
  pieces.push(answer.bytes.subarray(at));
  const report: BlockReport = { byAdmin, failures: packedFailures(left) };
  return { ...answer, bytes: Buffer.concat(pieces), failed: left.length, byStatus, report };
}
