// Codes in a column to positions, one at a time.
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { codeColumn } from '../columns/code-column.js';
import { addedColumns, DECODE_ADDED } from '../columns/columns.js';
import { faultIn } from '../failed-row.js';
import { codeTextOf } from '../formats/values/column-text.js';
import type { FilesRequest } from '../request.js';
import type { RowFailure } from '../tally.js';
import {
  countAdmin,
  countStatus,
  fieldOf,
  isWhole,
  type RowConverter,
  type RowStatus,
  type RowsShape,
  refuseUnread,
} from './converted-rows.js';

/** @param keptIndexes of the columns of the source that stay */
export function decoder(
  hexcodes: Hexcodes,
  { columns: choice }: FilesRequest,
  { columns, sample, hasHeader, file }: RowsShape,
  keptIndexes: readonly number[],
): RowConverter {
  const at = codeColumn(sample, choice, file, (text) => hexcodes.isValid(text), hasHeader);
  const column = columns[at]!;
  refuseUnread([column], file);
  const kept = keptIndexes.map((index) => columns[index]!);
  const added = addedColumns(DECODE_ADDED, kept, choice.prefix, file);

  return {
    columns: { kept, added, isWhole: isWhole(keptIndexes, columns) },
    position: { lat: kept.length, lng: kept.length + 1 },
    convert(rows, tally) {
      const lats: (number | null)[] = [];
      const lngs: (number | null)[] = [];
      const resolutions: (number | null)[] = [];
      const status: RowStatus[] = [];
      let failedRows = 0;
      for (let row = 0; row < rows.rowCount; row++) {
        const text = codeTextOf(column, rows.values[at]?.[row]);
        const decoded = hexcodes.decode(text);
        lats.push(decoded?.lat ?? null);
        lngs.push(decoded?.lng ?? null);
        resolutions.push(decoded?.resolution ?? null);
        // As the service: a row without a code is a wrong request, not an invalid code.
        status.push(decoded !== null ? 'OK' : text === '' ? 'INVALID_REQUEST' : 'INVALID_HEXCODES');
        if (decoded === null) failedRows++;
        else countAdmin(tally, decoded.admin_code);
      }
      countStatus(tally, status);
      const keptValues = keptIndexes.map((index) => rows.values[index]!);
      const faultOf = (row: number): string => {
        const field = fieldOf(columns, rows, at, row);
        return faultIn(status[row] as RowFailure, { kind: 'whole', field, resolution: null });
      };
      return {
        ...rows,
        values: [...keptValues, lats, lngs, resolutions, status],
        status,
        failedRows,
        faultOf,
      };
    },
  };
}
