// Positions in columns to codes, a batch of rows at a time.
import { RECORD_TEXT_BYTES, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { looksSwapped } from '../../hexcodes/wire/swapped.js';
import { addedColumns } from '../columns/columns.js';
import { encodeAdded, encodeAddedValues } from '../columns/encode-columns.js';
import { encodeEach, NOT_A_RESOLUTION, resolutionsOf } from '../columns/own-resolutions.js';
import { findPosition, type PositionColumns, resolutionColumn } from '../columns/position-columns.js';
import { positionReader } from '../columns/position-reader.js';
import { type Field, faultIn, type ReadFields } from '../failed-row.js';
import type { TableColumn, TableRows } from '../formats/table.js';
import type { FilesRequest } from '../request.js';
import { type RowFailure, SWAP_TRIES } from '../tally.js';
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

/** Row status by the kernel's status of a point. */
const STATUS_OF_POINT: readonly RowStatus[] = ['OK', 'NOT_FOUND', 'INVALID_REQUEST', 'INVALID_HEXCODES'];
const POSITION_ADDED: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
];

/** @param keptIndexes of the columns of the source that stay */
export function encoder(
  hexcodes: Hexcodes,
  { resolution, isFormer, hasCertainty = false, sort, columns: choice }: FilesRequest,
  { columns, sample, hasHeader, file, isTyped, needsPosition, boxOf }: RowsShape,
  keptIndexes: readonly number[],
): RowConverter {
  const where = findPosition(sample, choice, file, hasHeader);
  const read = positionReader(columns, where);
  const at = { resolution: resolutionColumn(sample.names, file) };
  const readColumns = where.kind === 'pair' ? [where.lat, where.lng] : [where.column];
  refuseUnread(
    readColumns.map((index) => columns[index]!),
    file,
  );
  const kept = keptIndexes.map((index) => columns[index]!);
  const typed = isTyped ? textPositions(columns, keptIndexes, where) : [];
  for (const { index } of typed) kept[index] = { name: kept[index]!.name, kind: 'double' };
  const keepsResolution = at.resolution >= 0 && keptIndexes.includes(at.resolution);
  const addsPosition = needsPosition && where.kind !== 'pair';
  const encodeShape = { hasResolution: keepsResolution, isFormer, hasCertainty, boxOf };
  const positions = addsPosition ? POSITION_ADDED : [];
  const added = addedColumns([...positions, ...encodeAdded(encodeShape)], kept, choice.prefix, file);

  return {
    columns: {
      ...{ kept, added, isWhole: isWhole(keptIndexes, columns) },
      ...(sort === null ? {} : { sortedBy: kept.length + positions.length }),
    },
    position: addsPosition
      ? { lat: kept.length, lng: kept.length + 1 }
      : where.kind === 'pair'
        ? { lat: keptIndexes.indexOf(where.lat), lng: keptIndexes.indexOf(where.lng) }
        : { lat: -1, lng: -1 },
    convert(rows, tally) {
      const { rowCount, values } = rows;
      const latLngDeg = new Float64Array(2 * rowCount);
      read(rows, latLngDeg);
      const own = at.resolution < 0 ? null : resolutionsOf(values[at.resolution], rowCount, resolution);
      const records =
        own === null
          ? Buffer.from(hexcodes.encodeBatch(latLngDeg, resolution).buffer)
          : encodeEach(hexcodes, latLngDeg, own);
      const codes: (string | null)[] = [];
      const admins: (string | null)[] = [];
      const status: RowStatus[] = [];
      let failedRows = 0;
      for (let row = 0; row < rowCount; row++) {
        const isResolution = own === null || own[row] !== NOT_A_RESOLUTION;
        const word = isResolution ? STATUS_OF_POINT[records[recordStatusAt(row)]!]! : 'INVALID_REQUEST';
        status.push(word);
        if (word === 'OK') {
          const start = recordAt(row);
          const longest = start + RECORD_TEXT_BYTES;
          const end = records.indexOf(0, start);
          const code = records.toString('latin1', start, end < 0 ? longest : Math.min(end, longest));
          const admin = code.slice(0, code.indexOf('-'));
          codes.push(code);
          admins.push(admin);
          countAdmin(tally, admin);
          continue;
        }
        codes.push(null);
        admins.push(null);
        if (failedRows++ + tally.failedRows < SWAP_TRIES) {
          if (looksSwapped(hexcodes.kernel, latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!)) tally.swapped++;
        }
      }
      countStatus(tally, status);
      const resolutions = status.map((_, row) => {
        const each = own === null ? resolution : own[row]!;
        return each === NOT_A_RESOLUTION ? null : each;
      });
      const keptValues = keptIndexes.map((index) => values[index]!);
      for (const { index, half } of typed) {
        keptValues[index] = degreesAt(latLngDeg, half);
      }
      const ourValues: ArrayLike<unknown>[] = addsPosition
        ? [degreesAt(latLngDeg, 0), degreesAt(latLngDeg, 1)]
        : [];
      const batch = { latLngDeg, codes, admins, resolutions, status };
      ourValues.push(...encodeAddedValues(encodeShape, batch, hexcodes));
      const faultOf = (row: number): string => {
        const isWrong = own !== null && own[row] === NOT_A_RESOLUTION;
        const wrong = isWrong ? fieldOf(columns, rows, at.resolution, row) : null;
        return faultIn(status[row] as RowFailure, readFieldsOf(columns, where, rows, row, latLngDeg, wrong));
      };
      return { ...rows, values: [...keptValues, ...ourValues], status, failedRows, faultOf };
    },
  };
}

/**
 * The kept columns of positions that are text, or integers of JSON, which has no types: their index among those kept,
 * and 0 for latitudes, 1 for longitudes.
 */
function textPositions(
  columns: readonly TableColumn[],
  keptIndexes: readonly number[],
  where: PositionColumns,
): { index: number; half: 0 | 1 }[] {
  if (where.kind !== 'pair') return [];
  const { lat, lng } = where;
  return keptIndexes.flatMap((column, index) => {
    const { kind, isInferred } = columns[column]!;
    const isTyped = kind !== 'text' && !(isInferred === true && kind === 'long');
    return (column === lat || column === lng) && !isTyped ? [{ index, half: column === lat ? 0 : 1 }] : [];
  });
}

/** One half of all positions, null where it is no number. */
function degreesAt(latLngDeg: Float64Array, half: 0 | 1): (number | null)[] {
  return Array.from({ length: latLngDeg.length / 2 }, (_, row) => {
    const degrees = latLngDeg[2 * row + half]!;
    return Number.isNaN(degrees) ? null : degrees;
  });
}

function readFieldsOf(
  columns: readonly TableColumn[],
  where: PositionColumns,
  rows: TableRows,
  row: number,
  latLngDeg: Float64Array,
  resolution: Field | null,
): ReadFields {
  if (where.kind !== 'pair') {
    return { kind: 'whole', field: fieldOf(columns, rows, where.column, row), resolution };
  }
  const lat = { ...fieldOf(columns, rows, where.lat, row), degrees: latLngDeg[2 * row]! };
  const lng = { ...fieldOf(columns, rows, where.lng, row), degrees: latLngDeg[2 * row + 1]! };
  return { kind: 'pair', lat, lng, resolution };
}
