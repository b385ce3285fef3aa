// From one format into another by rows of bytes: values are ranges of bytes that are copied, coordinates are doubles,
// and our columns come from the kernel's records. by-values.ts converts what does not fit.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { EACH_ITS_OWN } from '../hexcodes/kernel/kernel.js';
import { ROW_STATUSES } from '../hexcodes/wire/job.js';
import { positionInText, type WholePosition } from '../tables/positions.js';
import { keptColumns, otherNames } from './columns/columns.js';
import { NOT_A_RESOLUTION, resolutionIn } from './columns/encode-columns.js';
import { columnsOfDegrees, isDouble, lookAtFiles } from './columns/position-columns.js';
import { type Found, planOf, readColumns } from './columns/row-plan.js';
import { type Input, nameOf, openInput, statOf } from './disk/input.js';
import type { Batch, Pipeline, Reading } from './driver.js';
import { type FileFormat, FORMATS } from './format.js';
import { openText } from './formats/csv/csv.js';
import { SAMPLE_ROWS } from './formats/csv/dialect.js';
import { CsvRowReader } from './formats/csv/read-csv.js';
import type { KnownFeatures } from './formats/geojson/geojson-source.js';
import { adderOf, inferenceOf, openSource, sampled } from './formats/open.js';
import { countRows, failuresIn } from './formats/parquet/own-columns.js';
import { elementOf, isSameType } from './formats/parquet/parquet-types.js';
import {
  type ColumnKind,
  LINES,
  type ReadColumns,
  type RowFit,
  type RowPlan,
  type TableColumn,
  typesOf,
} from './formats/table.js';
import { codeTextOf, textOf } from './formats/values/column-text.js';
import type { Run } from './request.js';
import { RowDecoder, refuse } from './rows/decode-rows.js';
import type { WantedRows } from './rows/group-windows.js';
import { plainTextAt, textAdder } from './rows/plain-values.js';
import { RowWriters } from './rows/row-writers.js';
import { MAX_COLUMNS, type TextRows, textAt } from './rows/text-rows.js';
import { type Degrees, faultIn, type RowFailure } from './tally.js';

/** Most rows of a window, the capacity of the kernel. */
const MAX_ROWS = 4096;
const ZERO = 0x30;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');

/** Formats of row groups and record batches. */
type GroupFormat = 'parquet' | 'arrow';
const WRITTEN: ReadonlySet<FileFormat> = new Set(['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow']);

/** @returns the plan of a run by rows, or a sentence why it has none */
export async function planRows(run: Run): Promise<RowPlan | string> {
  const { sourceFormat, targetFormat, targets } = run;
  const isText = FORMATS[sourceFormat].delimiter !== null;
  const { hasTypes } = FORMATS[targetFormat];
  const isNdjson = sourceFormat === 'ndjson';
  const hasGroups = sourceFormat === 'parquet' || sourceFormat === 'arrow';
  if (!isText && !isNdjson && !hasGroups) return `from ${sourceFormat} to ${targetFormat}`;
  const against = againstTargets(run);
  if (against !== undefined) return against;
  if (targets.from !== null && targets.from.inputRows > 0 && targets.from.inputOffset === 0 && !hasGroups)
    return 'an earlier run was converted value by value';
  try {
    const found = isText
      ? await textSample(run)
      : isNdjson
        ? await ndjsonSample(run, hasTypes)
        : await groupSample(run, hasTypes);
    if (typeof found === 'string') return found;
    if (found.columns.length > MAX_COLUMNS) return `more than ${MAX_COLUMNS} columns`;
    const plan = planOf(run, found, isText ? 'text' : isNdjson ? 'ndjson' : (sourceFormat as GroupFormat));
    return againstPlan(run, plan) ?? (isNdjson && targetFormat === 'ndjson' ? asLines(plan) : plan);
  } catch {
    // by-values.ts reports the same fault.
    return 'the first rows have a fault';
  }
}

