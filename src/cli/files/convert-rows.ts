// Converts batches of rows in columns: the kernel's batch calls over the positions or codes of one batch.

import { ADMIN_UNITS } from '../../admin-units.js';
import type { Hexcodes } from '../../library/node.js';
import type { Operation } from '../../wire/job.js';
import { looksSwapped } from '../position.js';
import {
  addedColumns,
  type ColumnChoice,
  codeColumn,
  DECODE_ADDED,
  ENCODE_ADDED,
  encodeColumns,
  keptColumns,
} from './columns.js';
import { degreesOf, type SinkColumns, type TableColumn, type TableRows, textOf } from './formats/table.js';
import type { RowFailure, Tally } from './tally.js';

const RECORD_BYTES = 20;
/** As a batch's resolution: each point its own. */
const EACH_ITS_OWN = 255;
const NOT_A_RESOLUTION = 254;
/** Failed rows that are tried with lat and lng exchanged. */
const SWAP_TRIES = 1000;
const STATUS_BY_POINT: readonly ('OK' | RowFailure)[] = [
  'OK',
  'NOT_FOUND',
  'INVALID_REQUEST',
  'INVALID_HEXCODES',
];

/** Rows with our columns after those kept. */
export interface ConvertedRows extends TableRows {
  /** The status of each row. */
  readonly status: readonly ('OK' | RowFailure)[];
  readonly failedRows: number;
}

export interface RowConverter {
  readonly columns: SinkColumns;
  /** Where a position stands among the columns kept and added: for GeoJSON. */
  readonly position: { readonly lat: number; readonly lng: number };
  convert(rows: TableRows, tally: Tally): ConvertedRows;
}

const ADMIN_PLACES = new Map(ADMIN_UNITS.map(({ code }, place) => [code, place]));

/** @param isTyped whether the target has numbers: positions that came as text are then written as such */
export function rowConverter(
  hexcodes: Hexcodes,
  operation: Operation,
  resolution: number,
  columns: readonly TableColumn[],
  choice: ColumnChoice,
  file: string,
  isTyped: boolean,
): RowConverter {
  const names = columns.map(({ name }) => name);
  const keptPlaces = keptColumns(columns, choice, file);
  const kept = keptPlaces.map((place) => columns[place] as TableColumn);
  const isWhole = keptPlaces.length === columns.length && keptPlaces.every((place, c) => place === c);
  const keep = (rows: TableRows): ArrayLike<unknown>[] =>
    keptPlaces.map((place) => rows.values[place] as ArrayLike<unknown>);

  if (operation === 'encode') {
    const at = encodeColumns(names, choice, file);
    const typedPlaces = isTyped
      ? keptPlaces.flatMap((place, c) => {
          const isPosition = place === at.lat || place === at.lng;
          return isPosition && columns[place]?.kind === 'text' ? [{ c, half: place === at.lat ? 0 : 1 }] : [];
        })
      : [];
    for (const { c } of typedPlaces) kept[c] = { name: kept[c]?.name as string, kind: 'double' };
    const readsResolution = at.resolution >= 0;
    const keepsResolution = readsResolution && keptPlaces.includes(at.resolution);
    const ours = ENCODE_ADDED.filter(({ name }) => !(keepsResolution && name === 'resolution'));
    const added = addedColumns(ours, kept, choice.prefix, file);
    return {
      columns: { kept, added, isWhole },
      position: { lat: keptPlaces.indexOf(at.lat), lng: keptPlaces.indexOf(at.lng) },
      convert(rows, tally) {
        const { rowCount, values } = rows;
        const latLngDeg = new Float64Array(2 * rowCount);
        for (let row = 0; row < rowCount; row++) {
          latLngDeg[2 * row] = degreesOf(columns[at.lat] as TableColumn, values[at.lat]?.[row]);
          latLngDeg[2 * row + 1] = degreesOf(columns[at.lng] as TableColumn, values[at.lng]?.[row]);
        }
        const each = readsResolution ? resolutionsOf(values[at.resolution], rowCount, resolution) : null;
        const records = encodeRows(hexcodes, latLngDeg, each ?? resolution);
        const codes: (string | null)[] = [];
        const admins: (string | null)[] = [];
        const status: ('OK' | RowFailure)[] = [];
        let failedRows = 0;
        for (let row = 0; row < rowCount; row++) {
          const start = row * RECORD_BYTES;
          let word = STATUS_BY_POINT[records[start + RECORD_BYTES - 1] as number] as 'OK' | RowFailure;
          if (each !== null && each[row] === NOT_A_RESOLUTION) word = 'INVALID_REQUEST';
          status.push(word);
          if (word !== 'OK') {
            codes.push(null);
            admins.push(null);
            if (failedRows++ + tally.failedRows < SWAP_TRIES) {
              const [lat, lng] = latLngDeg.subarray(2 * row, 2 * row + 2);
              if (looksSwapped(hexcodes, lat as number, lng as number)) tally.swapped++;
            }
            continue;
          }
          const end = records.indexOf(0, start);
          const code = records.toString('latin1', start, end < 0 ? start + 19 : Math.min(end, start + 19));
          const admin = code.slice(0, code.indexOf('-'));
          codes.push(code);
          admins.push(admin);
          countAdmin(tally, admin);
        }
        count(tally, status);
        // As understood, also where the position has no code.
        const resolutions = status.map((_, row) => {
          const own = each === null ? resolution : each[row];
          return own === NOT_A_RESOLUTION ? null : own;
        });
        const ourValues = keepsResolution ? [codes, admins, status] : [codes, resolutions, admins, status];
        const keptValues = keep(rows);
        for (const { c, half } of typedPlaces) {
          keptValues[c] = Array.from({ length: rowCount }, (_, row) => {
            const degrees = latLngDeg[2 * row + half] as number;
            return Number.isNaN(degrees) ? null : degrees;
          });
        }
        return { ...rows, values: [...keptValues, ...ourValues], status, failedRows };
      },
    };
  }

  const at = codeColumn(names, choice, file);
  const column = columns[at] as TableColumn;
  const added = addedColumns(DECODE_ADDED, kept, choice.prefix, file);
  return {
    columns: { kept, added, isWhole },
    position: { lat: kept.length, lng: kept.length + 1 },
    convert(rows, tally) {
      const lats: (number | null)[] = [];
      const lngs: (number | null)[] = [];
      const resolutions: (number | null)[] = [];
      const status: ('OK' | RowFailure)[] = [];
      let failedRows = 0;
      for (let row = 0; row < rows.rowCount; row++) {
        const text = textOf(column, rows.values[at]?.[row]);
        const decoded = hexcodes.decode(text);
        lats.push(decoded?.lat ?? null);
        lngs.push(decoded?.lng ?? null);
        resolutions.push(decoded?.resolution ?? null);
        // As the service: no code at all is a wrong request.
        status.push(decoded !== null ? 'OK' : text === '' ? 'INVALID_REQUEST' : 'INVALID_HEXCODES');
        if (decoded === null) failedRows++;
        else countAdmin(tally, decoded.admin_code);
      }
      count(tally, status);
      return { ...rows, values: [...keep(rows), lats, lngs, resolutions, status], status, failedRows };
    },
  };
}

