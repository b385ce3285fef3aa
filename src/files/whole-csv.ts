// CSV to CSV and TSV to TSV by whole rows: their header, and rows whose positions are in human spellings,
// `21°01'43.7"N` or `+21.0288`. The kernel reads only numbers; a file whose first rows hold other positions is
// converted value by value, but a later row may hold one, too.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { extrasOf } from '../hexcodes/extras.js';
import { convertBlock } from '../hexcodes/wire/bulk/convert-block.js';
import { extendedHeader } from '../hexcodes/wire/bulk/csv-header.js';
import { ByteSink } from '../hexcodes/wire/bytes/byte-sink.js';
import {
  BLOCK_BYTES,
  BulkInputError,
  type BulkJob,
  type CsvShape,
  ROW_STATUSES,
  type RowStatus,
} from '../hexcodes/wire/job.js';
import { readResolution } from '../hexcodes/wire/params/number.js';
import { plainNumber, withoutBlanks } from '../hexcodes/wire/rows/csv-fields.js';
import { countSlow, type FailedRow, failedRowsOf } from '../hexcodes/wire/rows/row-report.js';
import { ANSWER_BUFFER_BYTES } from '../pool/slices.js';
import { holdsAngles } from '../tables/positions.js';
import { addedColumns, DECODE_ADDED, otherNames } from './columns/columns.js';
import { ourColumns, resolutionIn } from './columns/encode-columns.js';
import { codeColumn, findPosition, resolutionColumn } from './columns/position-columns.js';
import { nameOf } from './disk/input.js';
import type { Explained, Reading } from './driver.js';
import { badInput } from './exit-codes.js';
import { FORMATS } from './format.js';
import { type CsvText, openText } from './formats/csv/csv.js';
import { csvQuoted, eachRow, fieldsOf, rowFault, textEnd } from './formats/csv/dialect.js';
import type { TableColumn } from './formats/table.js';
import { degreesOf } from './formats/values/column-text.js';
import type { Run } from './request.js';
import { type Field, faultIn, type ReadFields, type RowFailure } from './tally.js';
import { type Answer, type SlowAnswer, spliced, type WholeInput, WholeRows } from './whole-rows.js';

const CR = 13;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const TEXT: TableColumn = { name: '', kind: 'text' };
/** Rows of numbers that are converted at a time. */
const ANGLES = 1024;

/** Whether rows can be copied: neither format nor columns change, not even in the file of failed rows. */
export function canCopyRows(run: Run): boolean {
  const { request, sourceFormat, targetFormat, rejectsFormat, sample, source } = run;
  const { keep, drop } = request.columns;
  // Numbers of ours are written with a point.
  const hasNumbers = request.operation === 'decode' || request.hasCertainty === true;
  if (hasNumbers && request.csv.decimal === ',') return false;
  if (sourceFormat !== targetFormat || FORMATS[sourceFormat].delimiter === null) return false;
  if (keep !== undefined || drop !== undefined) return false;
  // A row of a line or an area may become several.
  if (request.input.point !== undefined) return false;
  if (request.operation === 'encode' && sample !== null) {
    const first = nameOf(request.inputs[0]!);
    const where = findPosition(sample, request.columns, first, source.hasHeader);
    if (where.kind !== 'pair') return false;
    if (holdsAngles(sample, where.lat, 'lat') || holdsAngles(sample, where.lng, 'lng')) return false;
  }
  return rejectsFormat === null || rejectsFormat === sourceFormat;
}

export function wholeCsv(run: Run): WholeRows {
  let first: readonly string[] | null = null;
  const memory: Memory = { sink: new ByteSink(), buffer: new Uint8Array(ANSWER_BUFFER_BYTES) };
  return new WholeRows(run, async (reading) => {
    const text = await openText(reading.input, run.source, run.hexcodes.kernel);
    if (first !== null && JSON.stringify(first) !== JSON.stringify(text.names))
      throw otherNames(text.names, reading.input.name, nameOf(run.request.inputs[0]!));
    const whole = new WholeCsv(run, reading, text, memory);
    if (first === null && !reading.isDone) await whole.writeHead();
    first = text.names;
    return whole;
  });
}

interface Memory {
  readonly sink: ByteSink;
  readonly buffer: Uint8Array<ArrayBuffer>;
}

class WholeCsv implements WholeInput {
  readonly start: number;
  readonly work: { readonly kind: 'rows'; readonly job: BulkJob };
  readonly sliceBytes = BLOCK_BYTES;
  readonly #shape: CsvShape;
  readonly #added: readonly TableColumn[];

