// The messages between the page and its worker for files.
import type { Operation, RowStatus } from '../../hexcodes/wire/job.js';
import type { PointsToDraw } from '../points/drawn-points.js';
import type { KernelPaths } from '../shell/worker-kernel.js';
import type { CoverTask } from '../zones/zone-list.js';
import type { Columns, TablePlan } from './table-plan.js';

export type FileFormat = 'csv' | 'ndjson';

/** From the page: one file. A worker converts one file and then ends. */
export interface FileTask {
  readonly kind: 'convert';
  readonly file: Blob;
  readonly isGzip: boolean;
  /** Undefined: by its bytes. */
  readonly format?: FileFormat | undefined;
  /** 0 to 15, for rows that name none. */
  readonly resolution: number;
  /** Undefined: by the names of the columns. */
  readonly columns?: Columns | undefined;
  /** The sheet of a workbook, from 0; undefined: the first with rows. */
  readonly sheet?: number | undefined;
  /** Zones whose names become a column. */
  readonly zones?: Omit<CoverTask, 'paths'> | undefined;
  readonly paths: KernelPaths;
}

/** From the page: a table as a workbook. */
export interface WorkbookTask {
  readonly kind: 'workbook';
  readonly table: Blob;
  readonly delimiter: string;
}

/** A row that failed. */
export interface FailedExample {
  /** From 1, without the header row and blank lines. */
  readonly row: number;
  readonly status: RowStatus;
  readonly text: string;
  /** `parameter message` of each fault; none where the status says everything. */
  readonly reasons: readonly string[];
  /** Whether it would lie in Viet Nam with latitude and longitude exchanged. */
  readonly isSwapped: boolean;
}

export interface FileTally {
  readonly operation: Operation;
  /** Prefix of our column names; '' unless the file has one of them. */
  readonly prefix: string;
  rows: number;
  /** Counts by index of ROW_STATUSES. */
  readonly byStatus: number[];
  /** OK rows by admin number. */
  readonly byAdmin: number[];
  readonly examples: FailedExample[];
  /** OK rows in each zone, and the name of their column; empty without zones. */
  readonly byZone: number[];
  zoneColumn: string;
}

/** The table as detected by the worker. */
export interface FoundTable {
  readonly plan: TablePlan;
  /** The columns that were used. */
  readonly columns: Columns | undefined;
  /** Names of a workbook's sheets with rows, and the sheet that was read; empty for other files. */
  readonly sheets: readonly string[];
  readonly sheet: number;
  /** Rows above the header that were left out. */
  readonly titleRows: number;
}

/** From the worker. */
export type FileNews =
  | { readonly kind: 'table'; readonly table: FoundTable }
  | { readonly kind: 'progress'; readonly readBytes: number; readonly rows: number }
  | {
      readonly kind: 'done';
      readonly format: FileFormat;
      /** The bytes that `hexcodes encode` writes. */
      readonly answer: Blob;
      /** The header row and the failed rows of the answer; empty if there are none. */
      readonly failed: Blob;
      readonly tally: FileTally;
      readonly points: PointsToDraw;
      /** The first row of each block of answers and its first byte in `answer`: pairs. */
      readonly blocks: readonly number[];
      /** The zone of each point, 255 for none; empty without zones. */
      readonly zones: Uint8Array<ArrayBuffer>;
    }
  /** A zone, by its index, with more cells than a list may have. */
  | { readonly kind: 'zoneTooLarge'; readonly zone: number }
  /** A file in a format that only the command reads. */
  | { readonly kind: 'commandOnly'; readonly title: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'workbook'; readonly workbook: Blob };
