// Files as rows in columns, from any format into any: sources, the converter, sinks, and the error policy for failed
// rows.

import { otherColumns as otherColumnNames, type Sample } from './columns/columns.js';
import { type ConvertedRows, type RowConverter, rowConverter, rowsWhere } from './convert-rows.js';
import { type Input, type InputOptions, openInput, statOf } from './disk/input.js';
import { badInput, CliFailure, reasonOf } from './exit-codes.js';
import { type FileFormat, FORMATS, formatOfName } from './format.js';
import { SAMPLE_ROWS, targetDialect } from './formats/csv-dialect.js';
import { featureBatches, type KnownFeatures, surveyGeoJson } from './formats/json/geojson-source.js';
import { documentsOf, surveyNdjson } from './formats/json/ndjson.js';
import { openSink, openSource } from './formats/open.js';
import {
  type CollectionFrame,
  type JsonDocument,
  type RowFit,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
  typesOf,
} from './formats/table.js';
import { codeTextOf } from './formats/values/column-text.js';
import type { ErrorPolicy, Run } from './request.js';
import type { SortedSink } from './sorted/sorted-sink.js';
import { stopped, type Tally } from './tally.js';

// Looks at the first rows of a source before they are read: columns are found by their values, too.

/** A source whose first rows have been looked at. */
export async function sampled(source: TableSource): Promise<{ source: TableSource; sample: Sample }> {
  const batches = source.batches()[Symbol.asyncIterator]();
  const first = await batches.next();
  const { columns } = source;
  const rowCount = first.done === true ? 0 : Math.min(first.value.rowCount, SAMPLE_ROWS);
  const values = first.done === true ? [] : first.value.values;
  const rows = Array.from({ length: rowCount }, (_, row) =>
    columns.map((column, c) => codeTextOf(column, values[c]?.[row])),
  );
  async function* all(): AsyncGenerator<TableRows> {
    for (let next = first; next.done !== true; next = await batches.next()) yield next.value;
  }
  const { geometries, position } = source;
  const sample = { names: columns.map(({ name }) => name), rows, geometries, position };
  return { source: { ...source, batches: all }, sample };
}

/**
 * The columns of all inputs together, for a target with types; null for inputs of other formats, and where one is a
 * pipe, which can be read only once.
 * @param tick called after each batch; may throw to end the survey
 * @throws CliFailure BAD_INPUT for what is not JSON
 */
async function surveyAll(
  paths: readonly string[],
  format: FileFormat,
  options: InputOptions,
  tick: () => void,
): Promise<KnownFeatures | null> {
  if (!FORMATS[format].isJson) return null;
  if (paths.some((path) => statOf(path).sizeBytes === null)) return null;
  let file = paths[0] ?? '-';
  const noted = (path: string): void => {
    file = path;
  };
  try {
    if (!FORMATS[format].needsPosition) {
      const documents = batchesOf(paths, options, documentsOf, tick, noted);
      return { columns: await surveyNdjson(documents), idName: 'id' };
    }
    const features = (input: Input) => featureBatches(input, { head: '', tail: '', members: new Set() });
    return await surveyGeoJson(batchesOf(paths, options, features, tick, noted));
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw badInput({ file }, `cannot be read as ${format} (${reasonOf(error)})`);
  }
}

async function* batchesOf(
  paths: readonly string[],
  options: InputOptions,
  batches: (input: Input) => AsyncIterable<JsonDocument[]>,
  tick: () => void,
  noted: (path: string) => void,
): AsyncGenerator<JsonDocument[]> {
  for (const path of paths) {
    noted(path);
    const input = await openInput(path, options);
    try {
      for await (const batch of batches(input)) {
        yield batch;
        tick();
      }
    } finally {
      input.close();
    }
  }
}

