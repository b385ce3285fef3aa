// Reads Parquet by hyparquet, one row group at a time. Timestamps, dates, times and decimals stay integers, so that
// none loses digits.

import { closeSync, openSync, readSync } from 'node:fs';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetScan,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
} from 'hyparquet';
import { getTreePath } from 'hyparquet/src/schema.js';
import type { Input } from '../../disk/input.js';
import { badInput, brokenAt, CliFailure, reasonOf } from '../../exit-codes.js';
import { ceilingBytes, requireBelowCeiling, wholeContent } from '../../held/ceiling.js';
import { rowWindows, type ValueReader } from '../../held/row-windows.js';
import type { TableSource } from '../table.js';
import { readBy, shapedColumn, utf8Text } from '../values/nested.js';
import { UnpackedPages } from './codecs.js';
import { DECRYPT, describedFields, geometriesOf, readFooter } from './footer.js';
import { removeAnnotations, shapeOf } from './parquet-types.js';
import { type Chunk, checkPages, type SoundChunk, walkPages } from './sound-chunk.js';

/** Bytes that a row takes in each column, read or not. */
const ROW_BYTES = 8;
export const SMALLER_GROUPS = 'Write smaller row groups, or leave columns out.';

const identity = <T>(value: T): T => value;
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && utf8Text(bytes);
const PARSERS = {
  timestampFromMilliseconds: identity,
  timestampFromMicroseconds: identity,
  timestampFromNanoseconds: identity,
  dateFromDays: identity,
  geometryFromBytes: identity,
  geographyFromBytes: identity,
  stringFromBytes: text,
  // hyparquet's own parser makes doubles of all integers.
  jsonFromBytes: text,
};

/** A file whose metadata are read. */
export interface ParquetFile {
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly fields: readonly ReturnType<typeof shapedColumn>[];
  /** The leaves of the schema that are columns of their own; null for those that hold others. */
  readonly elements: readonly (SchemaElement | null)[];
}

