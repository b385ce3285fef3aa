// Rows in columns, the form in which formats meet that the text converter does not read: sources give batches, sinks
// take them. A column says what its values are, so that a Parquet decimal or an Arrow timestamp keeps its value and,
// where the target can hold it, its type.

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

/** Rows of a source or for a sink: `values[c][r]`, null or undefined where there is none. */
export interface TableRows {
  readonly rowCount: number;
  readonly values: readonly ArrayLike<unknown>[];
  /** The rows as they stood, of sources whose rows are JSON objects. */
  readonly documents?: readonly JsonDocument[];
}

/** One JSON object of a file. */
export interface JsonDocument {
  /** As it was written. */
  readonly text: string;
  readonly value: Record<string, unknown>;
}

export interface TableSource {
  readonly columns: readonly TableColumn[];
  /** Known beforehand by some formats only. */
  readonly rowCount: number | null;
  batches(): AsyncIterable<TableRows>;
}

/** The columns of a sink. */
export interface SinkColumns {
  /** Columns of the source that are kept. */
  readonly kept: readonly TableColumn[];
  /** Ours, after them. */
  readonly added: readonly TableColumn[];
  /** Whether every column of the source is kept, so that documents can be passed on as they stand. */
  readonly isWhole: boolean;
}

export interface TableSink {
  /** `values` as the sink's columns. */
  write(rows: TableRows): Promise<void>;
  /** Writes what closes the file; the output itself is finished by its owner. */
  close(): Promise<void>;
}

/** Rows a batch of the row-wise formats holds. */
export const BATCH_ROWS = 8192;

/** A value as CSV shows it; empty for none. */
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

/** A value as JSON holds it: numbers and booleans as such, whatever JSON has no form for as text. */
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

/** For JSON.stringify: whole numbers beyond double precision as text. */
export function jsonBigint(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** Bytes that are UTF-8 as that, others in base 64. */
function bytesText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  return text.includes('\ufffd') ? Buffer.from(bytes).toString('base64') : text;
}

const UNITS_A_SECOND: Record<TimeUnitName, bigint> = { ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n };

function timestampText(value: bigint, unit: TimeUnitName, isUtc: boolean): string {
  const perSecond = UNITS_A_SECOND[unit];
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

/** A value as a coordinate in degrees; NaN for what is none. Text must be a plain decimal number. */
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
