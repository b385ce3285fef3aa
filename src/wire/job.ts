// What a bulk conversion is, as plain data: a job says how every block of one body is converted and can be posted
// to a worker together with a block. The pieces that use it: BulkReader (bulk-reader.ts) cuts a body into blocks and
// finds the job, convertBlock (convert.ts) answers one block.

export type Operation = 'encode' | 'decode';

export type BulkFormat = 'csv' | 'ndjson' | 'frames';

/** What the caller asks for; the rest of the job is found in the body itself (a CSV header). */
export interface BulkRequest {
  readonly operation: Operation;
  readonly input: BulkFormat;
  readonly output: BulkFormat;
  /** 0 to 15, for rows that name no resolution of their own. Decode ignores it. */
  readonly resolution: number;
  /** Put before the names of the columns that we add, so that they clash with none of the input's. */
  readonly prefix: string;
  /** Of CSV in and out: `,` unless given. */
  readonly delimiter?: ',' | '\t';
}

export interface BulkJob {
  readonly operation: Operation;
  readonly input: BulkFormat;
  readonly output: BulkFormat;
  readonly resolution: number;
  /** The delimiter's byte, of CSV in and out. */
  readonly delimiter: number;
  /** Present when the input is CSV. */
  readonly csv?: CsvShape;
  /** Every row is answered with this status and no work is done: the rest of a body whose quota is used up. */
  readonly refusal?: 'OVER_QUERY_LIMIT' | 'UNAVAILABLE';
}

/** What the header row says. Columns count from 0; -1 is absent. */
export interface CsvShape {
  readonly columns: number;
  readonly lat: number;
  readonly lng: number;
  readonly resolution: number;
  readonly hexcodes: number;
  /** Ends a row that has no line end of its own: the last one. */
  readonly lineEnd: '\n' | '\r\n';
}

/** The answer to one block: as many rows as the block has, in its order. */
export interface ConvertedBlock extends ConvertedRows {
  /** Owns its buffer: may be transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What became of the rows of one block. */
export interface ConvertedRows {
  readonly rows: number;
  /** Rows whose status is not OK. */
  readonly failed: number;
  /** Rows by status, at the places of ROW_STATUSES. */
  readonly byStatus: Uint32Array;
}

/** The statuses of rows; their places are the kernel's row statuses (assembly/text/row.ts). */
export const ROW_STATUSES = [
  'OK',
  'NOT_FOUND',
  'INVALID_REQUEST',
  'INVALID_HEXCODES',
  'OVER_QUERY_LIMIT',
  'UNAVAILABLE',
] as const;

export type RowStatus = (typeof ROW_STATUSES)[number];

/** A block is cut at the last row end before this, so that block and answer stay inside the kernel's text areas. */
export const BLOCK_BYTES = 256 * 1024;

/** A block of frames ends with the frame that passes BLOCK_BYTES, if this holds it: it does for 4,096 points. */
export const FRAME_BLOCK_BYTES = BLOCK_BYTES + 81_936;

/** A longer line of NDJSON is answered INVALID_REQUEST. A row of CSV that is longer than a block ends the body. */
export const MAX_NDJSON_ROW_BYTES = 64 * 1024;

/** The body cannot be read on, or its header cannot be used: 400 before the first answer, else the end of it. */
export class BulkInputError extends Error {
  override readonly name = 'BulkInputError';
}