  /** @throws CliFailure where a column is missing, or an added column has the name of one of the input */
  constructor(
    private readonly run: Run,
    private readonly reading: Reading,
    private readonly text: CsvText,
    private readonly memory: Memory,
  ) {
    const { request } = run;
    const { columns, operation, isFormer, hasCertainty = false } = request;
    const { delimiter, hasHeader } = run.source;
    const { names, lineEnd } = text;
    const file = reading.input.name;
    const isEncode = operation === 'encode';
    const sample = { names, rows: run.sample?.rows ?? [] };
    const where = isEncode ? findPosition(sample, columns, file, hasHeader) : null;
    if (where !== null && where.kind !== 'pair')
      throw badInput({ file }, 'the position is in another column');
    const resolution = isEncode ? resolutionColumn(names, file) : -1;
    const isCode = (code: string): boolean => run.hexcodes.isValid(code);
    const hexcodes = isEncode ? -1 : codeColumn(sample, columns, file, isCode, hasHeader);
    const ours = isEncode
      ? ourColumns({ hasResolution: resolution >= 0, isFormer, hasCertainty, isSorted: false })
      : DECODE_ADDED;
    const kept = names.map((name) => ({ ...TEXT, name }));
    this.#added = addedColumns(ours, kept, columns.prefix, file);
    const [lat, lng] = [where?.lat ?? -1, where?.lng ?? -1];
    this.#shape = { columns: names.length, lat, lng, resolution, hexcodes, lineEnd };
    this.start = text.endOffset;
    this.work = {
      kind: 'rows',
      job: {
        operation,
        input: 'csv',
        output: 'csv',
        resolution: request.resolution,
        extras: extrasOf({ former: isFormer, certainty: hasCertainty }),
        delimiter: delimiter.charCodeAt(0),
        wantsReport: true,
        csv: this.#shape,
      },
    };
  }

  /** Writes the header to new outputs. */
  async writeHead(): Promise<void> {
    const { targets, source } = this.run;
    const { delimiter, hasHeader } = source;
    const { bytes, lead, lineEnd } = this.text;
    const bare = bytes.subarray(0, textEnd(bytes, 0, bytes.length));
    const fields = this.#added.map(({ name }) => csvQuoted(name, delimiter));
    const row = hasHeader ? extendedHeader(bare, fields, delimiter, lineEnd) : bare;
    const head = Buffer.concat([lead, row]);
    if ((targets.from?.outputOffset ?? 0) === 0) await targets.output.write(head);
    if ((targets.from?.rejectsOffset ?? 0) === 0) await targets.rejects?.write(head);
  }

  blocks(from: number): AsyncIterable<Uint8Array> {
    return this.text.blocks(from, () => this.reading.rows + 1);
  }

  convert(block: Uint8Array): Answer & { readonly restAt: number } {
    const { hexcodes, targets } = this.run;
    const { sink, buffer } = this.memory;
    const given = targets.output.holdsBytes ? undefined : buffer;
    try {
      const answer = convertBlock(hexcodes.kernel, this.work.job, block, given, sink);
      return { ...answer, report: answer.report!, restAt: block.length };
    } catch (error) {
      if (!(error instanceof BulkInputError)) throw error;
      this.#refuseRagged(block);
      throw badInput({ file: this.reading.input.name, row: this.reading.rows + 1 }, error.message);
    }
  }