/** Why rows of these columns are not read here, in words. */
function againstPlan({ request, sourceFormat, targetFormat }: Run, plan: RowPlan): string | undefined {
  const { columns, kept, lat, lng, code, own, whole, source } = plan;
  const isPoint = request.input.point !== undefined;
  if (isPoint && code >= 0) return 'a row may become several';
  if (code >= 0 && columns[code]!.kind !== 'text') return 'codes are not texts';
  const { hasTypes, isJson } = FORMATS[targetFormat];
  const isKind = (hasTypes || isJson) && FORMATS[sourceFormat].delimiter === null;
  if (own >= 0 && isKind && !RESOLUTION_KINDS.has(columns[own]!.kind))
    return 'rows have resolutions of their own, which are neither numbers nor texts';
  if (own >= 0 && !kept.includes(own)) return 'rows have resolutions of their own, which are left out';
  if (whole !== undefined && !WHOLE_KINDS.has(columns[whole.column]!.kind))
    return 'positions are bytes or numbers of one column';
  const isOdd = (column: number): boolean => column >= 0 && !PAIR_KINDS.has(columns[column]!.kind);
  if (source === 'ndjson' && (isOdd(lat) || isOdd(lng))) return 'positions are not numbers';
  const names = columns.map(({ name }) => name);
  if (names.some((name, i) => names.indexOf(name) !== i)) return 'the header names a column twice';
  if (new Set(kept).size !== kept.length) return 'a column is kept twice';
  return isPoint && whole !== undefined ? 'a row may become several' : undefined;
}

/** Lines that are passed on whole, where whole-lines.ts does not read their positions. */
function asLines(plan: RowPlan): RowPlan | string {
  const { columns, sink, own, whole } = plan;
  if (whole === undefined) return 'from ndjson to ndjson';
  if (sink.chosen !== undefined) return 'members are chosen';
  const ours = new Set(sink.added.map(({ name }) => name));
  if (columns.some(({ name }) => ours.has(name))) return 'members have the names of ours';
  return { ...plan, kept: [whole.column, own].filter((column) => column >= 0), frame: LINES };
}

/** Why rows are not written here, as a sentence. */
function againstTargets({ request, targetFormat, rejectsFormat: rejects }: Run): string | undefined {
  const hasNumbers = request.operation === 'decode' || request.hasCertainty === true;
  if (hasNumbers && request.csv.decimal === ',') return 'numbers have a decimal comma';
  for (const format of [targetFormat, rejects])
    if (format !== null && !WRITTEN.has(format)) return `to ${format}`;
  if (rejects !== null && request.sort !== null) return 'rows are sorted, and failed ones are taken out';
  if (rejects !== null && rejects !== targetFormat) return 'failed rows go to another format';
  return undefined;
}

const MAX_RESOLUTION = 15;
const INTEGERS: ReadonlySet<ColumnKind> = new Set(['int', 'uint', 'long']);
/** Kinds of resolutions that plainTextAt reads, of positions in one column, and of the two halves in NDJSON. */
const RESOLUTION_KINDS: ReadonlySet<ColumnKind> = new Set(['text', 'int', 'uint', 'long', 'double', 'float']);
export const WHOLE_KINDS: ReadonlySet<ColumnKind> = new Set(['text', 'json']);
const PAIR_KINDS: ReadonlySet<ColumnKind> = new Set(['text', 'double', 'long']);

/** The columns of a CSV by its first rows, or a sentence why they are unknown without reading a pipe. */
async function textSample(run: Run): Promise<Found | string> {
  const { request, sample } = run;
  const isPipe = request.inputs[0] === '-' || statOf(request.inputs[0]!).sizeBytes === null;
  if (sample !== null && sample.rows.length >= (isPipe ? 1 : SAMPLE_ROWS))
    return { columns: sample.names.map((name) => ({ name, kind: 'text' })), sample };
  if (isPipe) return 'the first row of a pipe is long';
  return sampleOf(run, request.inputs[0]!, 'any', null);
}

