// A run over files of points: progress, Ctrl-C, and an output that is complete or absent.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { cellAdminAt, cellStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { type ColumnChoice, isNothing, refuseTwice } from '../columns/columns.js';
import {
  findPosition,
  type PositionColumns,
  positionIndexes,
  positionReader,
  withoutContradictions,
} from '../columns/position-columns.js';
import { type Input, type InputOptions, openInput, statOf, withoutEmpty } from '../disk/input.js';
import { CliFailure } from '../exit-codes.js';
import { type FileFormat, FORMATS, formatOf } from '../format.js';
import { openText } from '../formats/csv/csv.js';
import { type CsvChoice, type CsvDialect, dialectOf } from '../formats/csv/dialect.js';
import { CsvRowReader } from '../formats/csv/read-csv.js';
import { NdjsonRowReader } from '../formats/ndjson/read-ndjson.js';
import { openSource, sampled } from '../formats/open.js';
import type { TableColumn, TableRows, TableSource } from '../formats/table.js';
import { MAX_COLUMNS, numberIn, type TextRows, textAt } from '../rows/text-rows.js';
import { Interruption, Progress } from '../terminal/progress.js';
import { counted } from '../terminal/say.js';
import { RowsOutput, type RowsOutputRequest } from './rows-output.js';
import { indexesOf, type PointRows, refuseUnread, type WantedColumns, type WantedNames } from './values.js';

// Positions of CSV, TSV and NDJSON by the kernel's scan, with the values of requested columns.

/** Texts whose position is in two columns. */
interface PointText {
  readonly format: FileFormat;
  readonly dialect: CsvDialect;
  readonly columns: readonly TableColumn[];
  readonly lat: number;
  readonly lng: number;
}

/** All rows of an input. @throws CliFailure BAD_INPUT as the sources of formats/ */
async function* textPoints(
  kernel: Kernel,
  input: Input,
  text: PointText,
  wanted: WantedColumns,
): AsyncGenerator<PointRows> {
  // Numbers of JSON can replace their texts where these equal the printed numbers.
  const isNumber = (column: number): boolean => text.columns[column]!.kind === 'double';
  const numbers = [...wanted.numbers, ...wanted.others.filter(isNumber)];
  const others = wanted.others.filter((column) => !isNumber(column));
  for await (const rows of text.format === 'ndjson'
    ? ndjsonRows(kernel, input, text, [...numbers, ...others])
    : csvRows(kernel, input, text)) {
    const { rowCount, latLngDeg } = rows;
    const values: unknown[][] = [];
    for (const column of numbers) values[column] = numbersIn(rows, column);
    for (const column of others) values[column] = textsIn(rows, column);
    yield { rows: { rowCount, values }, latLngDeg: latLngDeg.slice(0, 2 * rowCount) };
  }
}

async function* csvRows(
  kernel: Kernel,
  input: Input,
  { dialect, lat, lng }: PointText,
): AsyncGenerator<TextRows> {
  const text = await openText(input, dialect, kernel);
  const delimiter = dialect.delimiter.charCodeAt(0);
  const reader = new CsvRowReader(
    kernel,
    text.names,
    delimiter,
    { lat, lng, code: -1, own: -1 },
    kernel.capacity,
  );
  let before = 0;
  for await (const { rows } of reader.windows(text, text.endOffset, () => before + 1)) {
    yield rows;
    before += rows.rowCount;
  }
}

async function* ndjsonRows(
  kernel: Kernel,
  input: Input,
  { columns, lat, lng }: PointText,
  wanted: readonly number[],
): AsyncGenerator<TextRows> {
  const read = [...new Set([lat, lng, ...wanted])];
  const position = { lat, lng, code: -1, own: -1 };
  const shape = { columns, ...position, read, most: kernel.capacity, fit: 'any', isJson: true } as const;
  for await (const { rows } of new NdjsonRowReader(kernel, shape).windows(input, 0, 0)) yield rows;
}

function textsIn({ text, rowCount, columns }: TextRows, column: number): (string | null)[] {
  const { starts, ends } = columns[column]!;
  const { buffer, byteOffset, length } = text.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  const texts = new Array<string | null>(rowCount);
  for (let row = 0; row < rowCount; row++)
    texts[row] = starts[row]! < 0 ? null : bytes.toString('utf8', starts[row], ends[row]);
  return texts;
}

