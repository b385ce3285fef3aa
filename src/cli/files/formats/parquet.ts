// Parquet by hyparquet: read one row group at a time, written in row groups of 65,536 rows. Timestamps, dates and
// decimals are integers between reader and writer, so that none loses digits.

import { openSync, readSync } from 'node:fs';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { badInput, reasonOf } from '../../file-faults.js';
import type { Input } from '../disk/input.js';
import type { Output } from '../disk/output.js';
import {
  type ColumnKind,
  type SinkColumns,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
  type TimeUnitName,
  textOf,
} from './table.js';

const ROW_GROUP_ROWS = 65_536;
const BATCH_ROWS = 16_384;

export async function openParquet(input: Input): Promise<TableSource> {
  const file = await bufferOf(input);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file, { geoparquet: false });
  } catch (error) {
    throw badInput({ file: input.name }, `not a whole Parquet file (${reasonOf(error)})`);
  }
  const elements = parquetSchema(metadata).children.map((child) => ({
    element: { ...child.element },
    isNested: child.children.length > 0 || child.element.repetition_type === 'REPEATED',
  }));
  const columns = elements.map(({ element, isNested }): TableColumn => {
    if (isNested) return { name: element.name, kind: 'json' };
    return { name: element.name, ...typeOf(element) };
  });
  // hyparquet turns decimals into doubles. Without their annotation it gives the integers that are stored.
  for (const element of metadata.schema) {
    if (element.converted_type === 'DECIMAL' || element.logical_type?.type === 'DECIMAL') {
      delete element.converted_type;
      delete element.logical_type;
    }
  }
  const identity = <T>(value: T): T => value;
  const scan = parquetScan({
    file,
    metadata,
    compressors,
    geoparquet: false,
    utf8: false,
    parsers: {
      timestampFromMilliseconds: identity,
      timestampFromMicroseconds: identity,
      timestampFromNanoseconds: identity,
      dateFromDays: identity,
      geometryFromBytes: identity,
      geographyFromBytes: identity,
    },
  });
  return {
    columns,
    async *batches() {
      let groupStart = 0;
      for (const group of metadata.row_groups) {
        const groupEnd = groupStart + Number(group.num_rows);
        const values: ArrayLike<unknown>[] = [];
        const { readColumn } = await scan;
        for (const column of columns) {
          try {
            const read = await readColumn({ column: column.name, rowStart: groupStart, rowEnd: groupEnd });
            values.push(inForm(column, read));
          } catch (error) {
            const location = { file: input.name, row: groupStart + 1, column: column.name };
            throw badInput(location, `cannot be read from here on (${reasonOf(error)})`);
          }
        }
        for (let start = groupStart; start < groupEnd; start += BATCH_ROWS) {
          const end = Math.min(start + BATCH_ROWS, groupEnd);
          yield {
            rowCount: end - start,
            values: values.map((column) => sliced(column, start - groupStart, end - groupStart)),
          };
        }
        groupStart = groupEnd;
      }
    },
  };
}

function sliced(values: ArrayLike<unknown>, start: number, end: number): ArrayLike<unknown> {
  return Array.prototype.slice.call(values, start, end);
}

/** Reads a file at any offset. A pipe or gzip cannot be read so; its content is held in memory. */
async function bufferOf(input: Input): Promise<AsyncBuffer> {
  if (input.path === null || input.isGzip || input.sizeBytes === null) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of input.chunks()) chunks.push(chunk);
    const bytes = new Uint8Array(Buffer.concat(chunks));
    return { byteLength: bytes.length, slice: (start, end) => bytes.buffer.slice(start, end) };
  }
  const { sizeBytes } = input;
  const descriptor = openSync(input.path, 'r');
  return {
    byteLength: sizeBytes,
    slice(start, end = sizeBytes) {
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let done = 0; done < bytes.length; ) {
        const count = readSync(descriptor, bytes, done, bytes.length - done, start + done);
        if (count === 0) throw new Error('the file ends in the middle');
        done += count;
      }
      return bytes.buffer;
    },
  };
}

const UNITS: Record<string, TimeUnitName> = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' };

/** Annotations of BYTE_ARRAY that say UTF-8. Without one the column is bytes. */
const TEXTUAL = new Set(['UTF8', 'STRING', 'ENUM']);

