// Reads Parquet by hyparquet, one row group at a time. Timestamps, dates, times and decimals stay integers, so that
// none loses digits.

import {
  type AsyncBuffer,
  type ColumnChunk,
  type FileMetaData,
  parquetScan,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
} from 'hyparquet';
import { getTreePath } from 'hyparquet/src/schema.js';
import type { Input } from '../../disk/input.js';
import { badInput, brokenAt, CliFailure, NO_COLUMNS, reasonOf } from '../../exit-codes.js';
import {
  ceilingBytes,
  requireBelowCeiling,
  rowWindows,
  type ValueReader,
  wholeContent,
} from '../../held/ceiling.js';
import type { TableSource } from '../table.js';
import { readBy, shapedColumn, utf8Text } from '../values/column-text.js';
import { UnpackedPages } from './codecs.js';
import { DECRYPT, describedFields, geometriesOf, readFooter } from './footer.js';
import { removeAnnotations, shapeOf } from './parquet-types.js';
import {
  type Chunk,
  checkPages,
  type PageBytes,
  plainPages,
  type SoundChunk,
  walkPages,
} from './sound-chunk.js';

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

/** A file whose metadata have been read. */
export interface ParquetFile {
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly fields: readonly ReturnType<typeof shapedColumn>[];
  /** The part of the schema that describes each column. */
  readonly schemas: ReadonlyMap<string, readonly SchemaElement[]>;
  /** The schema leaves that are columns themselves; null for columns that contain others. */
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
  if (children.length === 0) throw badInput({ file: input.name }, NO_COLUMNS);
  const encrypted = new Set(
    metadata.row_groups.flatMap(({ columns }) =>
      columns.flatMap(({ crypto_metadata: key, meta_data: leaf }) =>
        key === undefined && leaf !== undefined ? [] : [leaf?.path_in_schema[0]],
      ),
    ),
  );
  // A column without metadata of its own does not give its name.
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
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw badInput({ file: input.name, column: twice }, 'the schema names it twice');
  removeAnnotations(children);
  const schemas = new Map<string, SchemaElement[]>();
  let at = 1;
  for (const { element, count } of children) {
    schemas.set(element.name, metadata.schema.slice(at, at + count));
    at += count;
  }
  return { buffer, metadata, fields, schemas, elements };
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
  let groupStart = 0;
  for (const [index, group] of parquet.metadata.row_groups.entries()) {
    const rows = Number(group.num_rows);
    const columns = new Map<string, ColumnChunk[]>();
    for (const chunk of group.columns) {
      const name = chunk.meta_data!.path_in_schema[0]!;
      const leaves = columns.get(name);
      if (leaves === undefined) columns.set(name, [chunk]);
      else leaves.push(chunk);
    }
    const reading = { parquet, columns, pages, group, index, rows, groupStart, file };
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

/** A row group that is being read. */
export interface GroupReading {
  readonly parquet: ParquetFile;
  /** The leaves of its columns. */
  readonly columns: ReadonlyMap<string, ColumnChunk[]>;
  readonly pages: UnpackedPages;
  readonly group: RowGroup;
  readonly index: number;
  readonly rows: number;
  /** Number of rows before it. */
  readonly groupStart: number;
  readonly file: string;
}

/** A file of one column and one row group: readers build the whole schema again for each column that they read. */
function fileOf({ parquet, columns, group }: GroupReading, column: string): FileMetaData {
  const { metadata, schemas } = parquet;
  const schema = [{ ...metadata.schema[0]!, num_children: 1 }, ...(schemas.get(column) ?? [])];
  return { ...metadata, schema, row_groups: [{ ...group, columns: columns.get(column) ?? [] }] };
}

/**
 * The checked pages of a column in a row group; `pages` has them unpacked until it is cleared.
 * @param held bytes in memory; those of the column are added
 * @throws CliFailure BAD_INPUT for one beyond the ceiling, Error for one that is damaged
 */
export async function soundColumn(
  reading: GroupReading,
  location: { readonly file: string; readonly row: number; readonly column: string },
  held: { bytes: number },
): Promise<SoundChunk[]> {
  const { parquet, pages, rows } = reading;
  const found = await chunksOf(parquet.buffer, fileOf(reading, location.column), location);
  const sound = found.map((chunk) => walkPages(chunk, rows));
  for (const { heldBytes } of sound) held.bytes += heldBytes;
  requireBelowCeiling(location, held.bytes, 'a row group', SMALLER_GROUPS);
  for (const each of sound) checkPages(each, pages, ceilingBytes());
  return sound;
}

const SCANNED = { geoparquet: false, utf8: false, parsers: PARSERS, useOffsetIndex: false } as const;

/** The values of a column in a row group, as hyparquet reads them. @throws Error for another number than expected */
export async function columnValues(reading: GroupReading, column: string) {
  const { parquet, pages, rows } = reading;
  const { compressors } = pages;
  const metadata = fileOf(reading, column);
  const scan = await parquetScan({ file: parquet.buffer, metadata, compressors, ...SCANNED });
  const values = await scan.readColumn({ column, rowStart: 0, rowEnd: rows });
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
async function chunksOf(
  file: AsyncBuffer,
  metadata: FileMetaData,
  location: Parameters<typeof requireBelowCeiling>[0],
): Promise<Chunk[]> {
  const tree = parquetSchema(metadata);
  const chunks: Chunk[] = [];
  for (const { meta_data: leaf } of metadata.row_groups[0]!.columns) {
    if (leaf === undefined) continue;
    // A dictionary page at 0 is absent.
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

/** Reads a file at any offset. The content of a pipe or gzip is held in memory for this. */
async function bufferOf(input: Input): Promise<AsyncBuffer> {
  const { file } = input;
  if (file !== null) {
    const byteLength = input.sizeBytes!;
    return { byteLength, slice: (start, end = byteLength) => file.range(start, end).buffer };
  }
  const bytes = await wholeContent(
    input,
    'a Parquet file from a pipe or packed',
    'Name it as a file, unpacked.',
  );
  return { byteLength: bytes.length, slice: (start, end) => bytes.buffer.slice(start, end) };
}

// Columns of coordinates as doubles, from the pages of one row group: plain values and dictionaries are read here,
// other encodings by hyparquet.

export interface Coordinates {
  /** Degrees; NaN for null. */
  readonly degrees: Float64Array;
  /** 1 where there is a value; null where all rows have one. */
  readonly defined: Uint8Array | null;
  /** The chunk as in the file. */
  readonly bytes: Uint8Array;
}

/** Memory of the degrees of one row group, which the next one overwrites. */
export interface DegreesMemory {
  degrees: Float64Array<ArrayBuffer>;
}

/**
 * @param name of a column of doubles or floats
 * @throws CliFailure BAD_INPUT for a column that is damaged
 */
export async function readCoordinates(
  reading: GroupReading,
  name: string,
  memory: DegreesMemory = { degrees: new Float64Array(0) },
): Promise<Coordinates> {
  const { pages, rows, groupStart, file } = reading;
  const location = { file, row: groupStart + 1, column: name };
  try {
    const [sound, ...others] = await soundColumn(reading, location, { bytes: 0 });
    if (sound === undefined || others.length > 0) throw new Error(`${others.length + 1} columns of one name`);
    const { bytes } = sound.chunk;
    const read = readPlain(sound, pages, rows, memory);
    if (read !== null) return { ...read, bytes };
    const column = await columnValues(reading, name);
    const degrees = new Float64Array(rows);
    const defined = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) {
      const value = column[row] as number | null | undefined;
      degrees[row] = value ?? Number.NaN;
      defined[row] = value === null || value === undefined ? 0 : 1;
    }
    return { degrees, defined, bytes };
  } catch (error) {
    throw brokenAt(location, error);
  } finally {
    pages.clear();
  }
}

/** Interleaves latitudes and longitudes. */
export function interleave(
  points: Float64Array,
  lats: Float64Array,
  lngs: Float64Array,
  from: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    points[2 * i] = lats[from + i]!;
    points[2 * i + 1] = lngs[from + i]!;
  }
}

/** null for an encoding that is not read here */
function readPlain(
  sound: SoundChunk,
  unpacked: UnpackedPages,
  rows: number,
  memory: DegreesMemory,
): Omit<Coordinates, 'bytes'> | null {
  const { type } = sound.chunk.metadata;
  if (memory.degrees.length < rows) memory.degrees = new Float64Array(rows);
  const degrees = memory.degrees.subarray(0, rows);
  let defined: Uint8Array | null = null;
  let dictionary: Float64Array = new Float64Array(0);
  for (const { isDictionary, indexes, isPlain, page, row, count, present, levels } of plainPages(
    sound,
    unpacked,
    rows,
  )) {
    if (isDictionary) {
      dictionary = plainValues(page, type, count);
      continue;
    }
    if (indexes === null && !isPlain) return null;
    if (levels !== null) {
      defined ??= new Uint8Array(rows).fill(1);
      defined.set(levels, row);
    }
    if (present === count && isPlain && type === 'DOUBLE') {
      const at = page.at;
      page.skip(8 * count);
      const into = new Uint8Array(degrees.buffer, degrees.byteOffset + 8 * row, 8 * count);
      into.set(page.bytes.subarray(at, page.at));
      continue;
    }
    const values = indexes === null ? plainValues(page, type, present) : indexedValues(indexes, dictionary);
    if (present === count) degrees.set(values, row);
    else
      for (let i = 0, v = 0; i < count; i++)
        degrees[row + i] = defined![row + i] === 1 ? values[v++]! : Number.NaN;
  }
  return { degrees, defined };
}

function plainValues(page: PageBytes, type: string, count: number): Float64Array {
  const width = type === 'FLOAT' ? 4 : 8;
  const at = page.at;
  page.skip(width * count);
  // An aligned copy; `slice` of a Buffer does not copy.
  const own = new Uint8Array(width * count);
  own.set(page.bytes.subarray(at, page.at));
  return width === 8
    ? new Float64Array(own.buffer, 0, count)
    : Float64Array.from(new Float32Array(own.buffer, 0, count));
}

function indexedValues(indexes: Uint32Array, dictionary: Float64Array): Float64Array {
  const values = new Float64Array(indexes.length);
  for (let i = 0; i < indexes.length; i++) values[i] = dictionary[indexes[i]!]!;
  return values;
}
