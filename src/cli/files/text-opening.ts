// The header row of one CSV or TSV: which columns the job reads, and the header of the output.

import { isUtf8 } from 'node:buffer';
import { firstRowEnd } from '../../wire/block-splitter.js';
import type { BulkJob } from '../../wire/job.js';
import { badInput } from '../exit-codes.js';
import { addedColumns, codeColumn, DECODE_ADDED, ENCODE_ADDED, encodeColumns } from './columns.js';
import { csvQuoted } from './csv.js';
import { fieldsOf, textEnd } from './csv-rows.js';
import type { Input } from './input.js';
import type { FilesRequest } from './run.js';

const MAX_HEADER_BYTES = 1024 * 1024;

export interface Opening {
  readonly names: string[];
  readonly job: BulkJob;
  /** The header of the output. */
  readonly head: Uint8Array;
  readonly headerBytes: number;
}

/** Reads chunks up to the end of the header row; `rest` is what was read beyond it. */
export async function readOpening(
  request: FilesRequest,
  input: Input,
  chunks: AsyncIterator<Uint8Array>,
  delimiter: number,
): Promise<{ opening: Opening; rest: Uint8Array }> {
  let bytes: Uint8Array = new Uint8Array(0);
  let headerBytes = -1;
  while (headerBytes < 0) {
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    headerBytes = firstRowEnd(bytes, delimiter);
    if (headerBytes < 0 && bytes.length > MAX_HEADER_BYTES) {
      throw badInput({ file: input.name }, 'the header row is longer than 1 MiB');
    }
  }
  if (bytes.length === 0) throw badInput({ file: input.name }, 'the file is empty: a header row is needed');
  if (headerBytes < 0) headerBytes = bytes.length;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const header = bytes.subarray(hasMark ? 3 : 0, headerBytes);
  if (!isUtf8(header) || header.includes(0))
    throw badInput({ file: input.name }, 'the header row is not UTF-8 text');
  const names = fieldsOf(header, 0, header.length, delimiter);
  const { columns, operation } = request;
  const isEncode = operation === 'encode';
  const at = isEncode ? encodeColumns(names, columns, input.name) : null;
  const hexcodes = isEncode ? -1 : codeColumn(names, columns, input.name);
  const readsResolution = at !== null && at.resolution >= 0;
  const ours = (isEncode ? ENCODE_ADDED : DECODE_ADDED).filter(
    ({ name }) => !(readsResolution && name === 'resolution'),
  );
  const kept = names.map((name) => ({ name, kind: 'text' as const }));
  const added = addedColumns(ours, kept, columns.prefix, input.name);
  const bare = header.subarray(0, textEnd(header, 0, header.length));
  const lineEnd = header.at(-2) === 13 && header.at(-1) === 10 ? '\r\n' : '\n';
  const separator = String.fromCharCode(delimiter);
  const tail = added.map(({ name }) => separator + csvQuoted(name)).join('') + lineEnd;
  const opening: Opening = {
    names,
    headerBytes,
    head: Buffer.concat([bare, Buffer.from(tail)]),
    job: {
      operation,
      input: 'csv',
      output: 'csv',
      resolution: request.resolution,
      delimiter,
      csv: {
        columns: names.length,
        lat: at?.lat ?? -1,
        lng: at?.lng ?? -1,
        resolution: at?.resolution ?? -1,
        hexcodes,
        lineEnd,
      },
    },
  };
  return { opening, rest: bytes.subarray(headerBytes) };
}