/** The columns of a file by its first rows. */
async function sampleOf(
  { request, source: dialect, sourceFormat }: Run,
  path: string,
  fit: RowFit,
  known: KnownFeatures | null,
): Promise<Found> {
  const input = await openInput(path, request.input);
  try {
    const { source, sample } = await sampled(await openSource(input, sourceFormat, fit, dialect, known));
    return { columns: source.columns, sample };
  } finally {
    input.close();
  }
}

/** The columns of NDJSON by its first rows, or by all rows, or a sentence why they are not read here. */
async function ndjsonSample(run: Run, hasTypes: boolean): Promise<Found | string> {
  const { request } = run;
  for (const each of request.inputs)
    if (each === '-' || statOf(each).sizeBytes === null) return 'the input is a pipe';
  const isLines = run.targetFormat === 'ndjson';
  const known = hasTypes ? await inferenceOf('ndjson')!(run) : null;
  const fit = hasTypes ? 'types' : isLines ? 'any' : 'names';
  const found = await sampleOf(run, request.inputs[0]!, fit, known);
  const { columns } = found;
  // Without types each file has the columns of its own first rows.
  for (const path of fit === 'names' ? request.inputs.slice(1) : [])
    if (typesOf((await sampleOf(run, path, fit, known)).columns) !== typesOf(columns))
      return `${path} has other columns`;
  return found;
}

/** The columns of a file of row groups or record batches. */
interface GroupColumns {
  readonly columns: readonly TableColumn[];
  isDouble(index: number): boolean;
  /** Why a column is not read here, as a sentence. */
  against(index: number): string | undefined;
}

async function parquetColumns(input: Input, hasTypes: boolean): Promise<GroupColumns> {
  const { readParquet } = await import('./formats/parquet/parquet-source.js');
  const { fields, elements } = await readParquet(input);
  return {
    columns: fields.map(({ column }) => column),
    isDouble: (index) => isDouble(elements, index),
    against(index) {
      const { column, shape } = fields[index]!;
      if (shape === null || shape.is !== 'leaf' || column.kind === 'json' || elements[index] === null)
        return `${column.name} is nested`;
      if (hasTypes && !isSameType(elements[index]!, elementOf(column)))
        return `${column.name} is written as another type`;
      return undefined;
    },
  };
}

async function arrowColumns(input: Input): Promise<GroupColumns> {
  const { readArrow } = await import('./formats/arrow/arrow-source.js');
  const { holdsDegrees, reasonAgainst } = await import('./formats/arrow/read-arrow.js');
  const { fields } = await readArrow(input);
  return {
    columns: fields.map(({ column }) => column),
    isDouble: (index) => holdsDegrees(fields[index]!),
    against: (index) => reasonAgainst(fields[index]!),
  };
}

/** The columns of Parquet or Arrow, equal in all inputs, or a sentence why they are not read here. */
async function groupSample(run: Run, hasTypes: boolean): Promise<Found | string> {
  const { request, sourceFormat, targetFormat } = run;
  let first: readonly TableColumn[] | null = null;
  const reason = await lookAtFiles(run, async (input) => {
    const found =
      sourceFormat === 'arrow' ? await arrowColumns(input) : await parquetColumns(input, hasTypes);
    const { columns } = found;
    if (first !== null && JSON.stringify(first) !== JSON.stringify(columns))
      return `${input.name} has other columns or types`;
    first = columns;
    const names = columns.map(({ name }) => name);
    const read =
      request.operation === 'decode'
        ? readColumns(run, { sample: { names, rows: [] } })
        : columnsOfDegrees(request.columns, names, found.isDouble, input.name);
    if (typeof read === 'string') return read;
    for (const index of readIn({ code: -1, ...read }, keptColumns(columns, request.columns, input.name))) {
      const { name, kind, isUtc } = columns[index]!;
      // Times of UTC are texts in Arrow.
      const isOther = targetFormat === 'arrow' && kind === 'time' && isUtc === true;
      const against = found.against(index) ?? (isOther ? `${name} is written as another type` : undefined);
      if (against !== undefined) return against;
    }
    return undefined;
  });
  const columns: readonly TableColumn[] = first ?? [];
  return reason ?? { columns, sample: { names: columns.map(({ name }) => name), rows: [] } };
}

