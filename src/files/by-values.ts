// The pipeline of values: rows in columns from any format into any, for files that no other pipeline converts. Values
// become ranges of bytes, as which writers take them.

import { POINT_CHOICES } from '../tables/shapes/shapes.js';
import { RowBatches, WHOLE_KINDS } from './by-rows.js';
import { otherColumns } from './columns/columns.js';
import { contradictions, type PositionReader, positionReader } from './columns/position-columns.js';
import { formatsOf, placedOf, planOf } from './columns/row-plan.js';
import { nameOf, statOf } from './disk/input.js';
import type { Batch, Pipeline, Reading } from './driver.js';
import { badInput } from './exit-codes.js';
import { type FileFormat, FORMATS, hasPlainValues } from './format.js';
import { FeatureSides, LineSides } from './formats/geojson/feature-rows.js';
import { frameOf, type KnownFeatures } from './formats/geojson/geojson-source.js';
import { adderOf, inferenceOf, openSource, sampled } from './formats/open.js';
import {
  type CollectionFrame,
  LINES,
  type RowFit,
  type RowPlan,
  type TableColumn,
  type TableRows,
  type TableSource,
  typesOf,
  type WantedBytes,
} from './formats/table.js';
import { codeTextOf } from './formats/values/column-text.js';
import type { Run } from './request.js';
import { ValueRows } from './rows/plain-values.js';
import { type Outputs, RowWriters } from './rows/row-writers.js';
import type { TextRows, ValueAdder } from './rows/text-rows.js';
import { wantedRows } from './rows/write-text.js';

/**
 * The columns of all inputs of JSON together, for a target with types; null for inputs of other formats, and where
 * one is a pipe, which can be read only once.
 * @throws CliFailure BAD_INPUT for invalid JSON
 */
async function inferAll(run: Run): Promise<KnownFeatures | null> {
  if (run.request.inputs.some((path) => statOf(path).sizeBytes === null)) return null;
  return (await inferenceOf(run.sourceFormat)?.(run)) ?? null;
}

