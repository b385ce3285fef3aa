// The metadata at the end of a Parquet file: walked first, then read by hyparquet.

import {
  type AsyncBuffer,
  type FileMetaData,
  type KeyValue,
  parquetMetadata,
  type SchemaElement,
} from 'hyparquet';
import { badInput, joinedFiles } from '../../exit-codes.js';
import { requireBelowCeiling } from '../../held/ceiling.js';
import {
  type DeclaredGeometries,
  declaredGeometries,
  geoMetadata,
  geometriesIn,
  type TypedGeometry,
} from '../geoparquet.js';
import type { TableColumn } from '../table.js';
import type { ShapedColumn } from '../values/column-text.js';
import { BINARY, BYTE, DOUBLE, FALSE, I16, I32, I64, LIST, STRUCT, TRUE } from './thrift.js';

// hyparquet allocates lists of the length that the file claims, also nested ones: a hundred bytes took gigabytes.
// Therefore structures of Thrift's compact protocol are walked before it reads them.
const MAX_NESTING = 32;
/** Approximate memory that a structure, a list, an entry and a member take when they are read. */
const STRUCT_BYTES = 200;
const ENTRY_BYTES = 24;

const STOP = 0;

/** Extent of a structure. */
interface ThriftSize {
  /** Offset after its last byte. */
  readonly end: number;
  /** Approximate memory that it takes once read. */
  readonly bytes: number;
}

/**
 * Measures a structure without reading it.
 * @throws Error for a structure that is cut off, nested too deeply, or claims entries that are not there
 */
export function walkThrift(view: DataView, start: number): ThriftSize {
  let at = start;
  let bytes = 0;
  const byte = (): number => {
    if (at >= view.byteLength) throw new Error('metadata that is cut off');
    return view.getUint8(at++);
  };
  const varint = (): number => {
    let value = 0;
    for (let i = 0, scale = 1; i < 10; i++, scale *= 128) {
      const part = byte();
      value += (part & 127) * scale;
      if (part < 128) return value;
    }
    throw new Error('metadata with a number of more than 64 bits');
  };
  const skip = (count: number): void => {
    if (at + count > view.byteLength)
      throw new Error(`metadata that claims ${count} bytes where ${view.byteLength - at} are left`);
    at += count;
  };
  const value = (type: number, depth: number): void => {
    if (depth > MAX_NESTING) throw new Error(`metadata that is nested more than ${MAX_NESTING} deep`);
    bytes += ENTRY_BYTES;
    switch (type) {
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        skip(1);
        return;
      case I16:
      case I32:
      case I64:
        varint();
        return;
      case DOUBLE:
        skip(8);
        return;
      case BINARY: {
        const length = varint();
        bytes += STRUCT_BYTES + length;
        skip(length);
        return;
      }
      case LIST:
        list(depth);
        return;
      case STRUCT:
        struct(depth);
        return;
      default:
        throw new Error(`metadata with a value of type ${type}`);
    }
  };
  const list = (depth: number): void => {
    const head = byte();
    const count = head >> 4 === 15 ? varint() : head >> 4;
    const type = head & 15;
    if (count > view.byteLength - at)
      throw new Error(`metadata that claims ${count} entries where ${view.byteLength - at} bytes are left`);
    bytes += STRUCT_BYTES;
    // In a list, true and false take a byte each.
    for (let i = 0; i < count; i++) value(type === TRUE || type === FALSE ? BYTE : type, depth + 1);
  };
  const struct = (depth: number): void => {
    bytes += STRUCT_BYTES;
    for (;;) {
      const head = byte();
      if ((head & 15) === STOP) return;
      if (head >> 4 === 0) varint();
      value(head & 15, depth + 1);
    }
  };
  struct(0);
  return { end: at, bytes };
}

