// Opens a source or a sink of any format. Parquet and Arrow are loaded only where they are used.

import { positionColumns } from '../../hexcodes/wire/rows/column-names.js';
import { isLineOrArea, shapeInText } from '../../tables/shapes/shape-text.js';
import { lonePoint, type PointChoice, pointsOf } from '../../tables/shapes/shapes.js';
import type { Sample } from '../columns/columns.js';
import { STDOUT_NAME } from '../disk/destination.js';
import type { Input } from '../disk/input.js';
import type { Output } from '../disk/output.js';
import { badInput, badUsage, CliFailure, reasonOf } from '../exit-codes.js';
import { type FileFormat, FORMATS, type FormatWith } from '../format.js';
import type { Run } from '../request.js';
import { valueSink } from '../rows/plain-values.js';
import type { ValueAdder } from '../rows/text-rows.js';
import type { RowWriter, WrittenColumns } from '../rows/write-text.js';
import { openCsv } from './csv/csv.js';
import { type CsvDialect, SAMPLE_ROWS } from './csv/dialect.js';
import { inferFeatures, type KnownFeatures, openGeoJson } from './geojson/geojson-source.js';
import { openNdjson } from './ndjson/ndjson.js';
import {
  type FeatureFrame,
  type PointColumns,
  type RowFit,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
  unreadOf,
} from './table.js';
import { codeTextOf } from './values/column-text.js';

// A column of geometries: each line or area in well-known text or binary becomes the chosen point of it.

/** Most rows made from one row: each corner of an area may become a row. */
const MAX_ROWS = 8192;

/** Replaces lines and areas of a source by points; for `each`, by a row for each of their points. */
export function atPoints(source: TableSource, choice: PointChoice): TableSource {
  return {
    ...source,
    async *batches() {
      let index = -1;
      for await (const rows of source.batches()) {
        if (index < 0) index = shapeColumnIn(source, rows);
        if (index < 0) yield rows;
        else yield* pointRows(rows, index, source.columns[index]!, choice);
      }
    },
  };
}

/** The column with lines or areas; -1 where the rows have none. */
function shapeColumnIn({ columns, geometries }: TableSource, { rowCount, values }: TableRows): number {
  const names = columns.map(({ name }) => name);
  const known = names.indexOf(geometries?.primary ?? '');
  const order = new Set([...(known < 0 ? [] : [known]), ...positionColumns(names), ...names.keys()]);
  const holdsShapes = (index: number): boolean => {
    for (let row = 0; row < rowCount; row++) {
      const shape = shapeInText(codeTextOf(columns[index]!, values[index]?.[row]));
      if (shape !== null && isLineOrArea(shape)) return true;
    }
    return false;
  };
  return [...order].find(holdsShapes) ?? -1;
}

function* pointRows(
  rows: TableRows,
  index: number,
  column: TableColumn,
  choice: PointChoice,
): Generator<TableRows> {
  const write = column.kind === 'binary' ? pointInWkb : pointInWkt;
  let from: number[] = [];
  let made: unknown[] = [];
  const taken = (): TableRows => {
    const values = rows.values.map((each, c) => (c === index ? made : from.map((row) => each[row])));
    const documents =
      rows.documents === undefined ? {} : { documents: from.map((row) => rows.documents![row]!) };
    const batch = { ...rows, rowCount: from.length, values, ...documents, ...unreadOf(rows, from) };
    from = [];
    made = [];
    return batch;
  };
  for (let row = 0; row < rows.rowCount; row++) {
    const value = rows.values[index]?.[row];
    const shape = shapeInText(codeTextOf(column, value));
    const points = shape === null || lonePoint(shape) !== null ? [] : pointsOf(shape, choice);
    for (const each of points.length === 0 ? [value] : points.map(([lng, lat]) => write(lng, lat))) {
      from.push(row);
      made.push(each);
      if (from.length >= MAX_ROWS) yield taken();
    }
  }
  if (from.length > 0) yield taken();
}

const pointInWkt = (lng: number, lat: number): string => `POINT (${lng} ${lat})`;

function pointInWkb(lng: number, lat: number): Uint8Array {
  const bytes = new Uint8Array(21);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, 1, true);
  view.setFloat64(5, lng, true);
  view.setFloat64(13, lat, true);
  return bytes;
}

interface Opened {
  readonly input: Input;
  readonly fit: RowFit;
  readonly dialect: CsvDialect;
  readonly known: KnownFeatures | null;
}

/** An output, and what its writer makes of rows. */
interface Written {
  readonly output: Output;
  readonly columns: WrittenColumns;
  /** 0 or 1 for the kept columns that are made of positions. */
  readonly halves: readonly (0 | 1 | null)[];
  /** The spelling of CSV and TSV. */
  readonly dialect: CsvDialect;
  /** Where a row's position is among the kept columns, for GeoJSON. */
  readonly position: PointColumns;
  /** The texts around features or lines that are passed on. */
  readonly frame?: FeatureFrame | undefined;
  /** Whether an earlier run wrote the beginning of the output. */
  readonly isContinued: boolean;
}

/** The output of a sink, and its columns. */
interface Sunk extends Pick<Written, 'output' | 'dialect'> {
  readonly columns: readonly TableColumn[];
}

/** How rows of a format are read and written. */
interface Driver {
  open(opened: Opened): TableSource | Promise<TableSource>;
  writer(to: Written): RowWriter | Promise<RowWriter>;
  /** The columns of all inputs together, for a target with types. @throws CliFailure BAD_INPUT for what is not JSON */
  infer(run: Run): Promise<KnownFeatures>;
}