/** @throws CliFailure */
export async function rowPipeline(run: Run, plan: RowPlan): Promise<Pipeline> {
  return new RowPipeline(run, plan, await RowWriters.open(run, plan));
}

/** The columns whose values are read: those kept, and the codes. */
function readIn({ code }: Pick<ReadColumns, 'code'>, kept: readonly number[]): readonly number[] {
  return code < 0 || kept.includes(code) ? kept : [...kept, code];
}

/** Rows, and the offset from which reading can resume after them. */
interface Window {
  readonly rows: TextRows;
  readonly endOffset: number;
}

/** Converts windows of rows, and writes them. */
export class RowBatches {
  readonly #decoder: RowDecoder | null;
  readonly #byStatus = new Uint32Array(ROW_STATUSES.length);
  readonly #byAdmin = new Uint32Array(ADMIN_UNITS.length);
  /** Each row's own resolution, NOT_A_RESOLUTION for an invalid one. */
  readonly #resolutions = new Uint8Array(MAX_ROWS);

  constructor(
    protected readonly run: Run,
    protected readonly plan: RowPlan,
    private readonly writers: RowWriters,
  ) {
    const { code, codeAt = code, isTyped, format, source } = plan;
    const isWritten = writers.writesDecoded;
    const hasComma = FORMATS[format].delimiter !== null && run.request.csv.decimal === ',';
    const isCounted = source !== 'values';
    const read = { code: codeAt, isTyped, isWritten, isCounted, hasComma };
    this.#decoder = code < 0 ? null : new RowDecoder(run.hexcodes.kernel, read, MAX_ROWS);
  }

  *batchesOf(rows: TextRows, endOffset: number): Generator<Batch> {
    const end = rows.text.at;
    yield this.#batch(rows, endOffset);
    // Values made from the rows before are dropped.
    rows.text.at = end;
  }

  end(): Promise<void> {
    return this.writers.close();
  }

  close(): void {
    this.writers.remove();
  }

  #encode(rows: TextRows): { readonly rows: TextRows; readonly records: Uint8Array } {
    const { hexcodes, request } = this.run;
    const { whole, columns } = this.plan;
    if (whole !== undefined && WHOLE_KINDS.has(columns[whole.column]!.kind)) this.#readWhole(rows, whole);
    const { input, output: records, exports } = hexcodes.kernel;
    const { rowCount, latLngDeg } = rows;
    input.set(latLngDeg.subarray(0, 2 * rowCount));
    const isOwn = this.plan.own >= 0;
    if (isOwn) this.#readResolutions(rows);
    exports.encodeBatch(rowCount, isOwn ? EACH_ITS_OWN : request.resolution);
    const own = this.#resolutions;
    for (let row = 0; isOwn && row < rowCount; row++)
      if (own[row] === NOT_A_RESOLUTION) refuse(records, row, INVALID_REQUEST);
    countRows(records, rowCount, this.#byStatus, this.#byAdmin);
    return { rows: isOwn ? { ...rows, resolutions: own } : rows, records };
  }

  #readWhole(rows: TextRows, where: WholePosition): void {
    const { latLngDeg, rowCount, unread } = rows;
    let views = 0;
    for (let row = 0; row < rowCount; row++) {
      const [latDeg, lngDeg, isView] = positionInText(this.#wholeText(rows, where.column, row), where);
      latLngDeg[2 * row] = latDeg;
      latLngDeg[2 * row + 1] = lngDeg;
      if (isView) views++;
    }
    for (const row of unread?.keys() ?? []) latLngDeg.fill(Number.NaN, 2 * row, 2 * row + 2);
    this.run.targets.tally.views += views;
  }

