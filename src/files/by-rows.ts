// From one format into another by rows of bytes: values are ranges of bytes that are copied, coordinates are doubles,
// and our columns come from the kernel's records. by-columns.ts converts what does not fit.

import { OK } from '../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../hexcodes/wire/job.js';
import { looksSwapped } from '../hexcodes/wire/swapped.js';
import { isSameType } from './by-chunks-plan.js';
import { sampled } from './by-columns.js';
import { keptColumns, otherColumns, type Sample } from './columns/columns.js';
import { addedValues } from './columns/encode-columns.js';
import { findPosition, resolutionColumn } from './columns/position-columns.js';
import { rowConverter } from './convert-rows.js';
import { type Input, openInput, statOf } from './disk/input.js';
import { type FileFormat, FORMATS, formatOfName } from './format.js';
import { SAMPLE_ROWS } from './formats/csv-dialect.js';
import { readHeader } from './formats/csv-header.js';
import type { KnownFeatures } from './formats/json/geojson-source.js';
import { openSource } from './formats/open.js';
import { adminOf } from './formats/parquet/own-columns.js';
import { elementOf } from './formats/parquet/parquet-types.js';
import type { ColumnKind, TableColumn } from './formats/table.js';
import { textOf } from './formats/values/column-text.js';
import type { Run } from './request.js';
import { plainTextAt } from './rows/plain-values.js';
import { CsvRowReader } from './rows/read-csv.js';
import type { RowPlan } from './rows/row-plan.js';
import { RowWriters } from './rows/row-writers.js';
import { type TextRows, textAt } from './rows/text-rows.js';
import { type Degrees, faultIn, type RowFailure, SWAP_TRIES, stopped } from './tally.js';
import { columnsOfDegrees, columnsOfDoubles, lookAtFiles } from './typed-inputs.js';

/** Rows of a window at most; the kernel takes as many. */
const MAX_ROWS = 4096;

const NO_BYTES = new Uint8Array(0);
const WRITTEN: ReadonlySet<FileFormat> = new Set(['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow']);
/** Columns of a source at most: each has its ranges. */
const MAX_COLUMNS = 1000;

/** @returns how a run can be done by rows, or in words why it cannot */
export async function planRows(run: Run): Promise<RowPlan | string> {
  const { request, sourceFormat, targetFormat, hexcodes, targets } = run;
  if (request.operation !== 'encode') return 'codes are read';
  if (request.columns.position !== undefined) return 'positions are in one column';
  const isText = FORMATS[sourceFormat].delimiter !== null;
  const hasTypes = FORMATS[targetFormat].hasTypes;
  const hasMore = request.isFormer || request.hasCertainty === true;
  if (hasMore && hasTypes) return 'former provinces and certainty are asked for';
  if (request.hasCertainty === true && request.csv.decimal === ',') return 'numbers have a decimal comma';
  const isNdjson = sourceFormat === 'ndjson' && (hasTypes || FORMATS[targetFormat].delimiter !== null);
  if (isText && request.sort !== null) return 'rows are sorted';
  const hasGroups = sourceFormat === 'parquet' || sourceFormat === 'arrow';
  if (!isText && !isNdjson && !hasGroups) return `from ${sourceFormat} to ${targetFormat}`;
  const rejects =
    targets.rejects === null ? null : (formatOfName(targets.rejects.name).format ?? targetFormat);
  for (const format of [targetFormat, rejects])
    if (format !== null && !WRITTEN.has(format)) return `to ${format}`;
  // Columns have types where any of the two files has some.
  const isTyped = FORMATS[targetFormat].delimiter === null;
  if (rejects !== null && request.sort !== null) return 'rows are sorted, and failed ones are taken out';
  if (rejects !== null && rejects !== targetFormat) return 'failed rows go to another format';
  if (targets.from !== null && targets.from.inputRows > 0 && targets.from.inputOffset === 0 && !hasGroups)
    return 'an earlier run was converted value by value';
  try {
    const found = isText
      ? await textSample(run)
      : isNdjson
        ? await ndjsonSample(run, hasTypes)
        : sourceFormat === 'parquet'
          ? await parquetSample(run, hasTypes)
          : await arrowSample(run);
    if (typeof found === 'string') return found;
    const { columns, sample } = found;
    const { names } = sample;
    if (names.length > MAX_COLUMNS) return `more than ${MAX_COLUMNS} columns`;
    if (resolutionColumn(names, request.inputs[0]!) >= 0) return 'rows have resolutions of their own';
    const hasHeader = !isText || run.source.hasHeader;
    const where = findPosition(sample, request.columns, request.inputs[0]!, hasHeader);
    if (where.kind !== 'pair') return 'positions are in one column';
    if (names.some((name, i) => names.indexOf(name) !== i)) return 'the header names a column twice';
    const needsPosition = FORMATS[targetFormat].needsPosition;
    const { columns: sink, position } = rowConverter(hexcodes, request, {
      columns,
      sample,
      hasHeader,
      file: request.inputs[0]!,
      isTyped,
      needsPosition,
      isSorted: request.sort !== null,
    });
    if (needsPosition && (position.lat < 0 || position.lng < 0)) return 'the position is left out';
    const kept = keptColumns(columns, request.columns, request.inputs[0]!);
    if (new Set(kept).size !== kept.length) return 'a column is kept twice';
    return {
      source: isText ? 'text' : isNdjson ? 'ndjson' : (sourceFormat as 'parquet' | 'arrow'),
      columns,
      lat: where.lat,
      lng: where.lng,
      kept,
      sink,
      position,
      format: targetFormat,
      rejects,
      isTyped: hasTypes && !isText,
    };
  } catch {
    // by-columns.ts meets the same fault, and says it.
    return 'the first rows have a fault';
  }
}

