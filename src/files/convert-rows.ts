// Converts rows in columns, positions to codes or codes to positions, and reports the outcome of each.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { codeBytes, recordAt, recordStatusAt } from '../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../hexcodes/library/hexcodes.js';
import { ROW_STATUSES, type RowStatus } from '../hexcodes/wire/job.js';
import { codeIn } from '../hexcodes/wire/rows/csv-fields.js';
import { POINT_CHOICES } from '../tables/shapes/shapes.js';
import { addedColumns, chosenMembers, DECODE_ADDED, keptColumns, type Sample } from './columns/columns.js';
import {
  derivedColumns,
  type EncodedBatch,
  type EncodeShape,
  encodeAdded,
  encodeAddedValues,
  encodeEach,
  NOT_A_RESOLUTION,
  resolutionIn,
} from './columns/encode-columns.js';
import {
  codeColumn,
  findPosition,
  type PositionColumns,
  positionIndexes,
  positionReader,
  resolutionColumn,
  withoutContradictions,
} from './columns/position-columns.js';
import { badInput } from './exit-codes.js';
import type { PointColumns } from './formats/geojson/geojson-source.js';
import {
  POSITION_COLUMNS,
  type SinkColumns,
  type TableColumn,
  type TableRows,
  unreadOf,
} from './formats/table.js';
import { codeTextOf, textOf } from './formats/values/column-text.js';
import type { FilesRequest } from './request.js';
import { type Field, faultIn, type ReadFields, type RowFailure } from './tally.js';

// Positions in columns to codes, a batch of rows at a time.

const POINT_WORDS = `--point ${POINT_CHOICES.join(', ').replace(/, (?=\w+$)/, ' or ')} says which of its points is meant`;
/** The fault of a row whose shape is not a point. */
export const shapeFault = (type: string): string => `a ${type}, and ${POINT_WORDS}`;

/** @param keptIndexes of the columns of the source that are kept */
function encoder(
  hexcodes: Hexcodes,
  { resolution, isFormer, hasCertainty = false, columns: choice }: FilesRequest,
  { columns, sample, hasHeader, file, isTyped, needsPosition, isSorted = false }: RowsShape,
  keptIndexes: readonly number[],
): RowConverter {
  const where = findPosition(sample, choice, file, hasHeader);
  const read = positionReader(columns, where);
  const at = { resolution: resolutionColumn(sample.names, file) };
  const readColumns = positionIndexes(where);
  refuseUnread(
    readColumns.map((index) => columns[index]!),
    file,
  );
  const kept = keptIndexes.map((index) => columns[index]!);
  const typed = isTyped ? textPositions(columns, keptIndexes, where) : [];
  for (const { index } of typed) kept[index] = { name: kept[index]!.name, kind: 'double' };
  const keepsResolution = at.resolution >= 0 && keptIndexes.includes(at.resolution);
  const addsPosition = needsPosition && where.kind !== 'pair';
  const encodeShape = { hasResolution: keepsResolution, isFormer, hasCertainty, isSorted };
  const positions = addsPosition ? POSITION_COLUMNS : [];
  const added = addedColumns([...positions, ...encodeAdded(encodeShape)], kept, choice.prefix, file);

  return {
    columns: {
      kept,
      added,
      ...chosenMembers(choice, added),
      ...(isSorted
        ? { derived: derivedColumns(encodeShape, kept.length + positions.length, kept.length + added.length) }
        : {}),
    },
    position: addsPosition
      ? { lat: kept.length, lng: kept.length + 1, ...binaryAt(columns, keptIndexes, where) }
      : where.kind === 'pair'
        ? { lat: keptIndexes.indexOf(where.lat), lng: keptIndexes.indexOf(where.lng) }
        : { lat: -1, lng: -1 },
    convert(given) {
      const rows = withoutContradictions(given, columns, [...readColumns, at.resolution]);
      const { values } = rows;
      const latLngDeg = new Float64Array(2 * rows.rowCount);
      const views = read(rows, latLngDeg);
      const resolutions = resolutionsOf(rows, columns, at.resolution, resolution);
      const batch = encoded(hexcodes, latLngDeg, resolutions, encodeShape);
      const { admin, status } = batch;
      const keptValues = keptIndexes.map((index) => values[index]!);
      for (const { index, half } of typed) {
        keptValues[index] = degreesAt(latLngDeg, half);
      }
      const ourValues: ArrayLike<unknown>[] = addsPosition
        ? [degreesAt(latLngDeg, 0), degreesAt(latLngDeg, 1)]
        : [];
      ourValues.push(...encodeAddedValues(encodeShape, batch));
      const faultOf = (row: number): string => {
        const other = rows.others?.get(row);
        if (other !== undefined) return shapeFault(other);
        const reason = rows.unread?.get(row);
        if (reason !== undefined) return reason;
        const isWrong = resolutions[row] === NOT_A_RESOLUTION;
        const fields = (index: number): Field => fieldOf(columns, rows, index, row);
        const degrees = latLngDeg.subarray(2 * row, 2 * row + 2);
        const read = readFieldsOf(where, fields, degrees, isWrong ? fields(at.resolution) : null);
        return faultIn(status[row] as RowFailure, read);
      };
      const givenOf = (row: number): readonly [string, string] =>
        where.kind === 'pair'
          ? [fieldOf(columns, rows, where.lat, row).text, fieldOf(columns, rows, where.lng, row).text]
          : ['', ''];
      return {
        ...rows,
        values: [...keptValues, ...ourValues],
        ...counted(status, admin),
        latLngDeg,
        views,
        faultOf,
        givenOf,
      };
    },
  };
}