  /** The whole position of a row, or its code. Texts of JSON have quotes where rows keep them. */
  #wholeText(rows: TextRows, index: number, row: number): string {
    const { columns, isTyped, format } = this.plan;
    const text = textAt(rows, index, row);
    const isJson = columns[index]!.kind === 'json' && (isTyped || FORMATS[format].isJson);
    return isJson ? textOf(columns[index]!, text) : text;
  }

  /** Passes each row's resolution to the kernel, with a placeholder for an invalid one. */
  #readResolutions(rows: TextRows): void {
    const { resolutions } = this.run.hexcodes.kernel;
    for (let row = 0; row < rows.rowCount; row++) {
      const each = this.#resolutionOf(rows, row);
      this.#resolutions[row] = each;
      resolutions[row] = each === NOT_A_RESOLUTION ? 0 : each;
    }
    for (const row of rows.unread?.keys() ?? []) this.#resolutions[row] = NOT_A_RESOLUTION;
  }

  #resolutionOf(rows: TextRows, row: number): number {
    const { own, columns } = this.plan;
    const { kind } = columns[own]!;
    const usual = this.run.request.resolution;
    if (rows.valueAt !== undefined && !RESOLUTION_KINDS.has(kind))
      return resolutionIn(textOf(columns[own]!, rows.valueAt(own, row)), usual);
    const { starts, ends } = rows.columns[own]!;
    const { bytes } = rows.text;
    const start = starts[row]!;
    // A digit needs no text, and neither does a small integer.
    const end = ends[row]!;
    const isInteger = this.plan.isTyped && INTEGERS.has(kind);
    if (isInteger && start >= 0 && bytes[start]! <= MAX_RESOLUTION) {
      let at = start + 1;
      while (at < end && bytes[at] === 0) at++;
      if (at === end) return bytes[start]!;
    } else if (!this.plan.isTyped && start >= 0 && end === start + 1) {
      const digit = bytes[start]! - ZERO;
      if (digit >= 0 && digit <= 9) return digit;
    }
    return resolutionIn(this.#resolutionText(rows, row), usual);
  }

  /** A number of JSON in the form of columns: 9 where it was written as 9.0. */
  #resolutionText(rows: TextRows, row: number): string {
    const { columns, own, isTyped } = this.plan;
    const column = columns[own]!;
    if (rows.valueAt !== undefined && !RESOLUTION_KINDS.has(column.kind)) return this.#told(rows, own, row);
    if (isTyped) return plainTextAt(rows, columns, own, row);
    const text = textAt(rows, own, row);
    return column.kind === 'double' && text !== '' ? textOf(column, Number(text)) : text;
  }

  #batch(given: TextRows, endOffset: number): Batch {
    const { rows, records } =
      this.#decoder?.decode(given, this.#byStatus, this.#byAdmin) ?? this.#encode(given);
    const { rowCount, latLngDeg } = rows;
    const isDecode = this.#decoder !== null;
    return {
      rows: rowCount,
      failed: rowCount - this.#byStatus[0]!,
      byStatus: this.#byStatus,
      byAdmin: this.#byAdmin,
      endOffset,
      failures: () => failuresIn(records, rowCount),
      explain: ({ row, status }) => ({
        ...(isDecode ? {} : { degrees: [latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!] as const }),
        fault: () => this.#faultOf(rows, row, status as RowFailure),
      }),
      write: (wanted) => this.writers.write(rows, records, wanted),
    };
  }

  #faultOf(rows: TextRows, row: number, word: RowFailure): string {
    const { columns, lat, lng, code, own, whole } = this.plan;
    const reason = rows.unread?.get(row);
    if (reason !== undefined) return reason;
    const isWrong = own >= 0 && this.#resolutionOf(rows, row) === NOT_A_RESOLUTION;
    const resolution = isWrong ? { name: columns[own]!.name, text: this.#resolutionText(rows, row) } : null;
    const column = whole?.column ?? code;
    if (column >= 0) {
      const text =
        rows.valueAt === undefined ? this.#wholeText(rows, column, row) : this.#told(rows, column, row);
      const field = { name: columns[column]!.name, text };
      return faultIn(word, { kind: 'whole', field, resolution });
    }
    const field = (column: number, half: 0 | 1): Degrees => ({
      name: columns[column]!.name,
      text: this.#textAt(rows, column, row, half),
      degrees: rows.latLngDeg[2 * row + half]!,
    });
    return faultIn(word, { kind: 'pair', lat: field(lat, 0), lng: field(lng, 1), resolution });
  }

  /** The text of a value of rows that have values. */
  #told(rows: TextRows, column: number, row: number): string {
    return codeTextOf(this.plan.columns[column]!, rows.valueAt!(column, row));
  }

  /** A coordinate of Parquet that is not kept has no text. */
  #textAt(rows: TextRows, column: number, row: number, half: 0 | 1): string {
    const { columns, isTyped } = this.plan;
    if (rows.valueAt !== undefined) return this.#told(rows, column, row);
    if (rows.columns[column]!.starts.length > 0)
      return isTyped ? plainTextAt(rows, columns, column, row) : textAt(rows, column, row);
    const degrees = rows.latLngDeg[2 * row + half]!;
    const isDefined = (rows.defined?.[half] ?? null)?.[row] !== 0;
    return isDefined ? textOf(columns[column]!, degrees) : '';
  }
}