/** Short decimal numbers as their values, other texts as they are. */
function numbersIn(rows: TextRows, column: number): (string | number | null)[] {
  const values = new Array<string | number | null>(rows.rowCount);
  const { text, columns } = rows;
  const { starts, ends } = columns[column]!;
  for (let row = 0; row < rows.rowCount; row++) {
    const start = starts[row]!;
    const value = start < 0 ? null : numberIn(text.bytes, start, ends[row]!);
    values[row] = Number.isNaN(value) ? textAt(rows, column, row) : value;
  }
  return values;
}

// Files of points as batches of rows, each with its position. Any format, any length: only one batch is held.

export interface PointFiles {
  /** Paths; `-` is stdin. */
  readonly inputs: readonly string[];
  readonly from: FileFormat | null;
  readonly columns: ColumnChoice;
  readonly csv: CsvChoice;
  readonly input: InputOptions;
  /** The only columns whose values are read, by names that options gave; without it all of them are. */
  readonly wanted?: WantedNames;
}

/** Rows of one file. */
export interface PointBatch {
  readonly columns: readonly TableColumn[];
  /** Rows without the values of columns that were not requested. */
  readonly rows: TableRows;
  /** lat, lng of each row in degrees; NaN where there is none. */
  readonly latLngDeg: Float64Array;
  /** Indexes of the columns lat and lng; none where one column holds both. */
  readonly pair: readonly number[];
  /** Name of the file in messages. */
  readonly file: string;
  /** Number of the first row, from 1. */
  readonly firstRow: number;
  /** Bytes read from all files so far. */
  readonly readBytes: number;
}

/** @throws CliFailure for a file that cannot be read or has no position, also between batches */
async function* pointBatches(hexcodes: Hexcodes, files: PointFiles): AsyncGenerator<PointBatch> {
  const isCode = (text: string): boolean => hexcodes.isValid(text);
  let earlierBytes = 0;
  for (const path of await withoutEmpty(files.inputs, files.from, files.input)) {
    const input = await openInput(path, files.input);
    let read = input;
    try {
      const format = formatOf(input, files.from);
      const dialect = dialectOf(input, { from: format }, files.csv, isCode, files.columns);
      const pruned = format === 'parquet' ? await prunedParquet(input, files) : null;
      if (pruned !== null) {
        yield* batchesOf(pruned.rows(), pruned.columns, [], input, earlierBytes);
        continue;
      }
      const { source, sample } = await sampled(await openSource(input, format, 'any', dialect));
      refuseTwice(source.columns, input.name, 'Give one of them another name in the header.');
      const { columns } = source;
      if (isNothing(sample)) continue;
      const hasHeader = FORMATS[format].delimiter === null || dialect.hasHeader;
      const where = findPosition(sample, files.columns, input.name, hasHeader);
      const indexes = positionIndexes(where);
      for (const index of indexes) refuseUnread(columns[index]!, input.name);
      const pair = indexes.length === 2 ? indexes : [];
      if (where.kind === 'pair' && canScan(input, format, files, columns.length)) {
        // The first rows have been read.
        input.close();
        read = await openInput(path, files.input);
        const { lat, lng } = where;
        const text = { format, dialect, columns, lat, lng };
        const rows = textPoints(hexcodes.kernel, read, text, indexesOf(columns, files.wanted!));
        yield* batchesOf(rows, columns, pair, read, earlierBytes);
      } else yield* batchesOf(allValues(source, where), columns, pair, input, earlierBytes);
    } finally {
      earlierBytes += read.sizeBytes ?? read.readBytes();
      read.close();
    }
  }
}

/** Batches of a file; an empty one if it has no rows, so that its columns are known. */
async function* batchesOf(
  points: AsyncIterable<PointRows>,
  columns: readonly TableColumn[],
  pair: readonly number[],
  input: Input,
  earlierBytes: number,
): AsyncGenerator<PointBatch> {
  let firstRow = 1;
  for await (const { rows, latLngDeg } of points) {
    const readBytes = earlierBytes + input.readBytes(firstRow - 1 + rows.rowCount);
    yield { columns, rows, latLngDeg, pair, file: input.name, firstRow, readBytes };
    firstRow += rows.rowCount;
  }
  if (firstRow > 1) return;
  const rows = { rowCount: 0, values: columns.map(() => []) };
  const readBytes = earlierBytes + input.readBytes(0);
  yield { columns, rows, latLngDeg: new Float64Array(), pair, file: input.name, firstRow, readBytes };
}

