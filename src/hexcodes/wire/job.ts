// A bulk conversion as plain data: the job says how every block of one body is converted, and can be posted to a worker
// with a block. BulkReader finds the job and cuts a body into blocks; convertBlock answers one block.

// Sentences that belong to a status, equal in HTTP bodies, rows and frames.
export const OUTSIDE_MESSAGE = 'the position lies in no province of Viet Nam nor in its coastal sea';
export const OVER_QUOTA_MESSAGE = 'the quota of the key is used up';
export const OVER_LIMIT_MESSAGE = 'the key has reached its limit of points a second';
export const OVERLOADED_MESSAGE = 'the service is overloaded';

import type { ExtrasAsked } from '../extras.js';
import type { Kernel } from '../kernel/kernel.js';
import { NO_ADMIN } from '../kernel/output-layout.js';

export type Operation = 'encode' | 'decode';

export type BulkFormat = 'csv' | 'ndjson' | 'frames';

/** The caller's part of a job; the rest is found in the body, for CSV in the header row. */
export interface BulkRequest extends ExtrasAsked {
  readonly operation: Operation;
  readonly input: BulkFormat;
  readonly output: BulkFormat;
  /** 0 to 15, for rows that name no resolution of their own. Decode ignores it. */
  readonly resolution: number;
  /** Prefix of the names of the columns that the answer adds, so that they clash with none of the input. */
  readonly prefix: string;
  /**
   * Delimiter of CSV, both in and out; by default that of its header row, and a comma for CSV made of other formats.
   */
  readonly delimiter?: Delimiter;
  /** Columns of CSV that the caller names, or counts from 1; they take precedence over columns found by name. */
  readonly columns?: ChosenColumns;
}

/** Columns by name or number in a text, or by index. */
type ChosenColumns = Readonly<Partial<Record<'lat' | 'lng' | 'hexcodes', string | number>>>;

/** Between two fields of CSV. */
export type Delimiter = ',' | ';' | '\t' | '|';

export interface BulkJob {
  readonly operation: Operation;
  readonly input: BulkFormat;
  readonly output: BulkFormat;
  readonly resolution: number;
  /** The byte between two fields of CSV, both in and out. */
  readonly delimiter: number;
  /** Bits of EXTRAS that the rows of encode have; none by default. */
  readonly extras?: number;
  /** Present when the input is CSV. */
  readonly csv?: CsvShape;
  /** The status of every row, if none is converted: for the rest of a body whose quota is used up. */
  readonly refusal?: 'OVER_QUERY_LIMIT' | 'UNAVAILABLE';
  /** Whether convertBlock adds a report to its answers. */
  readonly wantsReport?: boolean;
}

/** The header row of CSV as numbers. Columns count from 0; -1 is absent. */
export interface CsvShape {
  readonly columns: number;
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  readonly hexcodes: number;
  /** Ends the answer to a row without a line end of its own, which only the last one can be. */
  readonly lineEnd: '\n' | '\r\n';
}

/** The answer to one block: one row for each of its rows, in their order. */
export interface ConvertedBlock extends ConvertedRows {
  /** A view of a buffer of its own, which may be transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Present if the job asks for it. */
  readonly report?: BlockReport;
}

/** Details of the rows of a block, where the answer is text. */
export interface BlockReport {
  /** OK rows by admin number. */
  readonly byAdmin: Uint32Array;
  /**
   * The failed rows, to be read by failedRowsOf (rows/row-report.ts), where CSV is answered as CSV; otherwise empty.
   */
  readonly failures: Uint32Array;
}

/** How the rows of one block were answered. */
export interface ConvertedRows {
  readonly rows: number;
  /** Rows whose status is not OK. */
  readonly failed: number;
  /** Rows by status, in the order of ROW_STATUSES. */
  readonly byStatus: Uint32Array;
}

/** The statuses of rows; their indexes are the kernel's row statuses (assembly/text/row.ts). */
export const ROW_STATUSES = [
  'OK',
  'NOT_FOUND',
  'INVALID_REQUEST',
  'INVALID_HEXCODES',
  'OVER_QUERY_LIMIT',
  'UNAVAILABLE',
] as const;

export type RowStatus = (typeof ROW_STATUSES)[number];

/**
 * A block ends with the last row that ends within this, so that block and answer fit into the kernel's text areas.
 */
export const BLOCK_BYTES = 256 * 1024;

/** A block of frames may end with a frame that passes BLOCK_BYTES, up to this: four frames of 4,096 points. */
export const FRAME_BLOCK_BYTES = BLOCK_BYTES + 81_936;

/** A longer line of NDJSON is answered with INVALID_REQUEST. A row of CSV that is longer than a block ends the body. */
export const MAX_NDJSON_ROW_BYTES = 64 * 1024;

/** The rest of a body cannot be read, or its header row cannot be used. */
export class BulkInputError extends Error {
  override readonly name = 'BulkInputError';
}

// Latitude and longitude exchanged: the test for it, and its hint in answers.

/** Appended to the message about a position that `looksSwapped`. */
export const SWAPPED_HINT = '. lat and lng look swapped: the other way round the position lies in Viet Nam';

/**
 * Whether a position without a code, in degrees of any size or NaN, has a code with latitude and longitude exchanged.
 */
export function looksSwapped(kernel: Kernel, latDeg: number, lngDeg: number): boolean {
  return (
    Math.abs(lngDeg) <= 90 && Math.abs(latDeg) <= 180 && kernel.exports.regionOf(lngDeg, latDeg) !== NO_ADMIN
  );
}