/** @throws CliFailure BAD_INPUT if the file is not whole Parquet, or a name appears twice in the schema */
export async function readParquet(input: Input): Promise<ParquetFile> {
  const buffer = await bufferOf(input);
  let metadata: FileMetaData;
  try {
    metadata = await readFooter(buffer, input.name);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw badInput({ file: input.name }, `not a whole Parquet file (${reasonOf(error)})`);
  }
  input.hasRows(metadata.row_groups.reduce((sum, { num_rows: rows }) => sum + Number(rows), 0));
  const { children } = parquetSchema(metadata);
  const encrypted = new Set(
    metadata.row_groups.flatMap(({ columns }) =>
      columns.flatMap(({ crypto_metadata: key, meta_data: leaf }) =>
        key === undefined && leaf !== undefined ? [] : [leaf?.path_in_schema[0]],
      ),
    ),
  );
  // A column without metadata of its own does not say its name.
  if (encrypted.has(undefined)) throw badInput({ file: input.name }, 'columns of it are encrypted', DECRYPT);
  const shaped = children.map((node) =>
    shapedColumn(node.element.name, () => {
      if (encrypted.has(node.element.name)) throw new Error('it is encrypted');
      return shapeOf(node);
    }),
  );
  const fields = await describedFields(shaped, metadata.key_value_metadata);
  const elements = children.map(({ element, children: below }) => (below.length > 0 ? null : { ...element }));
  const names = fields.map(({ column }) => column.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw badInput({ file: input.name, column: twice }, 'the schema names it twice');
  removeAnnotations(metadata.schema);
  return { buffer, metadata, fields, elements };
}

/**
 * The row groups of a file, without those that have no rows.
 * @param file for messages
 * @param skippedRows groups within the first rows of this number are skipped
 */
export async function* groupsOf(
  parquet: ParquetFile,
  file: string,
  pages = new UnpackedPages(),
  skippedRows = 0,
): AsyncGenerator<GroupReading> {
  const { buffer, metadata } = parquet;
  const options = { geoparquet: false, utf8: false, parsers: PARSERS, useOffsetIndex: false } as const;
  const { compressors } = pages;
  const scan = await parquetScan({ file: buffer, metadata, compressors, ...options });
  let groupStart = 0;
  for (const [index, group] of metadata.row_groups.entries()) {
    const rows = Number(group.num_rows);
    const reading = { parquet, scan, pages, group, index, rows, groupStart, file };
    groupStart += rows;
    if (rows > 0 && groupStart > skippedRows) yield reading;
  }
}

export async function openParquet(input: Input): Promise<TableSource> {
  const parquet = await readParquet(input);
  const { metadata, fields } = parquet;
  const names = fields.map(({ column }) => column.name);
  return {
    columns: fields.map(({ column }) => column),
    geometries: await geometriesOf(parquet.elements, metadata.key_value_metadata, input.name),
    async *batches() {
      for await (const reading of groupsOf(parquet, input.name)) {
        const { rows, file, groupStart } = reading;
        const firstRow = groupStart + 1;
        const held = { bytes: ROW_BYTES * rows * fields.length };
        const what = `a row group of ${rows} rows and ${fields.length} columns`;
        requireBelowCeiling({ file, row: firstRow }, held.bytes, what, SMALLER_GROUPS);
        const readers: ValueReader[] = [];
        for (const index of fields.keys()) readers.push(await columnReader(reading, index, held));
        yield* rowWindows(rows, readers, { file, firstRow, names });
      }
    },
  };
}

/** A row group of a file that is read. */
export interface GroupReading {
  readonly parquet: ParquetFile;
  readonly scan: Awaited<ReturnType<typeof parquetScan>>;
  readonly pages: UnpackedPages;
  readonly group: RowGroup;
  readonly index: number;
  readonly rows: number;
  /** Rows before it. */
  readonly groupStart: number;
  readonly file: string;
}

/**
 * The pages of a column in a row group, checked: `pages` has them unpacked until it is cleared.
 * @param held bytes that are in memory; those of the column are added
 * @throws CliFailure BAD_INPUT for one beyond the ceiling, Error for one that is damaged
 */
export async function soundColumn(
  { parquet: { buffer, metadata }, pages, group, rows }: GroupReading,
  location: { readonly file: string; readonly row: number; readonly column: string },
  held: { bytes: number },
): Promise<SoundChunk[]> {
  const found = await chunksOf(buffer, metadata, group, location.column, location);
  const sound = found.map((chunk) => walkPages(chunk, rows));
  for (const { heldBytes } of sound) held.bytes += heldBytes;
  requireBelowCeiling(location, held.bytes, 'a row group', SMALLER_GROUPS);
  for (const each of sound) checkPages(each, pages, ceilingBytes());
  return sound;
}

/** The values of a column in a row group, as hyparquet reads them. @throws Error for another number than expected */
export async function columnValues({ scan, rows, groupStart }: GroupReading, column: string) {
  const values = await scan.readColumn({ column, rowStart: groupStart, rowEnd: groupStart + rows });
  if (values.length !== rows) throw new Error(`${values.length} values where ${rows} are due`);
  return values;
}

/** Reads the values of a column one by one; none where its type is not read. @throws CliFailure BAD_INPUT */
export async function columnReader(
  reading: GroupReading,
  index: number,
  held: { bytes: number },
): Promise<ValueReader> {
  const { column, shape } = reading.parquet.fields[index]!;
  if (shape === null) return () => null;
  const location = { file: reading.file, row: reading.groupStart + 1, column: column.name };
  try {
    await soundColumn(reading, location, held);
    const values = await columnValues(reading, column.name);
    const read = readBy(shape);
    return read === null ? (row) => values[row] : (row) => read(values[row]);
  } catch (error) {
    throw brokenAt(location, error);
  } finally {
    reading.pages.clear();
  }
}

/**
 * The leaves of a column in a row group, packed.
 * @throws CliFailure BAD_INPUT for one beyond the ceiling, Error for one that is not there
 */
export async function chunksOf(
  file: AsyncBuffer,
  metadata: FileMetaData,
  group: RowGroup,
  name: string,
  location: Parameters<typeof requireBelowCeiling>[0],
): Promise<Chunk[]> {
  const tree = parquetSchema(metadata);
  const chunks: Chunk[] = [];
  for (const { meta_data: leaf } of group.columns) {
    if (leaf?.path_in_schema[0] !== name) continue;
    // A dictionary page at 0 is one that is left out.
    const start = Number(leaf.dictionary_page_offset || leaf.data_page_offset);
    const sizeBytes = Number(leaf.total_compressed_size);
    if (!(start >= 0 && sizeBytes >= 0 && start + sizeBytes <= file.byteLength))
      throw new Error(`a column of ${sizeBytes} bytes at ${start}, and the file has ${file.byteLength}`);
    requireBelowCeiling(location, sizeBytes, 'a row group', SMALLER_GROUPS);
    const bytes = new Uint8Array(await file.slice(start, start + sizeBytes));
    chunks.push({ metadata: leaf, path: getTreePath(tree, leaf.path_in_schema), bytes });
  }
  return chunks;
}

/** Reads a file at any offset. A pipe or gzip cannot be read so; its content is held in memory. */
async function bufferOf(input: Input): Promise<AsyncBuffer> {
  if (input.path === null || input.isPacked || input.sizeBytes === null) {
    const bytes = await wholeContent(
      input,
      'a Parquet file from a pipe or packed',
      'Name it as a file, unpacked.',
    );
    return { byteLength: bytes.length, slice: (start, end) => bytes.buffer.slice(start, end) };
  }
  const { sizeBytes } = input;
  const descriptor = openSync(input.path, 'r');
  input.onClose(() => closeSync(descriptor));
  return {
    byteLength: sizeBytes,
    slice(start, end = sizeBytes) {
      if (!(start >= 0 && end <= sizeBytes)) throw new Error('the file ends in the middle');
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