interface Found {
  readonly columns: readonly TableColumn[];
  readonly sample: Sample;
}

/** The columns of a CSV by its first rows, or in words why they are not known without reading a pipe. */
async function textSample({ request, sample, source, sourceFormat }: Run): Promise<Found | string> {
  const isPipe = request.inputs[0] === '-' || statOf(request.inputs[0]!).sizeBytes === null;
  if (sample !== null && sample.rows.length >= (isPipe ? 1 : SAMPLE_ROWS))
    return { columns: sample.names.map((name) => ({ name, kind: 'text' })), sample };
  if (isPipe) return 'the first row of a pipe is long';
  const input = await openInput(request.inputs[0]!, request.input);
  try {
    const opened = await sampled(await openSource(input, sourceFormat, 'any', source));
    return { columns: opened.source.columns, sample: opened.sample };
  } finally {
    input.close();
  }
}

/** The columns of NDJSON by its first rows, or by all rows, or in words why they are not read here. */
async function ndjsonSample(run: Run, hasTypes: boolean): Promise<Found | string> {
  const { request, source, hexcodes } = run;
  if (request.inputs.length > 1 && !hasTypes) return 'several files of NDJSON';
  const [path] = request.inputs;
  for (const each of request.inputs)
    if (each === '-' || statOf(each).sizeBytes === null) return 'the input is a pipe';
  let known: KnownFeatures | null = null;
  if (hasTypes) {
    const { surveyByLines } = await import('./rows/survey-ndjson.js');
    const tick = (): void => run.tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 });
    known = {
      columns: await surveyByLines(hexcodes.kernel, request.inputs, request.input, MAX_COLUMNS, tick),
      idName: 'id',
    };
  }
  const input = await openInput(path!, request.input);
  try {
    const fit = hasTypes ? 'types' : 'names';
    const opened = await sampled(await openSource(input, 'ndjson', fit, source, known));
    const { columns } = opened.source;
    const read: readonly ColumnKind[] = ['text', 'double', 'boolean'];
    const other = columns.find(({ kind }) => !hasTypes && !read.includes(kind));
    if (other !== undefined) return `${other.name} has values of several kinds`;
    const where = findPosition(opened.sample, request.columns, path!);
    const ofPosition: readonly ColumnKind[] = ['text', 'double', 'long'];
    if (where.kind === 'pair' && [where.lat, where.lng].some((i) => !ofPosition.includes(columns[i]!.kind)))
      return 'positions are no numbers';
    return { columns, sample: opened.sample };
  } finally {
    input.close();
  }
}

/** The columns of Parquet, the same in all inputs, or in words why they are not read here. */
async function parquetSample(run: Run, hasTypes: boolean): Promise<Found | string> {
  const { request, targetFormat } = run;
  const { readParquet } = await import('./formats/parquet/parquet-source.js');
  let first: readonly TableColumn[] = [];
  let files = 0;
  const reason = await lookAtFiles(run, async (input) => {
    const { fields, elements } = await readParquet(input);
    const columns = fields.map(({ column }) => column);
    if (files++ > 0 && JSON.stringify(first) !== JSON.stringify(columns))
      return `${input.name} has other columns or types`;
    first = columns;
    const names = columns.map(({ name }) => name);
    const where = columnsOfDoubles(run, names, elements, input.name);
    if (typeof where === 'string') return where;
    for (const index of keptColumns(columns, request.columns, input.name)) {
      const { column, shape } = fields[index]!;
      if (shape === null || shape.is !== 'leaf' || column.kind === 'json' || elements[index] === null)
        return `${column.name} is nested`;
      // Times of UTC are texts in Arrow.
      const isOther = targetFormat === 'arrow' && column.kind === 'time' && column.isUtc === true;
      if (hasTypes && (isOther || !isSameType(elements[index]!, elementOf(column))))
        return `${column.name} is written as another type`;
    }
    return undefined;
  });
  return reason ?? { columns: first, sample: { names: first.map(({ name }) => name), rows: [] } };
}

