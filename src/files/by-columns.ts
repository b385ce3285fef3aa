// Files as rows in columns, from any format into any: sources, the converter, sinks, and the error policy for failed
// rows. by-bytes.ts is the faster way for CSV to CSV.

import type { Sample } from './columns/columns.js';
import { sampled } from './columns/sampled.js';
import { type Input, openInput } from './disk/input.js';
import { badInput } from './file-faults.js';
import { type FileFormat, formatOfName } from './format.js';
import { SAMPLE_ROWS, targetDialect } from './formats/csv-dialect.js';
import { surveyAll } from './formats/json/survey.js';
import { openSink, openSource } from './formats/open.js';
import type { RowFit, TableSink, TableSource } from './formats/table.js';
import type { ErrorPolicy, Run } from './request.js';
import { type ConvertedRows, type RowConverter, rowsWhere } from './rows/converted-rows.js';
import { rowConverter } from './rows/row-converter.js';
import { SortedSink } from './sorted/sorted-sink.js';
import { stopped, type Tally } from './tally.js';

export async function convertByColumns(run: Run): Promise<void> {
  const { request, targets, sourceFormat, targetFormat, hexcodes } = run;
  const { output, rejects, tally, from } = targets;
  const fit = fitOf(run);
  const tick = (): void => run.tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 });
  const known = fit === 'types' ? await surveyAll(request.inputs, sourceFormat, request.input, tick) : null;
  let converter: RowConverter | null = null;
  let firstColumns = '';
  let sink: TableSink | null = null;
  let sorted: SortedSink | null = null;
  let rejectsSink: TableSink | null = null;
  try {
    for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
      const input = await run.open(inputNumber);
      const { source, sample } =
        input.part === undefined
          ? await sampled(await openSource(input, sourceFormat, fit, run.source, known))
          : await partOpened(run, input, fit);
      if (converter === null) {
        const isTyped = targetFormat !== 'csv' && targetFormat !== 'tsv';
        converter = rowConverter(hexcodes, request, {
          columns: source.columns,
          sample,
          hasHeader: (sourceFormat !== 'csv' && sourceFormat !== 'tsv') || run.source.hasHeader,
          file: input.name,
          isTyped,
          needsPosition: formatsOf(run).includes('geojson'),
          boxOf: request.sort === null ? null : (await import('../hexcodes/geometry/cell-ring.js')).cellBox,
        });
        firstColumns = JSON.stringify(source.columns);
        const { columns, position } = converter;
        const hasOutput = (from?.outputOffset ?? 0) > 0;
        sink = await openSink(targetFormat, output, columns, position, source.frame, run.target, hasOutput);
        if (request.sort !== null) {
          sorted = new SortedSink(sink, columns.sortedBy!, request.sort.memoryBytes, tick);
          sink = sorted;
        }
        if (rejects !== null) {
          const format = formatOfName(rejects.name).format ?? targetFormat;
          const hasRejects = (from?.rejectsOffset ?? 0) > 0;
          const dialect = targetDialect(run.source, sourceFormat, format, request.csv);
          const { sortedBy: _, ...unsorted } = columns;
          rejectsSink = await openSink(format, rejects, unsorted, position, undefined, dialect, hasRejects);
        }
      } else if (JSON.stringify(source.columns) !== firstColumns && fit !== 'any') {
        throw badInput({ file: input.name }, `other columns than ${request.inputs[0]}`);
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
    }
    await sink?.close();
    await rejectsSink?.close();
  } finally {
    sorted?.remove();
  }
}

/** A part of a file, with the columns and the first rows of the whole. */
async function partOpened(
  { request, sourceFormat, source: dialect }: Run,
  input: Input,
  fit: RowFit,
): Promise<{ source: TableSource; sample: Sample }> {
  const first = input.part?.kind === 'rows' ? { ...input.part, start: 0, end: SAMPLE_ROWS } : undefined;
  const whole = await openInput(input.path!, { ...request.input, part: first });
  try {
    const { source, sample } = await sampled(await openSource(whole, sourceFormat, fit, dialect));
    const known = { columns: source.columns, idName: 'id' } as const;
    return { source: await openSource(input, sourceFormat, fit, dialect, known), sample };
  } finally {
    whole.close();
  }
}

function noteFirstFailures(
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
  if (formats.some((format) => format === 'parquet' || format === 'arrow')) return 'types';
  const isPassedOn = (format: FileFormat) =>
    format === 'ndjson' || (format === 'geojson' && sourceFormat === 'geojson');
  return formats.every(isPassedOn) ? 'any' : 'names';
}

async function writeRows(
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
