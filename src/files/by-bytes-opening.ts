// The header row of a CSV or TSV that is converted by bytes: the job for its blocks, and the header of the output.

import { extrasOf } from '../hexcodes/extras.js';
import { extendedHeader, lineEndOf } from '../hexcodes/wire/bulk/csv-header.js';
import { firstRowEnd } from '../hexcodes/wire/bulk/splitters.js';
import type { BulkJob } from '../hexcodes/wire/job.js';
import { addedColumns, DECODE_ADDED, otherColumns } from './columns/columns.js';
import { encodeAdded } from './columns/encode-columns.js';
import { codeColumn, findPosition, resolutionColumn } from './columns/position-columns.js';
import type { Input } from './disk/input.js';
import { badInput } from './exit-codes.js';
import { readHeader } from './formats/csv-header.js';
import { csvQuoted, textEnd } from './formats/csv-rows.js';
import type { Run } from './request.js';

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
 * @param firstNames the header of the first input; null if this is the first
 * @returns `rest`: the bytes read beyond it
 * @throws CliFailure if there is no header row or another one than in the first input, a column is missing, or an added
 *   column has the name of one of the input
 */
export async function readOpening(
  run: Run,
  input: Input,
  chunks: AsyncIterator<Uint8Array>,
  firstNames: readonly string[] | null,
): Promise<{ opening: Opening; rest: Uint8Array }> {
  const { names, bytes: header, lead, endOffset, rest } = await readHeader(input, chunks, run.source);
  const { delimiter, hasHeader } = run.source;
  const { request } = run;
  if (firstNames !== null && JSON.stringify(firstNames) !== JSON.stringify(names))
    throw otherColumns(names, input.name, request.inputs[0]!);
  const { columns, operation } = request;
  const isEncode = operation === 'encode';
  const sample = { names, rows: run.sample?.rows ?? [] };
  const where = isEncode ? findPosition(sample, columns, input.name, hasHeader) : null;
  if (where !== null && where.kind !== 'pair')
    throw badInput({ file: input.name }, 'the position is in another column');
  const resolution = isEncode ? resolutionColumn(names, input.name) : -1;
  const isCode = (text: string): boolean => run.hexcodes.isValid(text);
  const hexcodes = isEncode ? -1 : codeColumn(sample, columns, input.name, isCode, hasHeader);
  const readsResolution = resolution >= 0;
  const { isFormer, hasCertainty = false } = request;
  const shape = { hasResolution: readsResolution, isFormer, hasCertainty, isSorted: false };
  const ours = isEncode ? encodeAdded(shape) : DECODE_ADDED;
  const kept = names.map((name) => ({ name, kind: 'text' as const }));
  const added = addedColumns(ours, kept, columns.prefix, input.name);
  const bare = header.subarray(0, textEnd(header, 0, header.length));
  const lineEnd = lineEndOf(
    hasHeader ? header : rest.subarray(0, firstRowEnd(rest, delimiter.charCodeAt(0))),
  );
  const fields = added.map(({ name }) => csvQuoted(name, delimiter));
  const head = hasHeader ? extendedHeader(bare, fields, delimiter, lineEnd) : new Uint8Array(0);
  const opening: Opening = {
    names,
    headerBytes: endOffset,
    head: Buffer.concat([lead, head]),
    job: {
      operation,
      input: 'csv',
      output: 'csv',
      resolution: request.resolution,
      extras: extrasOf({ former: isFormer, certainty: hasCertainty === true }),
      delimiter: delimiter.charCodeAt(0),
      wantsReport: true,
      csv: {
        columns: names.length,
        lat: where?.lat ?? -1,
        lng: where?.lng ?? -1,
        resolution,
        hexcodes,
        lineEnd,
      },
    },
  };
  return { opening, rest };
}
