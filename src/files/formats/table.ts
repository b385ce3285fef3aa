// Rows in columns: sources of any format return them in batches, sinks of any format write them. A column has a kind,
// so that a Parquet decimal or an Arrow timestamp keeps its value and, where the target can hold it, its type.

import type { MemberChoice } from '../../hexcodes/wire/bulk/convert-lines.js';
import type { AddedValue } from '../../hexcodes/wire/rows/convert-rows.js';
import type { WholePosition } from '../../tables/positions.js';
import type { FileFormat } from '../format.js';
import type { GrowingBytes, ValueAdder, ValueRanges } from '../rows/text-rows.js';
import type { DeclaredGeometries, GeometryMember } from './geoparquet.js';

/** Units of timestamps, times and durations. */
export type TimeUnitName = 's' | 'ms' | 'us' | 'ns';

export type ColumnKind =
  | 'text'
  /** number */
  | 'double'
  /** number, one that 32 bits hold */
  | 'float'
  /** number, 32 bits signed, or fewer (`bits`) */
  | 'int'
  /** number, 32 bits unsigned, or fewer (`bits`) */
  | 'uint'
  /** bigint, 64 bits signed */
  | 'long'
  /** bigint, 64 bits unsigned */
  | 'ulong'
  | 'boolean'
  /** bigint since 1970 in the column's unit */
  | 'timestamp'
  /** number of days since 1970 */
  | 'date'
  /** bigint since midnight in the column's unit */
  | 'time'
  /** bigint in the column's unit */
  | 'duration'
  /** bigint, the value without its decimal point */
  | 'decimal'
  /** text of 36 characters */
  | 'uuid'
  /** Uint8Array */
  | 'binary'
  /** the text of any JSON value */
  | 'json';

export interface TableColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly unit?: TimeUnitName;
  /** Whether timestamps are instants, or times are times of UTC. */
  readonly isUtc?: boolean;
  /** Time zone for showing instants. */
  readonly zone?: string;
  /** The description of a column of geometries in GeoParquet. */
  readonly geo?: GeometryMember;
  readonly scale?: number;
  readonly precision?: number;
  /** How a Parquet file stores the decimals, if differently from us: fixed bytes by their number. */
  readonly storage?: 'INT32' | 'INT64' | number;
  /** Bits of small integers. */
  readonly bits?: 8 | 16;
  /** Whether the kind was inferred from values: for JSON sources. */
  readonly isInferred?: boolean;
  /** Why the values of the column are not read; the column must then be omitted. */
  readonly unread?: string;
}

/** The columns that positions become. */
export const POSITION_COLUMNS: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
];

/** Columns as a text, equal for inputs that can be converted together. */
export function typesOf(columns: readonly TableColumn[]): string {
  return JSON.stringify(columns.map(({ zone: _, geo: __, storage: ___, ...type }) => type));
}

/**
 * How rows of JSON must fit the columns of their source. `any`: documents are passed on. `names`: every field is in a
 * column, for CSV and GeoJSON. `types`: and has the column's type, for Parquet and Arrow.
 */
export type RowFit = 'any' | 'names' | 'types';

/** A batch of rows: `values[column][row]`, null or undefined where there is no value. */
export interface TableRows {
  readonly rowCount: number;
  readonly values: readonly ArrayLike<unknown>[];
  /** The original rows, for sources whose rows are JSON objects. */
  readonly documents?: readonly JsonDocument[];
  /** Types of the shapes of rows that are not points, by their numbers in the batch. */
  readonly others?: ReadonlyMap<number, string>;
  /** Why the position or code of a row is not read, by row index in the batch. */
  readonly unread?: ReadonlyMap<number, string>;
  /** The values of only the first rows, for sources that make them on request. */
  readonly firstValues?: (rows: number) => TableRows['values'];
  /** The rows for a writer of bytes, of sources that have values as bytes. @throws CliFailure BAD_INPUT */
  readonly asBytes?: (wanted: WantedBytes) => RowBytes;
}

/** The unread rows among rows made from others. @param from for each row, the row it was made from */
export function unreadOf({ unread }: TableRows, from: readonly number[]): Pick<TableRows, 'unread'> {
  if (unread === undefined) return {};
  return {
    unread: new Map(from.flatMap((row, i) => (unread.has(row) ? [[i, unread.get(row)!] as const] : []))),
  };
}

/** Values of rows that a writer of bytes reads. */
export interface WantedBytes {
  /** How values of the columns are added; null for those that are not wanted. */
  readonly adders: readonly (ValueAdder | null)[];
  /** Whether ranges are plain values in the types of the columns, instead of texts. */
  readonly isTyped: boolean;
  /** How features that are passed on are cut: their two parts are two more columns. */
  readonly sides: {
    readonly adders: readonly ValueAdder[];
    /** Where the two parts of a feature that is written unchanged meet; -1 for any other. */
    splitOf(feature: JsonDocument): number;
  } | null;
}

