// Chooses the converter of rows in columns: positions to codes, or codes to positions.
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { keptColumns } from '../columns/columns.js';
import type { FilesRequest } from '../request.js';
import { type RowConverter, type RowsShape, refuseUnread } from './converted-rows.js';
import { decoder } from './decode-rows.js';
import { encoder } from './encode-rows.js';

/**
 * @throws CliFailure if the columns that the request names are not there, or ours clash with them
 */
export function rowConverter(hexcodes: Hexcodes, request: FilesRequest, shape: RowsShape): RowConverter {
  const kept = keptColumns(shape.columns, request.columns, shape.file);
  refuseUnread(
    kept.map((index) => shape.columns[index]!),
    shape.file,
  );
  return request.operation === 'encode'
    ? encoder(hexcodes, request, shape, kept)
    : decoder(hexcodes, request, shape, kept);
}
