// The pipeline of values: rows in columns from any format to any other, for files that no other pipeline converts.

import { planOf, RowBatches, typedAdder } from './by-rows.js';
import { otherColumns } from './columns/columns.js';
import { contradictions, type PositionReader, positionReader } from './columns/position-columns.js';
import {
  type ConvertedRows,
  type RowConverter,
  rowConverter,
  rowsWhere,
  shapeFault,
} from './convert-rows.js';
import { nameOf, statOf } from './disk/input.js';
import type { Output } from './disk/output.js';
import type { Batch, Failure, Pipeline, Reading } from './driver.js';
import { type FileFormat, FORMATS } from './format.js';
import { targetDialect } from './formats/csv/dialect.js';
import { FeatureSides, LineSides } from './formats/geojson/feature-rows.js';
import { frameOf, type KnownFeatures } from './formats/geojson/geojson-source.js';
import { inferenceOf, openSink, openSource, sampled } from './formats/open.js';
import {
  type CollectionFrame,
  LINES,
  type RowFit,
  type RowPlan,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
  typesOf,
  type WantedBytes,
} from './formats/table.js';
import type { Run } from './request.js';
import { textAdder, ValueRows } from './rows/plain-values.js';
import { RowWriters } from './rows/row-writers.js';

/**
 * The columns of all inputs of JSON together, for a target with types; null for inputs of other formats, and where
 * one is a pipe, which can be read only once.
 * @throws CliFailure BAD_INPUT for invalid JSON
 */
async function inferAll(run: Run): Promise<KnownFeatures | null> {
  if (run.request.inputs.some((path) => statOf(path).sizeBytes === null)) return null;
  return (await inferenceOf(run.sourceFormat)?.(run)) ?? null;
}

/** Converts and writes rows in the columns of the first input. */
interface Way {
  /** @param skipped number of first rows that an earlier run has converted */
  batches(rows: TableRows, skipped: number): Iterable<Batch>;
  end(): Promise<void>;
  close(): void;
}

/** The first input, which determines the columns of all, and the destination of its rows. */
interface First {
  readonly columns: readonly TableColumn[];
  readonly frame: CollectionFrame | undefined;
  readonly way: Way;
}

/** The first input with its first rows. */
interface Opened {
  readonly source: TableSource;
  readonly sample: Awaited<ReturnType<typeof sampled>>['sample'];
  readonly file: string;
}

/** @throws CliFailure BAD_INPUT for JSON whose columns cannot be inferred */
export async function valuePipeline(run: Run): Promise<Pipeline> {
  return new ValuePipeline(run, fitOf(run) === 'types' ? await inferAll(run) : null);
}

class ValuePipeline implements Pipeline {
  readonly #run: Run;
  readonly #fit: RowFit;
  #known: KnownFeatures | null;
  #first: First | null = null;

  constructor(run: Run, known: KnownFeatures | null) {
    this.#run = run;
    this.#fit = fitOf(run);
    this.#known = known;
  }

