// Opens a source or a sink of any format. Parquet and Arrow are loaded only where they are used.

import { STDOUT_NAME } from '../disk/destination.js';
import type { Input } from '../disk/input.js';
import type { Output } from '../disk/output.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { badInput, reasonOf } from '../file-faults.js';
import type { FileFormat } from '../format.js';
import { csvSink, openCsv } from './csv.js';
import type { CsvDialect } from './csv-dialect.js';
import type { KnownFeatures } from './json/feature-columns.js';
import { geoJsonSink, type PositionColumns } from './json/geojson-sink.js';
import { openGeoJson } from './json/geojson-source.js';
import { ndjsonSink, openNdjson } from './json/ndjson.js';
import type { CollectionFrame, RowFit, SinkColumns, TableRows, TableSink, TableSource } from './table.js';

/**
 * Opens an input as rows in columns. Every error of a reader becomes a fault of the file with a row.
 * @param fit of rows of JSON to their columns
 * @param dialect of CSV and TSV
 * @param known what a survey of all rows of JSON has found
 * @throws CliFailure BAD_INPUT, also from `batches()`
 */
export async function openSource(
  input: Input,
  format: FileFormat,
  fit: RowFit,
  dialect: CsvDialect,
  known: KnownFeatures | null = null,
): Promise<TableSource> {
  const asFault = (error: unknown, row?: number): CliFailure =>
    error instanceof CliFailure
      ? error
      : badInput({ file: input.name, row }, `cannot be read as ${format} (${reasonOf(error)})`);
  let source: TableSource;
  try {
    source = await sourceOf(input, format, fit, dialect, known);
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

async function sourceOf(
  input: Input,
  format: FileFormat,
  fit: RowFit,
  dialect: CsvDialect,
  known: KnownFeatures | null,
): Promise<TableSource> {
  switch (format) {
    case 'csv':
    case 'tsv':
      return openCsv(input, dialect);
    case 'ndjson':
      return openNdjson(input, fit, known?.columns ?? null);
    case 'geojson':
      return openGeoJson(input, fit, known);
    case 'parquet':
      return (await import('./parquet/parquet-source.js')).openParquet(input);
    case 'arrow':
      return (await import('./arrow/arrow-source.js')).openArrow(input);
  }
}

/**
 * Opens a sink on an output.
 * @param position where a row's position is among the columns, for GeoJSON; -1 where it is in none
 * @param frame the text around the features of a GeoJSON source, if there is one
 * @param dialect of CSV and TSV
 * @param isContinued whether an earlier run wrote the beginning of the output
 * @throws CliFailure USAGE if the columns lack a position that the format needs
 */
export async function openSink(
  format: FileFormat,
  output: Output,
  columns: SinkColumns,
  position: PositionColumns,
  frame: CollectionFrame | undefined,
  dialect: CsvDialect,
  isContinued: boolean,
): Promise<TableSink> {
  switch (format) {
    case 'csv':
    case 'tsv':
      return csvSink(output, columns, dialect, isContinued);
    case 'ndjson':
      return ndjsonSink(output, columns);
    case 'geojson': {
      if (position.lat < 0 || position.lng < 0) {
        throw new CliFailure(EXIT.USAGE, 'GeoJSON needs the columns of lat and lng: keep them');
      }
      return geoJsonSink(output, columns, position, frame);
    }
    case 'parquet':
      return (await import('./parquet/parquet-sink.js')).parquetSink(output, columns);
    case 'arrow': {
      const hasFooter = !/\.arrows$/i.test(output.name) && output.name !== STDOUT_NAME;
      return (await import('./arrow/arrow-sink.js')).arrowSink(output, columns, hasFooter);
    }
  }
}
