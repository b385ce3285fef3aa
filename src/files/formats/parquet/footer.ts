// The metadata at the end of a Parquet file: walked first, then read by hyparquet.

import { type AsyncBuffer, type FileMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { requireBelowCeiling } from '../../held/ceiling.js';
import { walkThrift } from './thrift-walk.js';

/** Behind the metadata: u32 their size │ `PAR1`. */
const END_BYTES = 8;
const MAGIC = 'PAR1';
const MOST_DEPTH = 64;

/**
 * @param file for messages
 * @throws CliFailure BAD_INPUT for metadata beyond the ceiling, Error for what is no whole Parquet file
 */
export async function readFooter(buffer: AsyncBuffer, file: string): Promise<FileMetaData> {
  const { byteLength } = buffer;
  if (byteLength < END_BYTES) throw new Error('it is shorter than the end of a Parquet file');
  const end = Buffer.from(await buffer.slice(byteLength - END_BYTES, byteLength));
  if (end.toString('latin1', 4) !== MAGIC) throw new Error(`it does not end with ${MAGIC}`);
  const sizeBytes = end.readUInt32LE(0);
  if (sizeBytes > byteLength - END_BYTES)
    throw new Error(`its metadata claim ${sizeBytes} bytes of ${byteLength}`);
  requireMetadata(file, sizeBytes);
  const footer = await buffer.slice(byteLength - END_BYTES - sizeBytes, byteLength);
  requireMetadata(file, walkThrift(new DataView(footer, 0, sizeBytes), 0).bytes);
  const metadata = metadataOf(footer);
  checkSchema(metadata.schema);
  for (const { num_rows } of metadata.row_groups) {
    const rows = Number(num_rows);
    if (!(Number.isSafeInteger(rows) && rows >= 0)) throw new Error(`a row group of ${num_rows} rows`);
  }
  return metadata;
}

function metadataOf(footer: ArrayBuffer): FileMetaData {
  try {
    return parquetMetadata(footer, { geoparquet: false });
  } catch (error) {
    // A member of another type than it should be.
    if (error instanceof TypeError)
      throw new Error('its metadata lack a member, or have one of another type');
    throw error;
  }
}

function requireMetadata(file: string, bytes: number): void {
  requireBelowCeiling({ file }, bytes, 'the metadata', 'Write larger row groups or fewer columns.');
}

/** Checks the numbers of children, by which a list of elements is a tree. */
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
    if (due.length > MOST_DEPTH) throw new Error(`columns are nested more than ${MOST_DEPTH} deep`);
  }
  if (elements.length === 0 || due.some((left) => left > 0)) throw new Error('a schema that is cut off');
}
