// The header row of a CSV or TSV that is converted by bytes: the job for its blocks, and the header of the output.

import { extendedHeader, lineEndOf } from '../../wire/bulk/csv-header.js';
import type { BulkJob } from '../../wire/job.js';
import { addedColumns, codeColumn, DECODE_ADDED, ENCODE_ADDED, encodeColumns } from './columns.js';
import type { Input } from './disk/input.js';
import { readHeader } from './formats/csv-header.js';
import { csvQuoted, textEnd } from './formats/csv-rows.js';
import type { FilesRequest } from './request.js';

export interface Opening {
  readonly names: string[];
  readonly job: BulkJob;
  /** The header of the output, with its line end. */
  readonly head: Uint8Array;
  /** Size of the header row in the content, with a byte order mark. */
  readonly headerBytes: number;
}

/**
 * Reads chunks up to the end of the header row.
 * @returns `rest`: the bytes read beyond it
 * @throws CliFailure if there is no header row, a column is missing, or an added column has the name of one of the input
 */
export async function readOpening(
  request: FilesRequest,
  input: Input,
  chunks: AsyncIterator<Uint8Array>,
  delimiter: number,
): Promise<{ opening: Opening; rest: Uint8Array }> {
  const { names, bytes: header, endOffset, rest } = await readHeader(input, chunks, delimiter);
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
  const lineEnd = lineEndOf(header);
  const fields = added.map(({ name }) => csvQuoted(name));
  const opening: Opening = {
    names,
    headerBytes: endOffset,
    head: extendedHeader(bare, fields, String.fromCharCode(delimiter), lineEnd),
    job: {
      operation,
      input: 'csv',
      output: 'csv',
      resolution: request.resolution,
      delimiter,
      wantsReport: true,
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
  return { opening, rest };
}
