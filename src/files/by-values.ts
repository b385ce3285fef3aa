// The lane of values: rows in columns from any format into any, for what no other lane reads or writes.

import { otherColumns as otherColumnNames } from './columns/columns.js';
import { type ConvertedRows, type RowConverter, rowConverter, rowsWhere } from './convert-rows.js';
import { statOf } from './disk/input.js';
import type { Output } from './disk/output.js';
import type { Batch, Failure, Lane, Reading } from './driver.js';
import { badInput, type CliFailure } from './exit-codes.js';
import { type FileFormat, FORMATS } from './format.js';
import { targetDialect } from './formats/csv-dialect.js';
import { FeatureSurvey, featureBatches, type KnownFeatures } from './formats/json/geojson-source.js';
import { openSink, openSource, sampled } from './formats/open.js';
import {
  type CollectionFrame,
  type RowFit,
  type TableColumn,
  type TableSink,
  type TableSource,
  typesOf,
} from './formats/table.js';
import type { Run } from './request.js';
import type { SortedSink } from './sorted/sorted-sink.js';

/**
 * The columns of all inputs of JSON together, for a target with types; null for inputs of other formats, and where one
 * is a pipe, which can be read only once.
 * @throws CliFailure BAD_INPUT for what is not JSON
 */
async function surveyAll(run: Run): Promise<KnownFeatures | null> {
  const { request, sourceFormat } = run;
  if (!FORMATS[sourceFormat].isJson) return null;
  if (request.inputs.some((path) => statOf(path).sizeBytes === null)) return null;
  const { surveyInputs, surveyNdjson } = await import('./rows/survey-ndjson.js');
  if (sourceFormat === 'ndjson') return { columns: await surveyNdjson(run), idName: 'id' };
  const survey = new FeatureSurvey();
  await surveyInputs(run, async (input, tick) => {
    for await (const documents of featureBatches(input, { head: '', tail: '', members: new Set() })) {
      survey.add(documents, true);
      tick();
    }
  });
  return survey.known(true);
}

/** The first input, by whose columns all are read, and where its rows go. */
interface First {
  readonly columns: readonly TableColumn[];
  readonly converter: RowConverter;
  readonly sink: TableSink;
  readonly rejects: TableSink | null;
  readonly frame: CollectionFrame | undefined;
}

/** @throws CliFailure BAD_INPUT for JSON that cannot be surveyed */
export async function valueLane(run: Run): Promise<Lane> {
  return new ValueLane(run, fitOf(run) === 'types' ? await surveyAll(run) : null);
}

const tickOf = (run: Run): void => run.tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 });

class ValueLane implements Lane {
  readonly #run: Run;
  readonly #fit: RowFit;
  #known: KnownFeatures | null;
  #first: First | null = null;
  #sorted: SortedSink | null = null;

  constructor(run: Run, known: KnownFeatures | null) {
    this.#run = run;
    this.#fit = fitOf(run);
    this.#known = known;
  }

  async *batches({ input, isDone, rows: skippedRows }: Reading): AsyncGenerator<Batch> {
    const { sourceFormat, request, source: dialect, targets } = this.#run;
    const opened = await openSource(input, sourceFormat, this.#fit, dialect, this.#known);
    const { source, sample } = await sampled(opened);
    const isAny = this.#fit === 'any' && FORMATS[sourceFormat].isJson;
    const first = this.#first ?? (await this.#begin(source, sample, input.name));
    if (this.#first === null) {
      this.#first = first;
      // Later inputs of JSON are read by the fields of the first one, in whichever order they have them.
      if (isAny) this.#known = { columns: source.columns, idName: 'id' };
    } else if (typesOf(source.columns) !== typesOf(first.columns) && !isAny)
      throw otherColumns(input.name, source.columns, request.inputs[0]!, first.columns);
    if (isDone) return;
    // Rows that an earlier run converted are read again but not converted; batches end at the same rows each time.
    let rows = 0;
    for await (const batch of source.batches()) {
      rows += batch.rowCount;
      if (rows <= skippedRows) continue;
      const converted = first.converter.convert(batch);
      targets.tally.views += converted.views;
      yield this.#batch(converted, first);
    }
    for (const each of source.frame?.members ?? []) first.frame?.members.add(each);
  }

  async #begin(
    { columns, frame }: TableSource,
    sample: Awaited<ReturnType<typeof sampled>>['sample'],
    file: string,
  ): Promise<First> {
    const { hexcodes, request, source, sourceFormat, target, targetFormat, rejectsFormat, targets } =
      this.#run;
    const { output, rejects, from } = targets;
    const converter = rowConverter(hexcodes, request, {
      columns,
      sample,
      hasHeader: FORMATS[sourceFormat].delimiter === null || source.hasHeader,
      file,
      isTyped: FORMATS[targetFormat].delimiter === null,
      needsPosition: formatsOf(this.#run).some((format) => FORMATS[format].needsPosition),
      isSorted: request.sort !== null,
    });
    const sinkOf = (format: FileFormat, to: Output, offset = 0): Promise<TableSink> => {
      const dialect = to === output ? target : targetDialect(source, sourceFormat, format, request.csv);
      const around = to === output ? frame : undefined;
      return openSink(format, to, converter.columns, converter.position, around, dialect, offset > 0);
    };
    if (request.sort !== null) {
      const { SortedSink } = await import('./sorted/sorted-sink.js');
      const { memoryBytes } = request.sort;
      this.#sorted = new SortedSink(hexcodes, output, converter.columns, memoryBytes, () =>
        tickOf(this.#run),
      );
    }
    return {
      columns,
      converter,
      sink: this.#sorted ?? (await sinkOf(targetFormat, output, from?.outputOffset)),
      rejects: rejectsFormat === null ? null : await sinkOf(rejectsFormat, rejects!, from?.rejectsOffset),
      frame,
    };
  }

  #batch(converted: ConvertedRows, { sink, rejects }: First): Batch {
    const { rowCount, status, latLngDeg, faultOf } = converted;
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
    await this.#first?.sink.close();
    await this.#first?.rejects?.close();
  }

  close(): void {
    this.#sorted?.remove();
  }
}

function otherColumns(
  file: string,
  columns: readonly TableColumn[],
  firstFile: string,
  first: readonly TableColumn[],
): CliFailure {
  const names = (of: readonly TableColumn[]): string => JSON.stringify(of.map(({ name }) => name));
  if (names(columns) !== names(first))
    return otherColumnNames(
      columns.map(({ name }) => name),
      file,
      firstFile,
    );
  const other = columns.find((column, c) => typesOf([column]) !== typesOf([first[c]!]));
  return badInput(
    { file, column: other!.name },
    `another type than in ${firstFile}`,
    'Convert each file by itself, or all of them to CSV or NDJSON.',
  );
}

/** The formats of the output and the file of failed rows. */
const formatsOf = ({ targetFormat, rejectsFormat }: Run): FileFormat[] =>
  rejectsFormat === null ? [targetFormat] : [targetFormat, rejectsFormat];

/** How rows must fit their columns, for the output and the file of failed rows. */
function fitOf(run: Run): RowFit {
  const { sourceFormat } = run;
  const formats = formatsOf(run);
  if (formats.some((format) => FORMATS[format].hasTypes)) return 'types';
  return formats.every((format) => FORMATS[format].passesOn.includes(sourceFormat)) ? 'any' : 'names';
}