/** The first input, by whose columns all are read, and how its rows are converted. */
interface First {
  readonly columns: readonly TableColumn[];
  readonly frame: CollectionFrame | undefined;
  readonly batches: ValueBatches;
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
    const first = await sampled(opened);
    const { source } = first;
    const { columns, frame } = source;
    const isAny = this.#fit === 'any' && FORMATS[sourceFormat].isJson;
    if (this.#first === null) {
      this.#first = { columns, frame, batches: await ValueBatches.of(this.#run, first) };
      // Later inputs of JSON are read by the fields of the first one, in whichever order they have them.
      if (isAny) this.#known = { columns, idName: 'id' };
    } else if (typesOf(columns) !== typesOf(this.#first.columns) && !isAny)
      throw otherColumns(columns, input.name, this.#first.columns, nameOf(request.inputs[0]!));
    if (isDone) return;
    // Rows that an earlier run converted are read again but not converted; batches end at the same rows each time.
    let rows = 0;
    for await (const batch of source.batches()) {
      yield* this.#first.batches.of(batch, skippedRows - rows);
      rows += batch.rowCount;
    }
    for (const each of frame?.members ?? []) this.#first.frame?.members.add(each);
  }

  async end(): Promise<void> {
    await this.#first?.batches.end();
  }

  close(): void {
    this.#first?.batches.close();
  }
}

/** A source whose first rows have been read. */
export type FirstRows = Awaited<ReturnType<typeof sampled>>;

/** How rows of values become those of an output. */
interface Way {
  readonly plan: RowPlan;
  readonly wanted: WantedBytes;
}

/** Failed rows of another format. */
interface OtherRows {
  readonly wanted: WantedBytes;
  readonly rows: ValueRows;
}

/** Rows whose values become ranges of bytes: the kernel's records are copied after them. */
export class ValueBatches extends RowBatches {
  readonly #wanted: WantedBytes;
  readonly #values: ValueRows;
  /** How failed rows are written, where that is otherwise than the others. */
  readonly #other: OtherRows | null;
  /** Whether positions are those that the source has of its own. */
  readonly #hasOwnPosition: boolean;
  readonly #deciding: readonly number[];
  /** null where positions are read from the ranges, or codes. */
  readonly #read: PositionReader | null;
  /** Columns that must have no value. */
  readonly #placed: readonly number[];

  private constructor(
    run: Run,
    { source, sample }: FirstRows,
    writers: RowWriters,
    { plan, wanted }: Way,
    other: Way | null,
  ) {
    super(run, plan, writers);
    const { columns, lat, lng, code, own, whole } = plan;
    this.#wanted = wanted;
    this.#values = new ValueRows(wanted.adders);
    this.#other = other === null ? null : { wanted: other.wanted, rows: new ValueRows(other.wanted.adders) };
    this.#hasOwnPosition = lat >= 0 && lat === source.position?.lat && lng === source.position.lng;
    this.#deciding = [lat, lng, code, own, whole?.column ?? -1];
    const isInRanges = code >= 0 || (whole !== undefined && WHOLE_KINDS.has(columns[whole.column]!.kind));
    this.#read = isInRanges ? null : positionReader(columns, whole ?? { kind: 'pair', lat, lng });
    this.#placed = code < 0 ? [] : placedOf(sample);
  }

  /** @throws CliFailure if the columns that the request names are not there, or ours clash with them */
  static async of(run: Run, first: FirstRows, outputs?: Outputs): Promise<ValueBatches> {
    const { columns } = first.source;
    const plan = planOf(run, { columns, sample: first.sample }, 'values');
    const { code, rejects } = plan;
    const isText = code < 0 || columns[code]!.kind === 'text';
    const way = await wayOf(run, first.source, isText ? plan : { ...plan, codeAt: columns.length });
    const isOther = rejects !== null && (rejects !== plan.format || run.request.sort !== null);
    const ofRejects = isOther ? { ...plan, format: rejects, isTyped: hasPlainValues(rejects) } : null;
    const other = ofRejects === null ? null : await wayOf(run, first.source, ofRejects);
    const writers = await RowWriters.open(run, way.plan, other?.plan, outputs);
    return new ValueBatches(run, first, writers, way, other);
  }

  /** @param skipped the first rows, which an earlier run has converted */
  *of(rows: TableRows, skipped: number): Generator<Batch> {
    const { rowCount } = rows;
    if (rowCount <= skipped) return;
    this.#refusePlaced(rows);
    const { columns, code, codeAt, whole } = this.plan;
    const bytes =
      codeAt === undefined && this.#placed.length === 0 ? rows.asBytes?.(this.#wanted) : undefined;
    const unread = contradictions(rows, columns, this.#deciding);
    const latLngDeg = new Float64Array(2 * rowCount);
    if (this.#read !== null) {
      if (bytes !== undefined && this.#hasOwnPosition) bytes.readPositions(latLngDeg);
      else this.run.targets.tally.views += this.#read(rows, latLngDeg);
      for (const row of unread.keys()) latLngDeg.fill(Number.NaN, 2 * row, 2 * row + 2);
      for (const [row, type] of whole === undefined ? (rows.others ?? []) : [])
        unread.set(row, shapeFault(type));
    }
    const ofCodes = codeAt === undefined ? [] : [rows.values[code]!];
    const values = [...(bytes?.values ?? rows.values), ...ofCodes, ...documentsOf(rows, this.#wanted)];
    const failed = this.#other === null ? undefined : this.#failedOf(rows, this.#other);
    let first = 0;
    for (const window of this.#values.windows({ rowCount, values, unread }, latLngDeg, bytes?.add)) {
      const at = { first, rowCount: window.rowCount };
      first += window.rowCount;
      if (first <= skipped) continue;
      const valueAt = (column: number, row: number): unknown => rows.values[column]?.[at.first + row];
      yield* this.batchesOf({ ...window, valueAt, rejected: failed?.(at) }, 0);
    }
  }

  /** How failed rows are made of those of a batch. */
  #failedOf(rows: TableRows, { wanted, rows: into }: OtherRows) {
    let bytes: ReturnType<NonNullable<TableRows['asBytes']>> | undefined;
    return (at: { readonly first: number; readonly rowCount: number }): TextRows['rejected'] =>
      (records) => {
        bytes ??= rows.asBytes?.(wanted);
        const values = [...(bytes?.values ?? rows.values), ...documentsOf(rows, wanted)];
        const failedRows = new Int32Array(at.rowCount);
        const count = wantedRows(records, at.rowCount, 'failed', failedRows);
        return into.some(values, at, failedRows.subarray(0, count), bytes?.add);
      };
  }

  #refusePlaced({ values }: TableRows): void {
    for (const index of this.#placed)
      if (Array.prototype.some.call(values[index], (value) => value !== null))
        throw badInput(
          { file: nameOf(this.run.request.inputs[0]!) },
          'a feature with a geometry after features without one',
          'Rename our columns with --prefix.',
        );
  }
}

/** The values of which the sides of what is passed on are made. */
const documentsOf = ({ documents = [] }: TableRows, { sides }: WantedBytes): TableRows['values'] =>
  sides === null ? [] : [documents, documents];

/** How rows of a source are written in the format of a plan. */
async function wayOf(run: Run, source: TableSource, given: RowPlan): Promise<Way> {
  const { columns, kept, lat, lng, code, codeAt, own, whole, format, isTyped } = given;
  const { frame, sides } = passedOn(run, source, given) ?? { sides: null };
  const plan = frame === undefined ? given : { ...given, frame };
  const read = new Set([
    ...(sides === null ? kept : []),
    own,
    whole?.column,
    codeAt === undefined ? code : -1,
  ]);
  const addedBy = await adderOf(format);
  // Texts of positions become geometries.
  const isBare = (c: number): boolean =>
    format === 'geojson' && (c === lat || c === lng) && ['json', 'binary'].includes(columns[c]!.kind);
  const adders = columns.map((column, c) =>
    read.has(c) ? (isBare(c) ? bareAdder(column) : addedBy(column)) : null,
  );
  const ofCodes = codeAt === undefined ? [] : [bareAdder(columns[code]!)];
  return { plan, wanted: { adders: [...adders, ...ofCodes, ...(sides?.adders ?? [])], isTyped, sides } };
}

const bareAdder =
  (column: TableColumn): ValueAdder =>
  (into, value) =>
    into.addUnits(codeTextOf(column, value));

/** How JSON objects of a source are passed on into a format; null where rows are made of their columns. */
function passedOn({ sourceFormat }: Run, { frame }: TableSource, { format, sink }: RowPlan) {
  if (format === 'geojson' && frame !== undefined)
    return { frame: frameOf(frame), sides: new FeatureSides(sink) };
  // A feature whose columns are left out is a row in NDJSON.
  const isRow = frame !== undefined && sink.chosen !== undefined;
  if (format !== 'ndjson' || !FORMATS[sourceFormat].isJson || isRow) return null;
  return { frame: LINES, sides: new LineSides(sink) };
}

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

const POINT_WORDS = `--point ${POINT_CHOICES.join(', ').replace(/, (?=\w+$)/, ' or ')} says which of its points is meant`;
const shapeFault = (type: string): string => `a ${type}, and ${POINT_WORDS}`;
