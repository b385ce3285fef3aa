// The failed rows of answered blocks: messages about them, and their answers apart from those of the other rows.

import { type BlockReport, type ConvertedBlock, ROW_STATUSES } from '../hexcodes/wire/job.js';
import { readResolution } from '../hexcodes/wire/params/number.js';
import { csvFields, plainNumber, withoutBlanks } from '../hexcodes/wire/rows/csv-fields.js';
import { failedRowsOf } from '../hexcodes/wire/rows/row-report.js';
import { looksSwapped } from '../hexcodes/wire/swapped.js';
import type { Opening } from './by-bytes-opening.js';
import type { Input } from './disk/input.js';
import { badInput } from './exit-codes.js';
import { raggedFault } from './formats/csv-header.js';
import { eachRow, fieldsOf } from './formats/csv-rows.js';
import type { Run } from './request.js';
import {
  type Degrees,
  type Field,
  faultIn,
  type ReadFields,
  type RowFailure,
  SWAP_TRIES,
  stopped,
} from './tally.js';

/**
 * Checks the failed rows of a block: any of them ends the run where the error policy is to stop; the first row of each
 * reason is noted; positions that have a code with lat and lng exchanged are counted.
 * @param firstRow number of the block's first row in the input
 * @throws CliFailure for the row that ends the run
 */
export function checkFailures(
  run: Run,
  input: Input,
  opening: Opening,
  block: Uint8Array,
  answer: AnsweredRows,
  firstRow: number,
): void {
  const { request, hexcodes, targets } = run;
  const { csv, delimiter } = opening.job;
  const { first } = targets.tally;
  const isStop = request.errors.kind === 'stop';
  let tries = targets.tally.failedRows;
  const hasFirst = ROW_STATUSES.some(
    (word, status) => word !== 'OK' && answer.byStatus[status]! > 0 && !first.has(word as RowFailure),
  );
  if (!isStop && !hasFirst && tries >= SWAP_TRIES) return;
  for (const { row, status, start, end } of failedRowsOf(reportOf(answer))) {
    const isTried = csv !== undefined && request.operation === 'encode' && tries++ < SWAP_TRIES;
    const reason = status as RowFailure;
    if (!isStop && !isTried && first.has(reason)) continue;
    const fields = fieldsOf(block, start, end, delimiter);
    const isRagged = fields.length !== opening.names.length;
    if (isRagged && csvFields(Buffer.from(block.subarray(start, end)).toString(), delimiter) === undefined)
      throw badInput({ file: input.name, row: firstRow + row }, 'a quote is not closed');
    if (!first.has(reason)) {
      const fault = isRagged
        ? raggedFault(fields.length, opening.names.length)
        : faultIn(reason, readFields(opening, fields));
      first.set(reason, { file: input.name, row: firstRow + row, fault });
    }
    if (isStop) throw stopped(first.get(reason)!, reason);
    if (
      isTried &&
      !isRagged &&
      looksSwapped(hexcodes.kernel, numberIn(fields[csv.lat]), numberIn(fields[csv.lng]))
    ) {
      targets.tally.swapped++;
    }
  }
}

function readFields({ names, job: { csv } }: Opening, fields: readonly string[]): ReadFields {
  const field = (at: number): Field => ({ name: names[at] ?? '', text: fields[at] ?? '' });
  const at = csv?.resolution ?? -1;
  const resolution = at >= 0 && readResolution(withoutBlanks(fields[at] ?? '')) < 0 ? field(at) : null;
  if (csv === undefined || csv.hexcodes >= 0) {
    return { kind: 'whole', field: field(csv?.hexcodes ?? 0), resolution };
  }
  const degrees = (at: number): Degrees => ({ ...field(at), degrees: numberIn(fields[at]) });
  return { kind: 'pair', lat: degrees(csv.lat), lng: degrees(csv.lng), resolution };
}

function numberIn(field = ''): number {
  return Number(plainNumber(field));
}

/**
 * Refuses the first row of a block that has more or fewer fields than the header.
 * @throws CliFailure if there is one
 */
export function refuseRagged(
  input: Input,
  { names, job }: Opening,
  block: Uint8Array,
  firstRow: number,
): void {
  let row = firstRow;
  eachRow(block, job.delimiter, (start, end) => {
    const { length } = fieldsOf(block, start, end, job.delimiter);
    if (length !== names.length) throw badInput({ file: input.name, row }, raggedFault(length, names.length));
    row++;
  });
}

/** Rows of a block with their answers. */
export type AnsweredRows = Omit<ConvertedBlock, 'bytes'> & { readonly bytes: Uint8Array };

/** Counts the rows of an answered block and writes them as the error policy says. */
export async function writeCounted({ request, targets }: Run, answer: AnsweredRows): Promise<void> {
  const { tally, output, rejects } = targets;
  tally.rows += answer.rows;
  ROW_STATUSES.forEach((word, status) => {
    if (word !== 'OK') tally.fail(word as RowFailure, answer.byStatus[status]);
  });
  reportOf(answer).byAdmin.forEach((rows, admin) => {
    tally.byAdmin[admin]! += rows;
  });
  if (answer.failed === 0 || request.errors.kind === 'keep') {
    await output.write(answer.bytes);
    return;
  }
  const { ok, failed } = splitAnswer(answer);
  await output.write(ok);
  await rejects?.write(failed);
}

/** The answers to the rows of a block that are OK, and those to the others, each in their order. */
function splitAnswer(answer: AnsweredRows): { ok: Buffer; failed: Buffer } {
  const ok: Uint8Array[] = [];
  const failed: Uint8Array[] = [];
  let at = 0;
  for (const { answerStart, answerEnd } of failedRowsOf(reportOf(answer))) {
    ok.push(answer.bytes.subarray(at, answerStart));
    failed.push(answer.bytes.subarray(answerStart, answerEnd));
    at = answerEnd;
  }
  ok.push(answer.bytes.subarray(at));
  return { ok: Buffer.concat(ok), failed: Buffer.concat(failed) };
}

/** The report that every job of this room wants. */
export function reportOf({ report }: Pick<ConvertedBlock, 'report'>): BlockReport {
  if (report === undefined) throw new TypeError('the block was converted without a report');
  return report;
}