/** The column of binary geometries that positions are read from, by its index among those kept. */
function binaryAt(
  columns: readonly TableColumn[],
  keptIndexes: readonly number[],
  where: PositionColumns,
): { readonly shape?: number } {
  const isBinary = where.kind === 'text' && columns[where.column]!.kind === 'binary';
  return isBinary ? { shape: keptIndexes.indexOf(where.column) } : {};
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

/** One half of all positions, null where it is not a number. */
function degreesAt(latLngDeg: Float64Array, half: 0 | 1): (number | null)[] {
  return Array.from({ length: latLngDeg.length / 2 }, (_, row) => {
    const degrees = latLngDeg[2 * row + half]!;
    return Number.isNaN(degrees) ? null : degrees;
  });
}

/** @param fieldOf the field of a column in the row @param degrees lat and lng of the row */
function readFieldsOf(
  where: PositionColumns,
  fieldOf: (index: number) => Field,
  degrees: Float64Array,
  resolution: Field | null,
): ReadFields {
  if (where.kind !== 'pair') return { kind: 'whole', field: fieldOf(where.column), resolution };
  const lat = { ...fieldOf(where.lat), degrees: degrees[0]! };
  const lng = { ...fieldOf(where.lng), degrees: degrees[1]! };
  return { kind: 'pair', lat, lng, resolution };
}

/**
 * The resolution of each row; a missing value in a column of resolutions is the default.
 * @param at index of the column, or -1
 */
function resolutionsOf(
  { rowCount, values, unread }: TableRows,
  columns: readonly TableColumn[],
  at: number,
  usual: number,
): Uint8Array {
  if (at < 0) return new Uint8Array(rowCount).fill(usual);
  const own = Uint8Array.from({ length: rowCount }, (_, row) =>
    resolutionIn(textOf(columns[at]!, values[at]?.[row]), usual),
  );
  for (const row of unread?.keys() ?? []) own[row] = NOT_A_RESOLUTION;
  return own;
}

/** @param resolutions of the rows as understood, even where a position has no code */
function encoded(
  hexcodes: Hexcodes,
  latLngDeg: Float64Array,
  resolutions: Uint8Array,
  { isFormer, hasCertainty }: EncodeShape,
): EncodedBatch {
  const records = encodeEach(hexcodes, latLngDeg, resolutions);
  const code: (string | null)[] = [];
  const status: RowStatus[] = [];
  for (let row = 0; row < resolutions.length; row++) {
    const isResolution = resolutions[row] !== NOT_A_RESOLUTION;
    const word = isResolution ? ROW_STATUSES[records[recordStatusAt(row)]!]! : 'INVALID_REQUEST';
    status.push(word);
    const record = recordAt(row);
    const end = record + codeBytes(records, record);
    code.push(word === 'OK' ? records.toString('latin1', record, end) : null);
  }
  const whereOk = <T>(of: (latDeg: number, lngDeg: number) => T): (T | null)[] =>
    status.map((word, row) => (word === 'OK' ? of(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null));
  const borders = hasCertainty ? whereOk((lat, lng) => hexcodes.kernel.borderAt(lat, lng)) : [];
  return {
    code,
    resolution: Array.from(resolutions, (each) => (each === NOT_A_RESOLUTION ? null : each)),
    admin: code.map((each) => each?.slice(0, each.indexOf('-')) ?? null),
    former: isFormer ? whereOk((lat, lng) => hexcodes.formerProvinceOf(lat, lng)) : [],
    metres: borders.map((border) => border?.borderM ?? null),
    share: borders.map((border) => border?.certainty ?? null),
    status,
  };
}

/** @param keptIndexes of the columns of the source that are kept */
function decoder(
  hexcodes: Hexcodes,
  { columns: choice }: FilesRequest,
  { columns, sample, hasHeader, file }: RowsShape,
  keptIndexes: readonly number[],
): RowConverter {
  const at = codeColumn(sample, choice, file, (text) => hexcodes.isValid(text), hasHeader);
  const column = columns[at]!;
  refuseUnread([column], file);
  // Features without geometries have only the position that we add.
  const placed = hasNoPosition(sample) ? [sample.position!.lat, sample.position!.lng] : [];
  const indexes = keptIndexes.filter((index) => !placed.includes(index));
  const kept = indexes.map((index) => columns[index]!);
  const added = addedColumns(DECODE_ADDED, kept, choice.prefix, file);

  return {
    columns: { kept, added, ...chosenMembers(choice, added) },
    position: { lat: kept.length, lng: kept.length + 1 },
    convert(given) {
      const rows = withoutContradictions(given, columns, [at]);
      for (const index of placed)
        if (Array.prototype.some.call(rows.values[index], (value) => value !== null))
          throw badInput(
            { file },
            'a feature with a geometry after features without one',
            'Rename our columns with --prefix.',
          );
      const lats: (number | null)[] = [];
      const lngs: (number | null)[] = [];
      const resolutions: (number | null)[] = [];
      const status: RowStatus[] = [];
      const admins: (string | null)[] = [];
      for (let row = 0; row < rows.rowCount; row++) {
        const isUnread = rows.unread?.has(row) === true;
        const text = isUnread ? '' : codeTextOf(column, rows.values[at]?.[row]);
        const decoded = hexcodes.decode(codeIn(text));
        lats.push(decoded?.lat ?? null);
        lngs.push(decoded?.lng ?? null);
        resolutions.push(decoded?.resolution ?? null);
        // As in the service, a row without a code is an invalid request, not an invalid code.
        status.push(decoded !== null ? 'OK' : text === '' ? 'INVALID_REQUEST' : 'INVALID_HEXCODES');
        admins.push(decoded?.admin_code ?? null);
      }
      const keptValues = indexes.map((index) => rows.values[index]!);
      const faultOf = (row: number): string => {
        const reason = rows.unread?.get(row);
        if (reason !== undefined) return reason;
        const field = fieldOf(columns, rows, at, row);
        return faultIn(status[row] as RowFailure, { kind: 'whole', field, resolution: null });
      };
      return {
        ...rows,
        values: [...keptValues, lats, lngs, resolutions, status],
        ...counted(status, admins),
        latLngDeg: null,
        views: 0,
        faultOf,
      };
    },
  };
}

/** Whether the first rows have no geometry. */
function hasNoPosition({ position, rows }: Sample): boolean {
  return position !== undefined && rows.every((row) => row[position.lat] === '' && row[position.lng] === '');
}

const STATUS_NUMBERS = new Map(ROW_STATUSES.map((word, status) => [word, status]));
const ADMIN_NUMBERS = new Map(ADMIN_UNITS.map(({ code }, admin) => [code, admin]));

/** Rows with our columns after those kept. */
export interface ConvertedRows extends TableRows {
  /** The status of each row. */
  readonly status: readonly RowStatus[];
  readonly failed: number;
  /** Rows by status, in the order of ROW_STATUSES. */
  readonly byStatus: Uint32Array;
  /** Rows that are OK, by province. */
  readonly byAdmin: Uint32Array;
  /** lat and lng of each row, NaN where they are not numbers; null for codes. */
  readonly latLngDeg: Float64Array | null;
  /** Rows whose position is the middle of a map's view only. */
  readonly views: number;
  /** The fault of a failed row of the batch, as a sentence. */
  faultOf(row: number): string;
}

export interface RowConverter {
  readonly columns: SinkColumns;
  /** Where a position is among the columns kept and added: for GeoJSON. */
  readonly position: PointColumns;
  convert(rows: TableRows): ConvertedRows;
}

/** The properties of source and target that a converter depends on. */
export interface RowsShape {
  readonly columns: readonly TableColumn[];
  readonly sample: Sample;
  /** Whether the names of columns are those of a header row. */
  readonly hasHeader: boolean;
  /** Name of the file in messages. */
  readonly file: string;
  /** Whether the target has numbers; positions that came as text are then written as numbers. */
  readonly isTyped?: boolean;
  /** Whether the target needs a column of lat and one of lng, even if the position came in another form. */
  readonly needsPosition?: boolean;
  /** Whether rows are to be sorted by cell. */
  readonly isSorted?: boolean;
}

/** @throws CliFailure BAD_INPUT for a column whose values are not read */
export function refuseUnread(columns: readonly TableColumn[], file: string): void {
  for (const { name, unread } of columns) {
    if (unread !== undefined)
      throw badInput({ file, column: name }, unread, 'Leave the column out with --drop.');
  }
}

/** A value of a row, for the sentence about its fault. */
export function fieldOf(
  columns: readonly TableColumn[],
  { values }: TableRows,
  at: number,
  row: number,
): Field {
  const column = columns[at]!;
  return { name: column.name, text: codeTextOf(column, values[at]?.[row]) };
}

function counted(status: readonly RowStatus[], admins: readonly (string | null)[]) {
  const byStatus = new Uint32Array(ROW_STATUSES.length);
  const byAdmin = new Uint32Array(ADMIN_UNITS.length);
  for (const [row, word] of status.entries()) {
    byStatus[STATUS_NUMBERS.get(word)!]!++;
    const admin = ADMIN_NUMBERS.get(admins[row] ?? '');
    if (admin !== undefined) byAdmin[admin]!++;
  }
  return { status, failed: status.length - byStatus[0]!, byStatus, byAdmin };
}

/** The rows whose status is wanted. */
export function rowsWhere(rows: ConvertedRows, isWanted: (status: RowStatus) => boolean): TableRows {
  const wanted: number[] = [];
  rows.status.forEach((word, row) => {
    if (isWanted(word)) wanted.push(row);
  });
  const { documents, givenOf } = rows;
  return {
    ...(givenOf === undefined ? {} : { givenOf: (row: number) => givenOf(wanted[row]!) }),
    ...unreadOf(rows, wanted),
    rowCount: wanted.length,
    values: rows.values.map((column) => wanted.map((row) => column[row])),
    ...(documents === undefined ? {} : { documents: wanted.map((row) => documents[row]!) }),
  };
}

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