  async *batches({ input, isDone, rows: skippedRows }: Reading): AsyncGenerator<Batch> {
    const { sourceFormat, request, source: dialect } = this.#run;
    const opened = await openSource(input, sourceFormat, this.#fit, dialect, this.#known);
    const { source, sample } = await sampled(opened);
    const { columns, frame } = source;
    const isAny = this.#fit === 'any' && FORMATS[sourceFormat].isJson;
    if (this.#first === null) {
      const first = { source, sample, file: input.name };
      const fields = await FieldWay.of(this.#run, first, this.#fit);
      this.#first = { columns, frame, way: fields ?? (await SinkWay.of(this.#run, first)) };
      // Later inputs of JSON are read by the fields of the first one, in any order.
      if (isAny) this.#known = { columns, idName: 'id' };
    } else if (typesOf(columns) !== typesOf(this.#first.columns) && !isAny)
      throw otherColumns(columns, input.name, this.#first.columns, nameOf(request.inputs[0]!));
    if (isDone) return;
    // Rows that an earlier run converted are read again but not converted; batches end at the same rows each time.
    let rows = 0;
    for await (const batch of source.batches()) {
      yield* this.#first.way.batches(batch, skippedRows - rows);
      rows += batch.rowCount;
    }
    for (const each of frame?.members ?? []) this.#first.frame?.members.add(each);
  }

  async end(): Promise<void> {
    await this.#first?.way.end();
  }

  close(): void {
    this.#first?.way.close();
  }
}

/** Rows whose values become ranges of bytes, followed by the kernel's records. */
class FieldWay extends RowBatches implements Way {
  readonly #values: ValueRows;
  /** Whether positions come from the source itself, not from a column. */
  readonly #hasOwnPosition: boolean;
  readonly #deciding: readonly number[];
  readonly #read: PositionReader;

  private constructor(
    run: Run,
    plan: RowPlan,
    writers: RowWriters,
    private readonly wanted: WantedBytes,
    position: TableSource['position'],
  ) {
    super(run, plan, writers);
    const { columns, lat, lng, code, own, whole } = plan;
    this.#hasOwnPosition = lat === position?.lat && lng === position.lng;
    this.#values = new ValueRows(wanted.adders);
    this.#deciding = [lat, lng, code, own, whole?.column ?? -1];
    this.#read = positionReader(columns, { kind: 'pair', lat, lng });
  }

  /** null for rows that leave by sinks only */
  static async of(run: Run, { source, sample }: Opened, fit: RowFit): Promise<FieldWay | null> {
    const { columns, position } = source;
    // Features without geometries have only the added position.
    if (run.request.pipeline === 'values' || (run.request.operation === 'decode' && position !== undefined))
      return null;
    const isLines = run.targetFormat === 'ndjson' && run.request.operation === 'encode';
    const isFeatures =
      fit === 'any' && source.frame !== undefined && (isLines || run.targetFormat === 'geojson');
    if (fit === 'any' && FORMATS[run.sourceFormat].isJson && !isFeatures) return null;
    const found = planOf(run, { columns, sample }, 'values');
    if (typeof found === 'string') return null;
    const plan = isFeatures ? { ...found, frame: isLines ? LINES : frameOf(source.frame) } : found;
    const { kept, lat, lng, code, own, whole, isTyped, format } = plan;
    const read = new Set([...(isFeatures ? [] : kept), lat, lng, code, own, whole?.column]);
    // A position whose text is quoted in a fault is read from its plain value.
    const isTold = (index: number): boolean =>
      kept.includes(index) && ['text', 'double', 'long'].includes(columns[index]!.kind);
    if (isTyped && [lat, lng].some((index) => index >= 0 && !isTold(index))) return null;
    const isJson = FORMATS[format].isJson;
    if (isJson && [lat, lng].some((index) => columns[index]?.kind === 'json')) return null;
    const adderOf = isTyped ? await typedAdder(format) : (column: TableColumn) => textAdder(column, isJson);
    const adders = columns.map((column, c) => (read.has(c) ? adderOf(column) : null));
    const sides = !isFeatures ? null : isLines ? new LineSides(plan.sink) : new FeatureSides(plan.sink);
    const wanted = { adders: [...adders, ...(sides?.adders ?? [])], isTyped, sides };
    return new FieldWay(run, plan, await RowWriters.open(run, plan), wanted, position);
  }

  *batches(rows: TableRows, skipped: number): Generator<Batch> {
    const { rowCount, documents = [] } = rows;
    if (rowCount <= skipped) return;
    const { columns, code, whole, frame } = this.plan;
    const bytes = rows.asBytes?.(this.wanted);
    const unread = contradictions(rows, columns, this.#deciding);
    const latLngDeg = new Float64Array(2 * rowCount);
    if (code < 0 && whole === undefined) {
      if (bytes !== undefined && this.#hasOwnPosition) bytes.readPositions(latLngDeg);
      else this.#read(rows, latLngDeg);
      for (const row of unread.keys()) latLngDeg.fill(Number.NaN, 2 * row, 2 * row + 2);
      for (const [row, type] of rows.others ?? []) unread.set(row, shapeFault(type));
    }
    const made = bytes?.values ?? rows.values;
    const values = frame === undefined ? made : [...made, documents, documents];
    let end = 0;
    for (const window of this.#values.windows({ rowCount, values, unread }, latLngDeg, bytes?.add)) {
      end += window.rowCount;
      if (end > skipped) yield* this.batchesOf(window, 0);
    }
  }
}

/** Rows whose values leave unchanged, through sinks. */
class SinkWay implements Way {
  private constructor(
    private readonly run: Run,
    private readonly converter: RowConverter,
    private readonly sink: TableSink,
    private readonly rejects: TableSink | null,
  ) {}

  static async of(run: Run, { source: { columns, frame }, sample, file }: Opened): Promise<SinkWay> {
    const { hexcodes, request, source, sourceFormat, target, targetFormat, rejectsFormat, targets } = run;
    const { output, rejects, from } = targets;
    const converter = rowConverter(hexcodes, request, {
      columns,
      sample,
      hasHeader: FORMATS[sourceFormat].delimiter === null || source.hasHeader,
      file,
      isTyped: FORMATS[targetFormat].delimiter === null,
      needsPosition: formatsOf(run).some((format) => FORMATS[format].needsPosition),
      isSorted: request.sort !== null,
    });
    const sinkOf = (format: FileFormat, to: Output, offset = 0): Promise<TableSink> => {
      const dialect = to === output ? target : targetDialect(source, sourceFormat, format, request.csv);
      const { columns, position } = converter;
      const around = to === output ? frame : undefined;
      const isContinued = offset > 0;
      return openSink(format, { output: to, columns, dialect, position, frame: around, isContinued });
    };
    const sink =
      request.sort === null
        ? await sinkOf(targetFormat, output, from?.outputOffset)
        : new (await import('./sorted/sorted-sink.js')).SortedSink(run, converter.columns);
    const second = rejectsFormat === null ? null : await sinkOf(rejectsFormat, rejects!, from?.rejectsOffset);
    return new SinkWay(run, converter, sink, second);
  }

  *batches(rows: TableRows, skipped: number): Generator<Batch> {
    if (rows.rowCount <= skipped) return;
    const converted = this.converter.convert(rows);
    this.run.targets.tally.views += converted.views;
    yield this.#batch(converted);
  }

  #batch(converted: ConvertedRows): Batch {
    const { rowCount, status, latLngDeg, faultOf } = converted;
    const [sink, rejects] = [this.sink, this.rejects];
    return {
      rows: rowCount,
      failed: converted.failed,
      byStatus: converted.byStatus,
      byAdmin: converted.byAdmin,
      endOffset: 0,
      *failures(): Generator<Failure> {
        for (const [row, word] of status.entries()) if (word !== 'OK') yield { row, status: word };
      },
      explain: ({ row }) => ({
        ...(latLngDeg === null ? {} : { degrees: [latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!] }),
        fault: () => faultOf(row),
      }),
      async write(wanted) {
        const rows =
          wanted === 'all'
            ? converted
            : rowsWhere(converted, (word) => (word === 'OK') === (wanted === 'ok'));
        await (wanted === 'failed' ? rejects : sink)?.write(rows);
      },
    };
  }

  async end(): Promise<void> {
    await this.sink.close();
    await this.rejects?.close();
  }

  close(): void {
    this.sink.remove?.();
  }
}

/** The formats of the output and the file of failed rows. */
const formatsOf = ({ targetFormat, rejectsFormat }: Run): FileFormat[] =>
  rejectsFormat === null ? [targetFormat] : [targetFormat, rejectsFormat];

/** How rows must fit their columns, for the output and the file of failed rows. */
function fitOf(run: Run): RowFit {
  const { sourceFormat } = run;
  const { keep, drop } = run.request.columns;
  const formats = formatsOf(run);
  if (formats.some((format) => FORMATS[format].hasTypes)) return 'types';
  // A feature whose columns are left out is a row in NDJSON.
  const isRow = sourceFormat === 'geojson' && (keep !== undefined || drop !== undefined);
  const passesOn = (format: FileFormat): boolean =>
    FORMATS[format].passesOn.includes(sourceFormat) && !(isRow && format === 'ndjson');
  return formats.every(passesOn) ? 'any' : 'names';
}
