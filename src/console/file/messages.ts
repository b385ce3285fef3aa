// The messages between the page and its worker for files.
import type { Operation, RowStatus } from '../../hexcodes/wire/job.js';
import type { PointsToDraw } from '../points/drawn-points.js';

export type FileFormat = 'csv' | 'ndjson';

/** From the page: one file. A worker converts one, and is then ended. */
export interface FileTask {
  readonly file: Blob;
  readonly isGzip: boolean;
  readonly format: FileFormat;
  /** 0 to 15, for rows that name none. */
  readonly resolution: number;
  /** Paths of the kernel and of the boundaries. */
  readonly paths: Readonly<Record<'kernel' | 'index' | 'reach', string>>;
}

/** A row that failed. */
export interface FailedExample {
  /** From 1, without the header row and blank lines. */
  readonly row: number;
  readonly status: RowStatus;
  readonly text: string;
  /** '' where the status says everything. */
  readonly reason: string;
  /** Whether it would lie in Viet Nam with latitude and longitude exchanged. */
  readonly isSwapped: boolean;
}

export interface FileTally {
  readonly operation: Operation;
  /** Before the names of our columns; '' but where the file has one of them. */
  readonly prefix: string;
  rows: number;
  /** At the places of ROW_STATUSES. */
  readonly byStatus: number[];
  /** OK rows, at the admin numbers. */
  readonly byAdmin: number[];
  readonly examples: FailedExample[];
}

/** From the worker. */
export type FileNews =
  | { readonly kind: 'progress'; readonly readBytes: number; readonly rows: number }
  | {
      readonly kind: 'done';
      /** The bytes that `hexcodes encode` writes. */
      readonly answer: Blob;
      readonly tally: FileTally;
      readonly points: PointsToDraw;
    }
  | { readonly kind: 'refused'; readonly reason: string };