function countAdmin(tally: Tally, admin: string): void {
  const place = ADMIN_PLACES.get(admin);
  if (place !== undefined) tally.byAdmin[place] = (tally.byAdmin[place] as number) + 1;
}

function count(tally: Tally, status: readonly ('OK' | RowFailure)[]): void {
  tally.rows += status.length;
  for (const word of status) if (word !== 'OK') tally.fail(word);
}

/** The resolution of each row; NOT_A_RESOLUTION where the column has none. */
function resolutionsOf(
  values: ArrayLike<unknown> | undefined,
  rowCount: number,
  otherwise: number,
): Uint8Array {
  const resolutions = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const value = values?.[row];
    // As the text converter: an empty field is no resolution, a missing one is the default.
    if (value === null || value === undefined) resolutions[row] = otherwise;
    else resolutions[row] = /^(?:\d|1[0-5])$/.test(String(value)) ? Number(value) : NOT_A_RESOLUTION;
  }
  return resolutions;
}

function encodeRows(hexcodes: Hexcodes, latLngDeg: Float64Array, resolution: number | Uint8Array): Buffer {
  if (typeof resolution === 'number') return Buffer.from(hexcodes.encodeBatch(latLngDeg, resolution).buffer);
  const rowCount = resolution.length;
  const records = Buffer.alloc(rowCount * RECORD_BYTES);
  const { capacity, exports, input, output, resolutions } = hexcodes.kernel;
  for (let from = 0; from < rowCount; from += capacity) {
    const block = Math.min(capacity, rowCount - from);
    input.set(latLngDeg.subarray(2 * from, 2 * (from + block)));
    for (let i = 0; i < block; i++) {
      const own = resolution[from + i] as number;
      resolutions[i] = own === NOT_A_RESOLUTION ? 0 : own;
    }
    exports.encodeBatch(block, EACH_ITS_OWN);
    records.set(output.subarray(0, block * RECORD_BYTES), from * RECORD_BYTES);
  }
  return records;
}

/** Some of the rows. */
export function rowsWhere(rows: ConvertedRows, isWanted: (status: 'OK' | RowFailure) => boolean): TableRows {
  const wanted: number[] = [];
  rows.status.forEach((word, row) => {
    if (isWanted(word)) wanted.push(row);
  });
  const { documents } = rows;
  return {
    rowCount: wanted.length,
    values: rows.values.map((column) => wanted.map((row) => column[row])),
    ...(documents === undefined ? {} : { documents: wanted.map((row) => documents[row]!) }),
  };
}