/** After the metadata: u32 their size │ `PAR1`. */
const END_BYTES = 8;
const MAGIC = 'PAR1';
/** The magic of a file whose metadata are encrypted, too. */
const ENCRYPTED = 'PARE';
export const DECRYPT =
  'Write it again without encryption, with the keys: pyarrow.parquet reads it by decryption_properties.';
const MAX_DEPTH = 64;

/**
 * @param file for messages
 * @throws CliFailure BAD_INPUT for metadata beyond the ceiling, Error for anything but a whole Parquet file
 */
export async function readFooter(buffer: AsyncBuffer, file: string): Promise<FileMetaData> {
  const { byteLength } = buffer;
  if (byteLength < END_BYTES) throw new Error('it is shorter than the end of a Parquet file');
  const end = Buffer.from(await buffer.slice(byteLength - END_BYTES, byteLength));
  if (end.toString('latin1', 4) === ENCRYPTED) throw badInput({ file }, 'it is encrypted', DECRYPT);
  if (end.toString('latin1', 4) !== MAGIC) throw new Error(`it does not end with ${MAGIC}`);
  const sizeBytes = end.readUInt32LE(0);
  if (sizeBytes > byteLength - END_BYTES)
    throw new Error(`its metadata claim ${sizeBytes} bytes of ${byteLength}`);
  requireMetadata(file, sizeBytes);
  const footer = await buffer.slice(byteLength - END_BYTES - sizeBytes, byteLength);
  requireMetadata(file, walkThrift(new DataView(footer, 0, sizeBytes), 0).bytes);
  const metadata = metadataOf(footer);
  checkSchema(metadata.schema);
  // fastparquet leaves the repetition type out; Arrow then reads REQUIRED, the first value of the enumeration.
  for (const element of metadata.schema.slice(1)) element.repetition_type ??= 'REQUIRED';
  const startByte = byteLength - END_BYTES - sizeBytes - endOfData(metadata);
  if (startByte >= MAGIC.length) {
    const between = await buffer.slice(startByte - MAGIC.length, startByte + MAGIC.length);
    if (Buffer.from(between).toString('latin1') === MAGIC + MAGIC) throw joinedFiles(file);
  }
  for (const { num_rows } of metadata.row_groups) {
    const rows = Number(num_rows);
    if (!(Number.isSafeInteger(rows) && rows >= 0)) throw new Error(`a row group of ${num_rows} rows`);
  }
  return metadata;
}

/** Offset after the last column, index or filter that the metadata name. */
function endOfData({ row_groups }: FileMetaData): number {
  let end = MAGIC.length;
  const add = (start?: bigint | number, size?: bigint | number): void => {
    if (start !== undefined && size !== undefined) end = Math.max(end, Number(start) + Number(size));
  };
  for (const column of row_groups.flatMap(({ columns }) => columns)) {
    const data = column.meta_data;
    add(data?.dictionary_page_offset || data?.data_page_offset, data?.total_compressed_size);
    add(data?.bloom_filter_offset, data?.bloom_filter_length);
    add(column.offset_index_offset, column.offset_index_length);
    add(column.column_index_offset, column.column_index_length);
  }
  return end;
}

function metadataOf(footer: ArrayBuffer): FileMetaData {
  try {
    return parquetMetadata(footer, { geoparquet: false });
  } catch (error) {
    // A member that is missing or has another type makes hyparquet throw a TypeError.
    if (error instanceof TypeError)
      throw new Error('its metadata lack a member, or have one of another type');
    throw error;
  }
}

function requireMetadata(file: string, bytes: number): void {
  requireBelowCeiling({ file }, bytes, 'the metadata', 'Write larger row groups or fewer columns.');
}