export async function convertByColumns(run: Run): Promise<void> {
  const { request, targets, sourceFormat, targetFormat, hexcodes } = run;
  const { output, rejects, tally, from } = targets;
  const fit = fitOf(run);
  const tick = (): void => run.tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 });
  const known = fit === 'types' ? await surveyAll(request.inputs, sourceFormat, request.input, tick) : null;
  let converter: RowConverter | null = null;
  let first: readonly TableColumn[] = [];
  let firstKnown: KnownFeatures | null = null;
  let sink: TableSink | null = null;
  let sorted: SortedSink | null = null;
  let rejectsSink: TableSink | null = null;
  let frame: CollectionFrame | undefined;
  try {
    for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
      const input = await run.open(inputNumber);
      const { source, sample } = await sampled(
        await openSource(input, sourceFormat, fit, run.source, known ?? firstKnown),
      );
      if (converter === null) {
        converter = rowConverter(hexcodes, request, {
          columns: source.columns,
          sample,
          hasHeader: FORMATS[sourceFormat].delimiter === null || run.source.hasHeader,
          file: input.name,
          isTyped: FORMATS[targetFormat].delimiter === null,
          needsPosition: formatsOf(run).some((format) => FORMATS[format].needsPosition),
          isSorted: request.sort !== null,
        });
        first = source.columns;
        // Later inputs of JSON are read by the fields of the first one, in whichever order they have them.
        if (FORMATS[sourceFormat].isJson && fit === 'any')
          firstKnown = { columns: source.columns, idName: 'id' };
        const { columns, position } = converter;
        const hasOutput = (from?.outputOffset ?? 0) > 0;
        if (request.sort === null)
          sink = await openSink(targetFormat, output, columns, position, source.frame, run.target, hasOutput);
        else {
          const { SortedSink } = await import('./sorted/sorted-sink.js');
          sorted = new SortedSink(hexcodes, output, columns, request.sort.memoryBytes, tick);
          sink = sorted;
        }
        if (rejects !== null) {
          const format = formatOfName(rejects.name).format ?? targetFormat;
          const hasRejects = (from?.rejectsOffset ?? 0) > 0;
          const dialect = targetDialect(run.source, sourceFormat, format, request.csv);
          rejectsSink = await openSink(format, rejects, columns, position, undefined, dialect, hasRejects);
        }
      } else if (
        typesOf(source.columns) !== typesOf(first) &&
        (fit !== 'any' || !FORMATS[sourceFormat].isJson)
      ) {
        throw otherColumns(input.name, source.columns, request.inputs[0]!, first);
      }
      if (from !== null && inputNumber < from.inputNumber) continue;
      // Rows that an earlier run converted are read again but not converted; batches end at the same rows each time.
      const skippedRows = from !== null && inputNumber === from.inputNumber ? from.inputRows : 0;
      let rows = 0;
      for await (const batch of source.batches()) {
        rows += batch.rowCount;
        if (rows <= skippedRows) continue;
        const firstRow = rows - batch.rowCount + 1;
        const converted = converter.convert(batch, tally);
        noteFirstFailures(converted, tally, input.name, firstRow);
        await writeRows(converted, request.errors.kind, sink!, rejectsSink, input.name, firstRow);
        run.tick({ inputNumber, inputOffset: 0, inputRows: rows });
      }
      if (source.frame !== undefined) {
        if (frame === undefined) frame = source.frame;
        else for (const each of source.frame.members) frame.members.add(each);
      }
    }
    await sink?.close();
    await rejectsSink?.close();
  } finally {
    sorted?.remove();
  }
}

export function noteFirstFailures(
  { status, failedRows, faultOf }: ConvertedRows,
  { first }: Tally,
  file: string,
  firstRow: number,
): void {
  if (failedRows === 0) return;
  status.forEach((word, i) => {
    if (word !== 'OK' && !first.has(word)) first.set(word, { file, row: firstRow + i, fault: faultOf(i) });
  });
}

/** The formats of the output and the file of failed rows. */
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

function formatsOf({ targets, targetFormat }: Run): FileFormat[] {
  const { rejects } = targets;
  return rejects === null
    ? [targetFormat]
    : [targetFormat, formatOfName(rejects.name).format ?? targetFormat];
}

/** How rows must fit their columns, for the output and the file of failed rows. */
function fitOf(run: Run): RowFit {
  const { sourceFormat } = run;
  const formats = formatsOf(run);
  if (formats.some((format) => FORMATS[format].hasTypes)) return 'types';
  return formats.every((format) => FORMATS[format].passesOn.includes(sourceFormat)) ? 'any' : 'names';
}

export async function writeRows(
  converted: ConvertedRows,
  policy: ErrorPolicy['kind'],
  sink: TableSink,
  rejects: TableSink | null,
  file: string,
  firstRow: number,
): Promise<void> {
  if (converted.failedRows === 0 || policy === 'keep') {
    await sink.write(converted);
    return;
  }
  if (policy === 'stop') {
    converted.status.forEach((word, i) => {
      if (word !== 'OK') throw stopped({ file, row: firstRow + i, fault: converted.faultOf(i) }, word);
    });
  }
  await sink.write(rowsWhere(converted, (word) => word === 'OK'));
  if (rejects !== null) await rejects.write(rowsWhere(converted, (word) => word !== 'OK'));
}
