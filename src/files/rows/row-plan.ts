// How a run goes by rows of bytes: what is read, kept and written.

import type { FileFormat } from '../format.js';
import type { SinkColumns, TableColumn } from '../formats/table.js';

/** The columns that are read: a position, or a code and -1 for both halves of a position. */
export interface ReadColumns {
  readonly lat: number;
  readonly lng: number;
  /** -1 where positions are read. */
  readonly code: number;
  /** Each row's own resolution, -1 where rows have none. */
  readonly own: number;
}

/** The texts before and after features. The second is known when all have been read. */
export interface FeatureFrame {
  readonly lead: string;
  end(): string;
}

/** The columns of the first input, by which all are read. */
export interface RowPlan extends ReadColumns {
  readonly source: 'text' | 'ndjson' | 'parquet' | 'arrow' | 'values';
  readonly columns: readonly TableColumn[];
  readonly kept: readonly number[];
  readonly sink: SinkColumns;
  readonly position: { readonly lat: number; readonly lng: number };
  /** The texts around features that are passed on: their sides are two columns after those of the source. */
  readonly frame?: FeatureFrame;
  /** Whether ranges are plain values, as columns of types have them, instead of texts. */
  readonly isTyped: boolean;
  /** Formats of the output and of the file of failed rows. */
  readonly format: FileFormat;
  readonly rejects: FileFormat | null;
}