/** Rows whose values need not be parsed. */
export interface RowBytes {
  /** Values of the rows that `add` does not add. */
  readonly values: TableRows['values'];
  /**
   * Adds the values of a row.
   * @param to its index among the ranges
   * @returns false for a row whose values must be parsed
   */
  add(row: number, text: GrowingBytes, ranges: readonly ValueRanges[], to: number): boolean;
  /** Reads the positions that the source itself has. */
  readPositions(latLngDeg: Float64Array): void;
}

/** One JSON object of a file. */
export interface JsonDocument {
  /** Text as in the file. */
  readonly text: string;
  readonly value: Record<string, unknown>;
  /** Whether integers of the value may be bigints. */
  readonly hasBigints: boolean;
  /** Whether no member is duplicated. */
  readonly givesOnce?: true;
  /** The text of a feature or geometry in the file; undefined for NDJSON. */
  readonly featureText?: string;
  /** Approximate bytes that text and value take in memory. */
  readonly weight: number;
}

/** The text around features in GeoJSON. Only `head` is known before the last batch has been read. */
export interface CollectionFrame {
  /** The text before the features of the first collection, and the text after them. */
  head: string;
  tail: string;
  /** JSON texts of the members around the features of collections, the first one's first. */
  readonly members: Set<string>;
}

export interface TableSource {
  readonly columns: readonly TableColumn[];
  readonly frame?: CollectionFrame;
  /** Indexes of the columns that its geometries become. */
  readonly position?: { readonly lat: number; readonly lng: number };
  /** Its columns of geometries, where the file declares them. */
  readonly geometries?: DeclaredGeometries | undefined;
  batches(): AsyncIterable<TableRows>;
}

export interface SinkColumns {
  /** Columns of the source that are kept. */
  readonly kept: readonly TableColumn[];
  /** Our columns, which follow them. */
  readonly added: readonly TableColumn[];
  /** Where columns may be left out: the members of a row of NDJSON, and properties of a feature, that are kept. */
  readonly chosen?: MemberChoice;
  /** Columns derived from the codes, where rows are to be sorted by their codes. */
  readonly derived?: DerivedColumns;
}

/** Indexes among all columns of a sink. */
export interface DerivedColumns {
  readonly code: number;
  readonly cell: number;
  readonly admin: number;
  /** The first of four. */
  readonly box: number;
  readonly status: number;
}

export interface TableSink {
  /** `rows.values` has one entry for each column, in their order. */
  write(rows: TableRows): Promise<void>;
  /** Writes the end of the file. The caller finishes the output. */
  close(): Promise<void>;
}

/** Rows in a batch of CSV, NDJSON or GeoJSON. */
export const BATCH_ROWS = 8192;
/** Bytes of rows in memory at which such a batch ends. The same in every run: `--resume` continues after a batch. */
export const BATCH_BYTES = 64 * 1024 * 1024;

// The plan of a run by rows of bytes: what is read, kept and written.

/** The columns that are read: a position, or a code and -1 for both halves of a position. */
export interface ReadColumns {
  readonly lat: number;
  readonly lng: number;
  /** -1 where positions are read. */
  readonly code: number;
  /** Index of each row's own resolution, -1 if rows have none. */
  readonly own: number;
  /** Where positions are, if they are in the texts of one column: `lat` and `lng` are -1 then. */
  readonly whole?: WholePosition;
}

/** The texts before and after features. The second is known when all features have been read. */
export interface FeatureFrame {
  readonly lead: string;
  /** Whether each feature is a line of its own, instead of one of a list. */
  readonly isLines?: boolean;
  end(): string;
}

/** Features and objects that are lines. */
export const LINES: FeatureFrame = { lead: '', isLines: true, end: () => '' };

/** A value of a column that is ours; null where it is made of codes when rows have been sorted. */
export type OurValue = AddedValue['is'] | 'lat' | 'lng' | null;

/** Indexes of a position among the columns that are written; -1 where it is in none. */
export interface PointColumns {
  readonly lat: number;
  readonly lng: number;
  /** The column of binary geometries that the position is read from. */
  readonly shape?: number;
}

/** The columns of the first input, by which all are read. */
export interface RowPlan extends ReadColumns {
  readonly source: 'text' | 'ndjson' | 'parquet' | 'arrow' | 'values';
  readonly columns: readonly TableColumn[];
  readonly kept: readonly number[];
  readonly sink: SinkColumns;
  readonly ours: readonly OurValue[];
  readonly position: PointColumns;
  /** The column of codes among the rows, where it is another than in the source: their texts follow its columns. */
  readonly codeAt?: number;
  /** The texts around features and lines that are passed on: their sides are two columns after those of the source. */
  readonly frame?: FeatureFrame;
  /** Whether ranges are plain values, as Parquet and Arrow have them, instead of texts. */
  readonly isTyped: boolean;
  /** Formats of the output and of the file of failed rows. */
  readonly format: FileFormat;
  readonly rejects: FileFormat | null;
}
