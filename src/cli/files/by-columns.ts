// The way of rows in columns, from any format into any: sources, the converter, sinks, and what becomes of failed rows.

import { CliFailure, EXIT } from '../exit-codes.js';
import { badInput, reasonOf } from '../file-faults.js';
import { type ConvertedRows, type RowConverter, rowConverter, rowsWhere } from './convert-rows.js';
import type { Input } from './disk/input.js';
import type { Output } from './disk/output.js';
import { type FileFormat, formatOfName } from './format.js';
import { csvSink, openCsv } from './formats/csv.js';
import { type CollectionFrame, type GeoJsonSource, geoJsonSink, openGeoJson } from './formats/geojson.js';
import { ndjsonSink, openNdjson } from './formats/ndjson.js';
import { type TableRows, type TableSink, type TableSource, textOf } from './formats/table.js';
import type { Run } from './request.js';
import { type RowFailure, stopped } from './tally.js';

/**
 * Opens an input as rows in columns. Whatever a reader stumbles over is told as a fault of the file.
 * @param isStrict whether the target is a table, which needs its columns first
 */
export async function openTable(input: Input, format: FileFormat, isStrict: boolean): Promise<TableSource> {
  const asFault = (error: unknown, row?: number): CliFailure =>
    error instanceof CliFailure
      ? error
      : badInput({ file: input.name, row }, `cannot be read as ${format} (${reasonOf(error)})`);
  let source: TableSource;
  try {
    source = await openFormat(input, format, isStrict);
  } catch (error) {
    throw asFault(error);
  }
  return {
    ...source,
    async *batches() {
      let rows = 0;
      const batches = source.batches()[Symbol.asyncIterator]();
      for (;;) {
        let next: IteratorResult<TableRows>;
        try {
          next = await batches.next();
        } catch (error) {
          throw asFault(error, rows + 1);
        }
        if (next.done === true) return;
        rows += next.value.rowCount;
        yield next.value;
      }
    },
  };
}

async function openFormat(input: Input, format: FileFormat, isStrict: boolean): Promise<TableSource> {
  switch (format) {
    case 'csv':
      return openCsv(input, ',');
    case 'tsv':
      return openCsv(input, '\t');
    case 'ndjson':
      return openNdjson(input, isStrict);
    case 'geojson':
      return openGeoJson(input, isStrict);
    case 'parquet':
      return (await import('./formats/parquet.js')).openParquet(input);
    case 'arrow':
      return (await import('./formats/arrow.js')).openArrow(input);
  }
}

async function openSink(
  format: FileFormat,
  output: Output,
  { columns, position }: RowConverter,
  frame: CollectionFrame | null,
  isContinued: boolean,
): Promise<TableSink> {
  switch (format) {
    case 'csv':
      return csvSink(output, columns, ',', isContinued);
    case 'tsv':
      return csvSink(output, columns, '\t', isContinued);
    case 'ndjson':
      return ndjsonSink(output, columns);
    case 'geojson': {
      if (position.lat < 0 || position.lng < 0) {
        throw new CliFailure(EXIT.USAGE, 'GeoJSON needs the columns of lat and lng: keep them');
      }
      return geoJsonSink(output, columns, position, frame);
    }
    case 'parquet':
      return (await import('./formats/parquet.js')).parquetSink(output, columns, textOf);
    case 'arrow': {
      const isFile = !/\.arrows$/i.test(output.name) && output.name !== '(stdout)';
      return (await import('./formats/arrow.js')).arrowSink(output, columns, isFile);
    }
  }
}

export async function convertTables(run: Run): Promise<void> {
  const { request, targets, sourceFormat, targetFormat, hexcodes } = run;
  const { output, rejects, tally, from } = targets;
  const isStrict = targetFormat !== 'ndjson' && !(targetFormat === 'geojson' && sourceFormat === 'geojson');
  let converter: RowConverter | null = null;
  let sourceColumns = '';
  let sink: TableSink | null = null;
  let rejectsSink: TableSink | null = null;
  for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
    const input = await run.open(inputNumber);
    const source = await openTable(input, sourceFormat, isStrict);
    if (converter === null) {
      const { columns } = source;
      converter = rowConverter(
        hexcodes,
        request.operation,
        request.resolution,
        columns,
        request.columns,
        input.name,
        targetFormat !== 'csv' && targetFormat !== 'tsv',
      );
      sourceColumns = JSON.stringify(columns);
      const frame = sourceFormat === 'geojson' ? (source as GeoJsonSource).frame : null;
      sink = await openSink(targetFormat, output, converter, frame, (from?.outputOffset ?? 0) > 0);
      if (rejects !== null) {
        const format = formatOfName(rejects.name).format ?? targetFormat;
        rejectsSink = await openSink(format, rejects, converter, null, (from?.rejectsOffset ?? 0) > 0);
      }
    } else if (JSON.stringify(source.columns) !== sourceColumns && isStrict) {
      throw badInput({ file: input.name }, `other columns than ${request.inputs[0]}`);
    }
    // The rows that an earlier run did are read again, not converted: batches are cut at the same rows each time.
    const skippedRows = from !== null && inputNumber === from.inputNumber ? from.inputOffset : 0;
    if (from !== null && inputNumber < from.inputNumber) continue;
    let rows = 0;
    for await (const batch of source.batches()) {
      rows += batch.rowCount;
      if (rows <= skippedRows) continue;
      const firstRow = rows - batch.rowCount + 1;
      const converted = converter.convert(batch, tally);
      await writeRows(converted, request.errors.kind, sink as TableSink, rejectsSink, input.name, firstRow);
      run.tick(inputNumber, rows);
    }
  }
  await sink?.close();
  await rejectsSink?.close();
}

async function writeRows(
  converted: ConvertedRows,
  policy: 'keep' | 'skip' | 'stop' | 'file',
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
    const row = converted.status.findIndex((word) => word !== 'OK');
    const word = converted.status[row] as RowFailure;
    throw stopped(file, firstRow + row, word);
  }
  await sink.write(rowsWhere(converted, (word) => word === 'OK'));
  if (rejects !== null) await rejects.write(rowsWhere(converted, (word) => word !== 'OK'));
}
