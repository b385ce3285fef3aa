// Reads Parquet by hyparquet, one row group at a time. Timestamps, dates, times and decimals stay integers, so that none
// loses digits.

import { closeSync, openSync, readSync } from 'node:fs';
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { badInput, reasonOf } from '../../../file-faults.js';
import type { Input } from '../../disk/input.js';
import type { TableSource } from '../table.js';
import { readBy, shapedColumn } from '../values/nested.js';
import { utf8Text } from '../values/utf8.js';
import { removeAnnotations, shapeOf } from './parquet-types.js';

const BATCH_ROWS = 16_384;

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

export async function openParquet(input: Input): Promise<TableSource> {
  const file = await bufferOf(input);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file, { geoparquet: false });
  } catch (error) {
    throw badInput({ file: input.name }, `not a whole Parquet file (${reasonOf(error)})`);
  }
  const fields = parquetSchema(metadata).children.map((node) =>
    shapedColumn(node.element.name, () => shapeOf(node)),
  );
  const names = fields.map(({ column }) => column.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw badInput({ file: input.name, column: twice }, 'the schema names it twice');
  removeAnnotations(metadata.schema);
  const part = input.part?.kind === 'rows' ? input.part : { start: 0, end: Number.POSITIVE_INFINITY };
  const scan = parquetScan({ file, metadata, compressors, geoparquet: false, utf8: false, parsers: PARSERS });
  return {
    columns: fields.map(({ column }) => column),
    async *batches() {
      let groupStart = 0;
      for (const group of metadata.row_groups) {
        const groupEnd = groupStart + Number(group.num_rows);
        const rowStart = Math.max(groupStart, part.start);
        const rowEnd = Math.min(groupEnd, part.end);
        groupStart = groupEnd;
        if (rowEnd <= rowStart) continue;
        const values: ArrayLike<unknown>[] = [];
        const { readColumn } = await scan;
        for (const {
          column: { name },
          shape,
        } of fields) {
          if (shape === null) {
            values.push(new Array(rowEnd - rowStart).fill(null));
            continue;
          }
          try {
            const column = await readColumn({ column: name, rowStart, rowEnd });
            const read = readBy(shape);
            values.push(read === null ? column : Array.from(column as ArrayLike<unknown>, read));
          } catch (error) {
            const location = { file: input.name, row: rowStart - part.start + 1, column: name };
            throw badInput(location, `cannot be read from here on (${reasonOf(error)})`);
          }
        }
        for (let start = rowStart; start < rowEnd; start += BATCH_ROWS) {
          const end = Math.min(start + BATCH_ROWS, rowEnd);
          yield {
            rowCount: end - start,
            values: values.map((column) => sliced(column, start - rowStart, end - rowStart)),
          };
        }
      }
    },
  };
}

/** The number of rows of each row group. @throws Error for what is no whole Parquet file */
export async function rowGroupsOf(input: Input): Promise<number[]> {
  const metadata = await parquetMetadataAsync(await bufferOf(input), { geoparquet: false });
  return metadata.row_groups.map(({ num_rows }) => Number(num_rows));
}

function sliced(values: ArrayLike<unknown>, start: number, end: number): ArrayLike<unknown> {
  return Array.prototype.slice.call(values, start, end);
}

/** Reads a file at any offset. A pipe or gzip cannot be read so; its content is held in memory. */
async function bufferOf(input: Input): Promise<AsyncBuffer> {
  if (input.path === null || input.isPacked || input.sizeBytes === null) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of input.chunks()) chunks.push(chunk);
    const bytes = new Uint8Array(Buffer.concat(chunks));
    return { byteLength: bytes.length, slice: (start, end) => bytes.buffer.slice(start, end) };
  }
  const { sizeBytes } = input;
  const descriptor = openSync(input.path, 'r');
  input.onClose(() => closeSync(descriptor));
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