async function prunedParquet(input: Input, { columns, wanted }: PointFiles) {
  if (wanted === undefined || input.file === null) return null;
  return (await import('./parquet-points.js')).parquetPoints(input, columns, wanted);
}

/** Whether the kernel's scan reads the positions of an input: rows of CSV, or lines of NDJSON. */
function canScan(
  { path, sizeBytes }: Input,
  format: FileFormat,
  { wanted }: PointFiles,
  columns: number,
): boolean {
  if (wanted === undefined || path === null || sizeBytes === null || columns > MAX_COLUMNS) return false;
  return format === 'ndjson' || FORMATS[format].delimiter !== null;
}

async function* allValues(source: TableSource, where: PositionColumns): AsyncGenerator<PointRows> {
  const { columns } = source;
  const read = positionReader(columns, where);
  for await (const batch of source.batches()) {
    const rows = withoutContradictions(batch, columns, positionIndexes(where));
    const latLngDeg = new Float64Array(2 * rows.rowCount);
    read(rows, latLngDeg);
    yield { rows, latLngDeg };
  }
}

interface CellOfRow {
  readonly row: number;
  /** 0n where the status is not OK. */
  readonly cell: bigint;
  readonly admin: number;
  readonly status: number;
}

/** The cell of each row of a batch. */
export function* cellsOf(
  hexcodes: Hexcodes,
  { latLngDeg }: PointBatch,
  resolution: number,
): Generator<CellOfRow> {
  const { capacity, exports, input, output, outputCells } = hexcodes.kernel;
  const rows = latLngDeg.length / 2;
  for (let from = 0; from < rows; from += capacity) {
    const count = Math.min(capacity, rows - from);
    input.set(latLngDeg.subarray(2 * from, 2 * (from + count)));
    exports.encodeCells(count, resolution);
    // The caller may use the kernel between two rows.
    const cells = outputCells.slice(0, count);
    const rest = output.slice(0, cellStatusAt(count, count));
    for (let i = 0; i < count; i++) {
      const [admin, status] = [rest[cellAdminAt(count, i)]!, rest[cellStatusAt(count, i)]!];
      yield { row: from + i, cell: cells[i]!, admin, status };
    }
  }
}

interface PointRun {
  readonly files: PointFiles;
  /** Paths of other files that were read. */
  readonly lists?: readonly string[];
  readonly output: Omit<RowsOutputRequest, 'inputs'>;
  readonly isQuiet: boolean;
  take(batch: PointBatch, output: RowsOutput): Promise<void> | void;
  /** After the last batch. */
  end?(output: RowsOutput): Promise<void>;
  /** Called at the end of the run, even if it failed. */
  cleanUp?(): void;
}

/**
 * @returns the number of rows, and the duration
 * @throws CliFailure, also for an interruption; no output remains then
 */
export async function runPoints(
  hexcodes: Hexcodes,
  run: PointRun,
): Promise<{ rows: number; elapsedMs: number }> {
  const { inputs } = run.files;
  const stats = inputs.map(statOf);
  const isSized = stats.every(({ sizeBytes }) => sizeBytes !== null);
  const totalBytes = isSized ? stats.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0) : null;
  const output = new RowsOutput({ inputs: [...inputs, ...(run.lists ?? [])], ...run.output });
  const progress = new Progress(run.isQuiet, 0);
  const interruption = new Interruption();
  let rows = 0;
  try {
    for await (const batch of pointBatches(hexcodes, run.files)) {
      await run.take(batch, output);
      rows += batch.rows.rowCount;
      progress.update({ rows, failedRows: 0, readBytes: batch.readBytes, totalBytes });
      if (interruption.isAsked)
        throw new CliFailure(
          interruption.exitCode,
          `interrupted after ${counted(rows, 'row')}`,
          'The unfinished output was removed.',
        );
    }
    await run.end?.(output);
    await output.finish();
    return { rows, elapsedMs: progress.elapsedMs };
  } catch (error) {
    output.abandon();
    throw error;
  } finally {
    run.cleanUp?.();
    progress.stop();
    interruption.end();
  }
}