class RowPipeline extends RowBatches implements Pipeline {
  async *batches(reading: Reading): AsyncGenerator<Batch> {
    for await (const { rows, endOffset } of this.#windows(reading))
      if (rows.rowCount > 0) yield* this.batchesOf(rows, endOffset);
  }

  async *#windows(reading: Reading): AsyncGenerator<Window> {
    const { source: dialect, hexcodes, request } = this.run;
    const { source, columns, lat, lng, kept, isTyped, format } = this.plan;
    const { input, isDone, from } = reading;
    // Readers read texts of one column alike.
    const read = { ...this.plan, code: this.plan.whole?.column ?? this.plan.code };
    if (source === 'text') {
      const text = await openText(input, dialect, hexcodes.kernel);
      const { names } = text;
      if (JSON.stringify(names) !== JSON.stringify(columns.map(({ name }) => name)))
        throw otherNames(names, input.name, nameOf(request.inputs[0]!));
      if (isDone) return;
      const delimiter = dialect.delimiter.charCodeAt(0);
      const reader = new CsvRowReader(hexcodes.kernel, names, delimiter, read, MAX_ROWS);
      yield* reader.windows(text, Math.max(text.endOffset, from), () => reading.rows + 1);
      return;
    }
    if (isDone) return;
    if (source === 'ndjson') {
      const isLines = this.plan.frame !== undefined;
      const fit = isTyped ? 'types' : isLines ? 'any' : 'names';
      const { NdjsonRowReader } = await import('./formats/ndjson/read-ndjson.js');
      const isJson = FORMATS[format].isJson;
      const reader = new NdjsonRowReader(hexcodes.kernel, {
        ...read,
        ...(isLines ? { read: kept, replaced: this.plan.sink.added.map(({ name }) => name) } : {}),
        most: MAX_ROWS,
        fit,
        isJson,
      });
      yield* reader.windows(input, from, reading.rows);
      return;
    }
    const addedBy = isTyped ? await adderOf(format) : textAdder;
    const wanted = {
      lat,
      lng,
      kept: readIn(this.plan, kept),
      most: MAX_ROWS,
      skippedRows: reading.rows,
      isTyped,
      adderOf: addedBy,
    };
    for await (const rows of await groupWindows(source as GroupFormat, input, wanted))
      yield { rows, endOffset: 0 };
  }
}

/** The rows of a file of row groups or record batches. */
async function groupWindows(
  format: GroupFormat,
  input: Input,
  wanted: WantedRows,
): Promise<AsyncGenerator<TextRows>> {
  if (format === 'arrow') {
    const { readArrow } = await import('./formats/arrow/arrow-source.js');
    const { arrowWindows } = await import('./formats/arrow/read-arrow.js');
    return arrowWindows(await readArrow(input), input.name, wanted);
  }
  const { readParquet } = await import('./formats/parquet/parquet-source.js');
  const { parquetWindows } = await import('./formats/parquet/read-parquet.js');
  return parquetWindows(await readParquet(input), input.name, wanted);
}