function typeOf(element: SchemaElement): Omit<TableColumn, 'name'> {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (logical?.type === 'DECIMAL' || converted === 'DECIMAL') {
    const { scale = 0, precision = 38 } = logical?.type === 'DECIMAL' ? logical : element;
    return { kind: 'decimal', scale, precision };
  }
  if (logical?.type === 'TIMESTAMP') {
    return { kind: 'timestamp', unit: UNITS[logical.unit] ?? 'ms', isUtc: logical.isAdjustedToUTC };
  }
  if (converted === 'TIMESTAMP_MILLIS') return { kind: 'timestamp', unit: 'ms', isUtc: true };
  if (converted === 'TIMESTAMP_MICROS') return { kind: 'timestamp', unit: 'us', isUtc: true };
  if (type === 'INT96') return { kind: 'timestamp', unit: 'ns', isUtc: false };
  if (converted === 'DATE' || logical?.type === 'DATE') return { kind: 'date' };
  if (converted === 'JSON' || logical?.type === 'JSON') return { kind: 'json' };
  if (
    converted === 'UINT_64' ||
    (logical?.type === 'INTEGER' && logical.bitWidth === 64 && !logical.isSigned)
  ) {
    return { kind: 'decimal', precision: 20, scale: 0 };
  }
  if (
    converted === 'UINT_32' ||
    (logical?.type === 'INTEGER' && logical.bitWidth === 32 && !logical.isSigned)
  ) {
    return { kind: 'long' };
  }
  const byType: Record<string, ColumnKind> = {
    BOOLEAN: 'boolean',
    INT32: 'int',
    INT64: 'long',
    FLOAT: 'double',
    DOUBLE: 'double',
    BYTE_ARRAY: TEXTUAL.has(converted ?? logical?.type ?? '') ? 'text' : 'binary',
    FIXED_LEN_BYTE_ARRAY: logical?.type === 'UUID' ? 'text' : 'binary',
  };
  return { kind: (type === undefined ? undefined : byType[type]) ?? 'json' };
}

/** The reader's values in the form that `ColumnKind` gives for the column. */
function inForm(column: TableColumn, values: ArrayLike<unknown>): ArrayLike<unknown> {
  const convert: ((value: never) => unknown) | undefined =
    column.kind === 'long'
      ? (value: number | bigint) => BigInt(value)
      : column.kind === 'decimal'
        ? (value: number | bigint | string | Uint8Array) => integerOf(value)
        : column.kind === 'text'
          ? (value: string | Uint8Array) =>
              typeof value === 'string' ? value : Buffer.from(value).toString()
          : undefined;
  if (convert === undefined) return values;
  return Array.from(values, (value) =>
    value === null || value === undefined ? null : convert(value as never),
  );
}

/** The stored integer of a decimal; bytes are big-endian two's complement. */
function integerOf(value: number | bigint | string | Uint8Array): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : value;
  let whole = 0n;
  for (const byte of bytes) whole = (whole << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, whole);
}

const DECIMAL_LONG_DIGITS = 18;

function elementOf(column: TableColumn): SchemaElement {
  const { name } = column;
  const repetition_type = 'OPTIONAL';
  switch (column.kind) {
    case 'text':
      return { name, repetition_type, type: 'BYTE_ARRAY', converted_type: 'UTF8' };
    case 'json':
      return { name, repetition_type, type: 'BYTE_ARRAY', converted_type: 'JSON' };
    case 'binary':
      return { name, repetition_type, type: 'BYTE_ARRAY' };
    case 'double':
      return { name, repetition_type, type: 'DOUBLE' };
    case 'int':
      return { name, repetition_type, type: 'INT32' };
    case 'long':
      return { name, repetition_type, type: 'INT64' };
    case 'boolean':
      return { name, repetition_type, type: 'BOOLEAN' };
    case 'date':
      return { name, repetition_type, type: 'INT32', converted_type: 'DATE' };
    case 'timestamp': {
      const unit = ({ ms: 'MILLIS', us: 'MICROS', ns: 'NANOS' } as const)[column.unit ?? 'ms'];
      const logical_type = { type: 'TIMESTAMP', isAdjustedToUTC: column.isUtc === true, unit } as const;
      return { name, repetition_type, type: 'INT64', logical_type };
    }
    case 'decimal': {
      const { scale = 0, precision = 38 } = column;
      // INT64 holds 18 digits, and the writer has no exact form for more: wider decimals are written as text.
      if (precision > DECIMAL_LONG_DIGITS)
        return { name, repetition_type, type: 'BYTE_ARRAY', converted_type: 'UTF8' };
      return { name, repetition_type, type: 'INT64', converted_type: 'DECIMAL', scale, precision };
    }
  }
}

export function parquetSink(output: Output, columns: SinkColumns): TableSink {
  const all = [...columns.kept, ...columns.added];
  const elements = all.map(elementOf);
  const writer = new ByteWriter(1 << 20);
  const parquet = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: all.length }, ...elements],
    createdBy: 'hexcodes',
  });
  let held: unknown[][] = all.map(() => []);
  let heldRows = 0;
  const emit = async (): Promise<void> => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    if (bytes.length > 0) await output.write(bytes);
  };
  const flush = async (): Promise<void> => {
    if (heldRows === 0) return;
    parquet.write({
      columnData: all.map(({ name }, c) => ({ name, data: held[c]! })),
      rowGroupSize: ROW_GROUP_ROWS,
    });
    held = all.map(() => []);
    heldRows = 0;
    await emit();
  };
  return {
    async write({ rowCount, values }: TableRows) {
      all.forEach((column, c) => {
        const target = held[c]!;
        const isTextual = column.kind === 'decimal' && elements[c]?.type === 'BYTE_ARRAY';
        for (let row = 0; row < rowCount; row++) {
          const value = values[c]?.[row] ?? null;
          target.push(isTextual && value !== null ? textOf(column, value) : value);
        }
      });
      heldRows += rowCount;
      if (heldRows >= ROW_GROUP_ROWS) await flush();
    },
    async close() {
      await flush();
      parquet.finish();
      await emit();
    },
  };
}