/** The columns of Arrow, the same in all inputs, or in words why they are not read here. */
async function arrowSample(run: Run): Promise<Found | string> {
  const { request, targetFormat } = run;
  const { readArrow } = await import('./formats/arrow/arrow-source.js');
  const { holdsDegrees, reasonAgainst } = await import('./rows/read-arrow.js');
  let first: readonly TableColumn[] = [];
  let files = 0;
  const reason = await lookAtFiles(run, async (input) => {
    const { fields } = await readArrow(input);
    const columns = fields.map(({ column }) => column);
    if (files++ > 0 && JSON.stringify(first) !== JSON.stringify(columns))
      return `${input.name} has other columns or types`;
    first = columns;
    const names = columns.map(({ name }) => name);
    const where = columnsOfDegrees(run, names, (index) => holdsDegrees(fields[index]!), input.name);
    if (typeof where === 'string') return where;
    for (const index of keptColumns(columns, request.columns, input.name)) {
      const { column } = fields[index]!;
      const against = reasonAgainst(fields[index]!);
      if (against !== undefined) return against;
      // Times of UTC are texts in Arrow.
      if (targetFormat === 'arrow' && column.kind === 'time' && column.isUtc === true)
        return `${column.name} is written as another type`;
    }
    return undefined;
  });
  return reason ?? { columns: first, sample: { names: first.map(({ name }) => name), rows: [] } };
}

/** @throws CliFailure */
export async function convertByRows(run: Run, plan: RowPlan): Promise<void> {
  const writers = await RowWriters.open(run, plan);
  const conversion = new RowConversion(run, plan, writers);
  try {
    await convertInputs(run, plan, conversion);
    await writers.close();
  } finally {
    writers.remove();
  }
}

async function convertInputs(
  { request, targets, open }: Run,
  plan: RowPlan,
  conversion: RowConversion,
): Promise<void> {
  for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
    const input = await open(inputNumber);
    const isDone = targets.from !== null && inputNumber < targets.from.inputNumber;
    if (plan.source === 'text') await conversion.convertText(input, inputNumber, isDone);
    else if (plan.source === 'ndjson') await conversion.convertNdjson(input, inputNumber);
    else if (!isDone) await conversion.convertGroups(input, inputNumber);
  }
}

class RowConversion {
  readonly #run: Run;
  readonly #plan: RowPlan;
  readonly #writers: RowWriters;

  constructor(run: Run, plan: RowPlan, writers: RowWriters) {
    this.#run = run;
    this.#plan = plan;
    this.#writers = writers;
  }

  /** @param isDone whether an earlier run has converted the input */
  async convertText(input: Input, inputNumber: number, isDone: boolean): Promise<void> {
    const { source, targets, request } = this.#run;
    const { columns, lat, lng } = this.#plan;
    const chunks = input.chunks()[Symbol.asyncIterator]();
    const { names, rest, endOffset: headerBytes } = await readHeader(input, chunks, source);
    if (JSON.stringify(names) !== JSON.stringify(columns.map(({ name }) => name)))
      throw otherColumns(names, input.name, request.inputs[0]!);
    if (isDone) return;
    const from = inputNumber === targets.from?.inputNumber ? targets.from : { inputOffset: 0, inputRows: 0 };
    const skip = Math.max(0, from.inputOffset - headerBytes);
    const { kernel } = this.#run.hexcodes;
    const reader = new CsvRowReader(kernel, names, source.delimiter.charCodeAt(0), lat, lng, MAX_ROWS);
    let rows = from.inputRows;
    const { plain } = input;
    // The bytes behind the header are read again, into memory that is used again.
    const content =
      plain === null
        ? { chunks, rest, toSkip: skip }
        : { chunks: plain.chunksFrom(headerBytes + skip), rest: NO_BYTES, toSkip: 0 };
    const start = { ...content, offset: headerBytes + skip, skippedRows: rows };
    for await (const { rows: window, endOffset } of reader.windows(input, start)) {
      await this.#convert(window, input.name, rows + 1);
      rows += window.rowCount;
      // A journal names the end of a block, where an input can be read on.
      if (endOffset >= 0) this.#run.tick({ inputNumber, inputOffset: endOffset, inputRows: rows });
    }
  }