/** Checks the numbers of children, which make a tree of the list of elements. */
function checkSchema(elements: readonly SchemaElement[]): void {
  const due: number[] = [];
  for (const [i, { num_children: children = 0 }] of elements.entries()) {
    while (due.at(-1) === 0) due.pop();
    if (i > 0) {
      if (due.length === 0) throw new Error('a schema with more than one root');
      due[due.length - 1]!--;
    }
    if (!(Number.isInteger(children) && children >= 0 && children < elements.length))
      throw new Error(`an element of the schema with ${children} children`);
    if (children > 0) due.push(children);
    if (due.length > MAX_DEPTH) throw new Error(`columns are nested more than ${MAX_DEPTH} deep`);
  }
  if (elements.length === 0 || due.some((left) => left > 0)) throw new Error('a schema that is cut off');
}

// Key values in the footer describe columns beyond the schema: time zones of instants, which Arrow's schema has
// (`ARROW:schema`, of pyarrow, pandas and Polars), and the geometries of GeoParquet (`geo`).

const ARROW_SCHEMA = 'ARROW:schema';
const GEO = 'geo';

/** The columns with their time zones and geometries. */
export async function describedFields(
  fields: readonly ShapedColumn[],
  said: readonly KeyValue[] | undefined,
): Promise<readonly ShapedColumn[]> {
  const geometries = geometriesIn(saidIn(said, GEO));
  const schema = fields.some(({ column }) => isInstant(column)) ? arrowSchemaIn(said) : undefined;
  const zones = schema === undefined ? null : await (await import('../arrow/schema-text.js')).zonesIn(schema);
  return fields.map(({ column, shape }) => {
    const zone = isInstant(column) ? zones?.get(column.name) : undefined;
    const geo = column.kind === 'binary' ? geometries.get(column.name) : undefined;
    return {
      column: { ...column, ...(zone === undefined ? {} : { zone }), ...(geo === undefined ? {} : { geo }) },
      shape,
    };
  });
}

/** The columns that a file declares to be geometries: by `geo`, by their logical types, by the schema of Arrow. */
export async function geometriesOf(
  elements: readonly (SchemaElement | null)[],
  said: readonly KeyValue[] | undefined,
  file: string,
): Promise<DeclaredGeometries | undefined> {
  const logical = elements.flatMap((element): TypedGeometry[] => {
    const type = element?.logical_type;
    if (type?.type !== 'GEOMETRY' && type?.type !== 'GEOGRAPHY') return [];
    // A coordinate system may have a key of its own.
    const [, key] = /^projjson:(.*)$/.exec(type.crs ?? '') ?? [];
    const crs = key === undefined ? type.crs : (saidIn(said, key) ?? type.crs);
    return [{ name: element!.name, encoding: 'wkb', crs }];
  });
  const schema = arrowSchemaIn(said);
  const typed =
    schema === undefined ? [] : await (await import('../arrow/schema-text.js')).geoArrowColumns(schema);
  return declaredGeometries(saidIn(said, GEO), [...logical, ...typed], file);
}

const saidIn = (said: readonly KeyValue[] | undefined, wanted: string): string | undefined =>
  said?.find(({ key }) => key === wanted)?.value;

/** The key value of Arrow's schema; undefined where a file has none. */
export const arrowSchemaIn = (said: readonly KeyValue[] | undefined): string | undefined =>
  saidIn(said, ARROW_SCHEMA);

/**
 * The key values of columns that are written.
 * @param source Arrow's schema of the input file; its first columns are written unchanged
 */
export async function keyValuesOf(
  columns: readonly TableColumn[],
  source?: { readonly text: string; readonly kept: number },
): Promise<KeyValue[]> {
  const said: KeyValue[] = [];
  const geo = geoMetadata(columns);
  if (geo !== undefined) said.push({ key: GEO, value: geo });
  if (
    source !== undefined ||
    columns.some((column) => isInstant(column) && (column.zone ?? 'UTC') !== 'UTC')
  ) {
    const { schemaText } = await import('../arrow/schema-text.js');
    said.push({ key: ARROW_SCHEMA, value: await schemaText(columns, source) });
  }
  return said;
}

function isInstant({ kind, isUtc }: TableColumn): boolean {
  return kind === 'timestamp' && isUtc === true;
}