  /** @throws CliFailure for the first row of a block that has more or fewer fields than the header */
  #refuseRagged(block: Uint8Array): void {
    const { delimiter } = this.work.job;
    const { columns } = this.#shape;
    let row = this.reading.rows;
    eachRow(block, delimiter, (start, end) => {
      row++;
      const fault = rowFault(block, start, end, delimiter, columns);
      if (fault !== undefined) throw badInput({ file: this.reading.input.name, row }, fault);
    });
  }

  async mended(block: Uint8Array, answer: Answer): Promise<Answer> {
    if (this.work.job.operation !== 'encode' || answer.byStatus[INVALID_REQUEST] === 0) return answer;
    const { lat, lng, columns } = this.#shape;
    const { delimiter } = this.work.job;
    const angles: { readonly failed: FailedRow; readonly fields: readonly string[] }[] = [];
    for (const failed of failedRowsOf(answer.report)) {
      if (failed.status !== 'INVALID_REQUEST') continue;
      const { start, end } = failed;
      const fields = fieldsOf(block, start, end, delimiter);
      if (fields.length !== columns || !isAngle(fields[lat]!, fields[lng]!)) continue;
      if (rowFault(block, start, end, delimiter, columns) === undefined) angles.push({ failed, fields });
    }
    if (angles.length === 0) return answer;
    countSlow('file', 'number', angles.length);
    const byAdmin = new Uint32Array(ADMIN_UNITS.length);
    const slow: SlowAnswer[] = [];
    for (let from = 0; from < angles.length; from += ANGLES) {
      const some = angles.slice(from, from + ANGLES);
      const ours = this.#ofNumbers(some.map(({ fields }) => fields));
      for (const [admin, rows] of ours.byAdmin.entries()) byAdmin[admin]! += rows;
      for (const [n, { failed }] of some.entries()) {
        const was = answer.bytes.subarray(failed.answerStart, failed.answerEnd);
        const lineEnd = was.subarray(was.length - (was.at(-2) === CR ? 2 : 1));
        const bytes = Buffer.concat([block.subarray(failed.start, failed.end), ours.texts[n]!, lineEnd]);
        slow.push({ ...failed, status: ours.statuses[n]!, bytes });
      }
    }
    return spliced(answer, slow, [], byAdmin);
  }

  /** Our fields of rows, by the kernel: their positions become numbers. */
  #ofNumbers(rows: readonly (readonly string[])[]) {
    const { job } = this.work;
    const { lat, lng, resolution: own } = this.#shape;
    const delimiter = String.fromCharCode(job.delimiter);
    const lines = rows.map((fields) => {
      const degrees = [degreesOf(TEXT, fields[lat]!, 'lat'), degreesOf(TEXT, fields[lng]!, 'lng')];
      return [...degrees, ...(own < 0 ? [] : [resolutionIn(fields[own]!, job.resolution)])].join(delimiter);
    });
    const resolution = own < 0 ? -1 : 2;
    const csv = {
      columns: own < 0 ? 2 : 3,
      lat: 0,
      lng: 1,
      resolution,
      hexcodes: -1,
      lineEnd: '\n',
    } as const;
    const block = Buffer.from(`${lines.join('\n')}\n`);
    const { bytes, report } = convertBlock(this.run.hexcodes.kernel, { ...job, csv }, block);
    const statuses = new Array<RowStatus>(rows.length).fill('OK');
    for (const { row, status } of failedRowsOf(report!)) statuses[row] = status;
    const answers = Buffer.from(bytes).toString().split('\n');
    const texts = lines.map((line, n) => Buffer.from(answers[n]!.slice(line.length)));
    return { texts, statuses, byAdmin: report!.byAdmin };
  }

  explain(block: Uint8Array, { status, start, end }: FailedRow): Explained {
    const { columns, lat, lng, hexcodes } = this.#shape;
    const { delimiter } = this.work.job;
    const ofRow = rowFault(block, start, end, delimiter, columns);
    if (ofRow !== undefined) return { fault: () => ofRow };
    const fields = fieldsOf(block, start, end, delimiter);
    const fault = (): string => faultIn(status as RowFailure, this.#readFields(fields));
    return hexcodes >= 0 ? { fault } : { degrees: [numberIn(fields[lat]!), numberIn(fields[lng]!)], fault };
  }

  #readFields(fields: readonly string[]): ReadFields {
    const { lat, lng, hexcodes, resolution: at } = this.#shape;
    const field = (column: number): Field => ({ name: this.text.names[column]!, text: fields[column]! });
    const isWrong = at >= 0 && readResolution(withoutBlanks(fields[at]!)) < 0;
    const resolution = isWrong ? field(at) : null;
    if (hexcodes >= 0) return { kind: 'whole', field: field(hexcodes), resolution };
    const [first, second] = [lat, lng].map((column) => ({
      ...field(column),
      degrees: numberIn(fields[column]!),
    }));
    return { kind: 'pair', lat: first!, lng: second!, resolution };
  }
}

/** Whether a pair is a position with a text that is not a plain number. */
function isAngle(lat: string, lng: string): boolean {
  if (![lat, lng].some((text) => Number.isNaN(numberIn(text)) || text.includes('+'))) return false;
  return !Number.isNaN(degreesOf(TEXT, lat, 'lat')) && !Number.isNaN(degreesOf(TEXT, lng, 'lng'));
}

const numberIn = (field: string): number => Number(plainNumber(field));