  async convertNdjson(input: Input, inputNumber: number): Promise<void> {
    const { from } = this.#run.targets;
    const { columns, lat, lng, isTyped } = this.#plan;
    const { NdjsonRowReader } = await import('./rows/read-ndjson.js');
    const { kernel } = this.#run.hexcodes;
    const reader = new NdjsonRowReader(kernel, columns, lat, lng, MAX_ROWS, isTyped);
    let rows = from?.inputRows ?? 0;
    const start = { skip: from?.inputOffset ?? 0, skippedRows: rows };
    for await (const { rows: window, endOffset } of reader.windows(input, start)) {
      await this.#convert(window, input.name, rows + 1);
      rows += window.rowCount;
      if (endOffset >= 0) this.#run.tick({ inputNumber, inputOffset: endOffset, inputRows: rows });
    }
  }

  /** Converts a file of row groups or record batches. */
  async convertGroups(input: Input, inputNumber: number): Promise<void> {
    const { from } = this.#run.targets;
    let rows = inputNumber === from?.inputNumber ? from.inputRows : 0;
    for await (const window of await this.#windowsOf(input, rows)) {
      await this.#convert(window, input.name, rows + 1);
      rows += window.rowCount;
      this.#run.tick({ inputNumber, inputOffset: 0, inputRows: rows });
    }
  }

  async #windowsOf(input: Input, skippedRows: number): Promise<AsyncGenerator<TextRows>> {
    const { source, lat, lng, kept, isTyped } = this.#plan;
    const wanted = { lat, lng, kept, most: MAX_ROWS, skippedRows, isTyped };
    if (source === 'arrow') {
      const { readArrow } = await import('./formats/arrow/arrow-source.js');
      const { arrowWindows } = await import('./rows/read-arrow.js');
      return arrowWindows(await readArrow(input), input.name, wanted);
    }
    const { readParquet } = await import('./formats/parquet/parquet-source.js');
    const { parquetWindows } = await import('./rows/read-parquet.js');
    return parquetWindows(await readParquet(input), input.name, wanted);
  }

  /** Encodes, counts and writes rows. */
  async #convert(rows: TextRows, file: string, firstRow: number): Promise<void> {
    const { hexcodes, request, targets } = this.#run;
    const { tally } = targets;
    const { rowCount, latLngDeg } = rows;
    const { input, output: records, exports } = hexcodes.kernel;
    input.set(latLngDeg.subarray(0, 2 * rowCount));
    const failed = exports.encodeBatch(rowCount, request.resolution);
    if (failed > 0) this.#noteFailures(rows, records, file, firstRow);
    tally.rows += rowCount;
    for (let row = 0; row < rowCount; row++)
      if (records[recordStatusAt(row)] === OK) tally.byAdmin[adminOf(records, RECORD_BYTES * row)]!++;
    await this.#writers.write(rows, records, failed);
  }

  #noteFailures(rows: TextRows, records: Uint8Array, file: string, firstRow: number): void {
    const { hexcodes, request, targets } = this.#run;
    const { tally } = targets;
    const { rowCount, latLngDeg } = rows;
    let tries = tally.failedRows;
    // In the order in which the rows come.
    const counts = new Map<RowFailure, number>();
    let firstFailed: RowFailure | null = null;
    for (let row = 0; row < rowCount; row++) {
      const status = records[recordStatusAt(row)]!;
      if (status === OK) continue;
      if (tries++ < SWAP_TRIES && looksSwapped(hexcodes.kernel, latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!))
        tally.swapped++;
      const word = ROW_STATUSES[status] as RowFailure;
      firstFailed ??= word;
      counts.set(word, (counts.get(word) ?? 0) + 1);
      if (tally.first.has(word)) continue;
      tally.first.set(word, { file, row: firstRow + row, fault: this.#faultOf(rows, row, word) });
    }
    for (const [word, count] of counts) tally.fail(word, count);
    if (request.errors.kind === 'stop' && firstFailed !== null)
      throw stopped(tally.first.get(firstFailed)!, firstFailed);
  }

  #faultOf(rows: TextRows, row: number, word: RowFailure): string {
    const { columns, lat, lng } = this.#plan;
    const reason = rows.unread?.get(row);
    if (reason !== undefined) return reason;
    const field = (column: number, half: 0 | 1): Degrees => ({
      name: columns[column]!.name,
      text: this.#textAt(rows, column, row, half),
      degrees: rows.latLngDeg[2 * row + half]!,
    });
    return faultIn(word, { kind: 'pair', lat: field(lat, 0), lng: field(lng, 1), resolution: null });
  }

  /** A coordinate of Parquet that is not kept has no text. */
  #textAt(rows: TextRows, column: number, row: number, half: 0 | 1): string {
    const { columns, isTyped } = this.#plan;
    if (rows.columns[column]!.starts.length > 0)
      return isTyped ? plainTextAt(rows, columns, column, row) : textAt(rows, column, row);
    const degrees = rows.latLngDeg[2 * row + half]!;
    const isDefined = (rows.defined?.[half] ?? null)?.[row] !== 0;
    return isDefined ? textOf(columns[column]!, degrees) : '';
  }
}
