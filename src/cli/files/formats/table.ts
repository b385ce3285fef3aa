// Rows in columns: sources of any format give them in batches, sinks of any format take them. A column has a kind, so
// that a Parquet decimal or an Arrow timestamp keeps its value and, where the target can hold it, its type.

export type ColumnKind =
  | 'text'
  /** number */
  | 'double'
  /** number, 32 bits signed */
  | 'int'
  /** bigint, 64 bits signed */
  | 'long'
  | 'boolean'
  /** bigint since 1970 in the column's unit */
  | 'timestamp'
  /** number of days since 1970 */
  | 'date'
  /** bigint, the value without its decimal point */
  | 'decimal'
  /** Uint8Array */
  | 'binary'
  /** anything JSON can hold */
  | 'json';

export type TimeUnitName = 'ms' | 'us' | 'ns';

export interface TableColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Of timestamps. */
  readonly unit?: TimeUnitName;
  readonly isUtc?: boolean;
  /** Of decimals. */
  readonly scale?: number;
  readonly precision?: number;
}

/** A batch of rows: `values[column][row]`, null or undefined where there is no value. */
export interface TableRows {
  readonly rowCount: number;
  readonly values: readonly ArrayLike<unknown>[];
  /** The rows as they are in the file, of sources whose rows are JSON objects. */
  readonly documents?: readonly JsonDocument[];
}

/** One JSON object of a file. */
export interface JsonDocument {
  /** As it is in the file. */
  readonly text: string;
  readonly value: Record<string, unknown>;
}

/** The text around the features of a GeoJSON collection. `tail` is complete when the last batch has been read. */
export interface CollectionFrame {
  head: string;
  tail: string;
}

export interface TableSource {
  readonly columns: readonly TableColumn[];
  /** Of GeoJSON collections. */
  readonly frame?: CollectionFrame;
  batches(): AsyncIterable<TableRows>;
}

/** The columns of a sink. */
export interface SinkColumns {
  /** Columns of the source that are kept. */
  readonly kept: readonly TableColumn[];
  /** Ours, after them. */
  readonly added: readonly TableColumn[];
  /** Whether the kept columns are all of the source, in its order: then documents can be passed on unchanged. */
  readonly isWhole: boolean;
}

export interface TableSink {
  /** `rows.values` has one entry for each kept and each added column of the sink, in this order. */
  write(rows: TableRows): Promise<void>;
  /** Writes the end of the file. The caller finishes the output. */
  close(): Promise<void>;
}

/** Rows in a batch of CSV, NDJSON or GeoJSON. */
export const BATCH_ROWS = 8192;

/** A value as text, as CSV holds it; empty for null. */
export function textOf(column: TableColumn, value: unknown): string {
  if (value === null || value === undefined) return '';
  switch (column.kind) {
    case 'timestamp':
      return timestampText(value as bigint, column.unit ?? 'ms', column.isUtc === true);
    case 'date':
      return new Date((value as number) * 86_400_000).toISOString().slice(0, 10);
    case 'decimal':
      return decimalText(value as bigint, column.scale ?? 0);
    case 'binary':
      return bytesText(value as Uint8Array);
    case 'json':
      return typeof value === 'string' ? value : JSON.stringify(value, jsonBigint);
    default:
      return String(value);
  }
}

/** A value for JSON: numbers and booleans as they are, kinds that JSON does not have as text. */
export function jsonOf(column: TableColumn, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (column.kind) {
    case 'double':
      return Number.isFinite(value) ? value : null;
    case 'int':
    case 'boolean':
    case 'text':
      return value;
    case 'long':
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case 'json':
      return value;
    default:
      return textOf(column, value);
  }
}

/** Replacer for JSON.stringify: a bigint as a number where a double holds it exactly, else as text. */
export function jsonBigint(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** Bytes as text if they are UTF-8, else in base 64. */
function bytesText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  return text.includes('\ufffd') ? Buffer.from(bytes).toString('base64') : text;
}

const UNITS_PER_SECOND: Record<TimeUnitName, bigint> = { ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n };

function timestampText(value: bigint, unit: TimeUnitName, isUtc: boolean): string {
  const perSecond = UNITS_PER_SECOND[unit];
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const seconds = Number((value - fraction) / perSecond);
  const digits = fraction.toString().padStart(perSecond.toString().length - 1, '0');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${digits}${isUtc ? 'Z' : ''}`;
}

function decimalText(value: bigint, scale: number): string {
  if (scale <= 0) return value.toString();
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A value as a coordinate in degrees; NaN if it is none. Text must be a decimal number, blanks around it are allowed. */
export function degreesOf(column: TableColumn, value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    const trimmed = value.trim();
    return NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
  }
  if (typeof value === 'bigint') {
    return column.kind === 'decimal' ? Number(decimalText(value, column.scale ?? 0)) : Number(value);
  }
  return Number.NaN;
}