/** Parts of a driver that a format requires, by its entry in src/tables/formats.ts. */
type Drivers = Readonly<
  Record<FormatWith<{ readonly readAs: null }>, Pick<Driver, 'open'>> &
    Record<FormatWith<{ readonly isWritten: true }>, Pick<Driver, 'writer'>> &
    Record<FormatWith<{ readonly isJson: true }>, Pick<Driver, 'infer'>>
>;

const DELIMITED: Omit<Driver, 'infer'> = {
  open: ({ input, dialect }) => openCsv(input, dialect),
  async writer({ output, columns, dialect, isContinued }) {
    const { CsvWriter } = await import('../rows/write-text.js');
    return new CsvWriter(output, columns, dialect, isContinued);
  },
};

/** Whether Arrow goes into a file; else it is a stream. */
const hasArrowFooter = ({ name }: Output): boolean =>
  !/\.arrows(?:\.gz)?$/i.test(name) && name !== STDOUT_NAME;

const DRIVERS: Readonly<Partial<Record<FileFormat, Partial<Driver>>>> = {
  csv: DELIMITED,
  tsv: DELIMITED,
  xlsx: {
    async writer({ output, columns }) {
      const { XlsxRowWriter } = await import('./write-xlsx.js');
      return new XlsxRowWriter(output, columns);
    },
  },
  ndjson: {
    open: ({ input, fit, known }) => openNdjson(input, fit, known?.columns ?? null),
    async writer({ output, columns, frame }) {
      const { FeatureWriter, NdjsonWriter } = await import('../rows/write-text.js');
      return frame === undefined
        ? new NdjsonWriter(output, columns)
        : new FeatureWriter(output, columns, frame);
    },
    infer: async (run) => {
      const { inferNdjson } = await import('./ndjson/infer-ndjson.js');
      return { columns: await inferNdjson(run), idName: 'id' };
    },
  },
  geojson: {
    open: ({ input, fit, known }) => openGeoJson(input, fit, known),
    async writer({ output, columns, frame, position }) {
      const { FeatureWriter, GeoJsonWriter } = await import('../rows/write-text.js');
      return frame === undefined
        ? new GeoJsonWriter(output, columns, position)
        : new FeatureWriter(output, columns, frame);
    },
    infer: inferFeatures,
  },
  gpkg: {
    open: async ({ input }) => (await import('./geopackage-source.js')).openGeoPackage(input),
  },
  parquet: {
    open: async ({ input }) => (await import('./parquet/parquet-source.js')).openParquet(input),
    async writer({ output, columns, halves }) {
      const { ParquetRowWriter } = await import('./parquet/write-parquet.js');
      return new ParquetRowWriter(output, columns, halves);
    },
  },
  arrow: {
    open: async ({ input }) => (await import('./arrow/arrow-source.js')).openArrow(input),
    async writer({ output, columns, halves }) {
      const { ArrowRowWriter } = await import('./arrow/write-arrow.js');
      return new ArrowRowWriter(output, columns, halves, hasArrowFooter(output));
    },
  },
} satisfies Drivers;

export const inferenceOf = (format: FileFormat): Driver['infer'] | undefined => DRIVERS[format]?.infer;

/**
 * Opens an input as rows in columns. Every error of a reader becomes a fault of the file with a row.
 * @param fit of rows of JSON to their columns
 * @param dialect of CSV and TSV
 * @param known columns that were inferred from all rows of JSON
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
    const open = DRIVERS[format]?.open;
    if (open === undefined) throw new Error(`${FORMATS[format].title} has no rows of its own`);
    source = await open({ input, fit, dialect, known });
  } catch (error) {
    throw asFault(error);
  }
  // Geometries of these formats are already points.
  if (input.point !== undefined && source.position === undefined) source = atPoints(source, input.point);
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

/** @throws CliFailure USAGE for a format that is not written */
export async function openWriter(format: FileFormat, to: Written): Promise<RowWriter> {
  const writer = DRIVERS[format]?.writer;
  if (writer === undefined) throw badUsage(`${FORMATS[format].title} is not written`);
  return writer(to);
}

/** How values are added for a writer. */
export async function adderOf(format: FileFormat): Promise<(column: TableColumn) => ValueAdder> {
  const { plainAdder, textAdder } = await import('../rows/plain-values.js');
  if (format === 'arrow') return (await import('./arrow/write-arrow.js')).arrowAdder;
  return format === 'parquet' ? plainAdder : (column) => textAdder(column, FORMATS[format].isJson);
}

/** A sink of rows of values, in any format but GeoJSON. */
export async function openSink(format: FileFormat, { columns, ...to }: Sunk): Promise<TableSink> {
  const kept = columns.map((column, index) => ({ ...column, index }));
  const of = { added: [], values: [], resolution: 0, kernel: null, isScanned: false, decoded: 0 };
  const position = { lat: -1, lng: -1 };
  const written = { ...to, columns: { kept, ...of }, halves: [], position, isContinued: false };
  const adders = columns.map(await adderOf(format));
  return valueSink(await openWriter(format, written), adders);
}

/** A source whose first rows have been read: columns are found by their values, too. */
export async function sampled(source: TableSource): Promise<{ source: TableSource; sample: Sample }> {
  const batches = source.batches()[Symbol.asyncIterator]();
  const first = await batches.next();
  const { columns } = source;
  const rowCount = first.done === true ? 0 : Math.min(first.value.rowCount, SAMPLE_ROWS);
  const values = first.done === true ? [] : (first.value.firstValues?.(rowCount) ?? first.value.values);
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
