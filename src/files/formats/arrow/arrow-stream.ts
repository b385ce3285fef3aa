// Arrow IPC by flechette, one record batch at a time, so that the whole file is never held. Files (`.arrow`,
// `.feather`) have a magic word and a footer around the stream.

import {
  binary,
  bool,
  type Column,
  type DataType,
  DateUnit,
  dateDay,
  decimal128,
  decimal256,
  duration,
  type Field,
  fixedSizeBinary,
  float32,
  float64,
  IntervalUnit,
  int8,
  int16,
  int32,
  int64,
  type Table,
  TimeUnit,
  Type,
  tableFromColumns,
  tableToIPC,
  time,
  timestamp,
  uint8,
  uint16,
  uint32,
  uint64,
  utf8,
} from '@uwdata/flechette';
import { Builder } from '@uwdata/flechette/src/encode/builder.js';
import { type Block, writeFooter } from '@uwdata/flechette/src/encode/footer.js';
import { validJson } from '../../../hexcodes/wire/params/json-grammar.js';
import type { Output } from '../../disk/output.js';
import { geoMetadata } from '../geoparquet.js';
import type { TableColumn, TimeUnitName } from '../table.js';
import { intervalText, leaf, type Shape, structOf, toBigInt, uuidText } from '../values/column-text.js';

// Arrow types as shapes of values: the kind of column that each becomes, and how flechette's values are read.

const MS_PER_DAY = 86_400_000;
const UNIT_NAMES: Record<number, TimeUnitName> = {
  [TimeUnit.SECOND]: 's',
  [TimeUnit.MILLISECOND]: 'ms',
  [TimeUnit.MICROSECOND]: 'us',
  [TimeUnit.NANOSECOND]: 'ns',
};

/** Key of a field's metadata that names its extension type. */
const EXTENSION_NAME = 'ARROW:extension:name';
const UUID_EXTENSION = 'arrow.uuid';
const JSON_EXTENSION = 'arrow.json';
const TEXTS: ReadonlySet<number> = new Set([Type.Utf8, Type.LargeUtf8, Type.Utf8View]);

/** @throws Error with the name of a type that is not read */
export function shapeOf({ type, metadata }: Pick<Field, 'type' | 'metadata'>): Shape {
  const extension = metadata?.get(EXTENSION_NAME);
  if (extension === UUID_EXTENSION && type.typeId === Type.FixedSizeBinary)
    return leaf({ kind: 'uuid' }, uuidText);
  if (extension === JSON_EXTENSION && TEXTS.has(type.typeId)) return leaf({ kind: 'json' }, validJson);
  switch (type.typeId) {
    case Type.Dictionary:
      return shapeOf({ type: type.dictionary, metadata });
    case Type.RunEndEncoded:
      return shapeOf(type.children[1]!);
    case Type.List:
    case Type.LargeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.FixedSizeList:
      return { is: 'list', of: shapeOf(type.children[0]!) };
    case Type.Struct:
      return structOf(type.children.map((field) => [field.name, shapeOf(field)] as const));
    case Type.Map: {
      const [key, value] = (type.children[0]!.type as { children: Field[] }).children;
      return { is: 'map', key: shapeOf(key!), value: shapeOf(value!) };
    }
    default:
      return leafOf(type);
  }
}

function leafOf(type: DataType): Shape {
  switch (type.typeId) {
    case Type.Null:
      return leaf({ kind: 'text' });
    case Type.Bool:
      return leaf({ kind: 'boolean' });
    case Type.Int:
      if (type.bitWidth === 64) return leaf({ kind: type.signed ? 'long' : 'ulong' }, toBigInt);
      return leaf({
        kind: type.signed ? 'int' : 'uint',
        ...(type.bitWidth === 32 ? {} : { bits: type.bitWidth }),
      });
    case Type.Float:
      return leaf({ kind: type.precision === 2 ? 'double' : 'float' });
    case Type.Decimal:
      return leaf({ kind: 'decimal', precision: type.precision, scale: type.scale }, toBigInt);
    case Type.Timestamp: {
      const { timezone } = type;
      const isUtc = timezone !== null && timezone !== '';
      return leaf({
        kind: 'timestamp',
        unit: UNIT_NAMES[type.unit]!,
        isUtc,
        ...(isUtc ? { zone: timezone } : {}),
      });
    }
    case Type.Date:
      return leaf({ kind: 'date' }, type.unit === DateUnit.DAY ? (ms: number) => ms / MS_PER_DAY : wholeDays);
    case Type.Time:
      return leaf({ kind: 'time', unit: UNIT_NAMES[type.unit]! }, toBigInt);
    case Type.Duration:
      return leaf({ kind: 'duration', unit: UNIT_NAMES[type.unit]! }, toBigInt);
    case Type.Interval:
      return leaf({ kind: 'text' }, INTERVAL_TEXT[type.unit]);
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return leaf({ kind: 'text' });
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return leaf({ kind: 'binary' });
    default: {
      const name = Object.entries(Type).find(([, id]) => id === type.typeId)?.[0] ?? `type ${type.typeId}`;
      throw new Error(`values of Arrow's type ${name} are not read`);
    }
  }
}

/** Dates of milliseconds must be whole days (Schema.fbs of Arrow). */
function wholeDays(ms: number): number {
  if (ms % MS_PER_DAY !== 0) throw new Error(`a date that is not a whole day: ${ms} ms`);
  return ms / MS_PER_DAY;
}

const INTERVAL_TEXT: Record<number, (value: never) => string> = {
  [IntervalUnit.YEAR_MONTH]: (months: number) => intervalText(months, 0, 0n),
  [IntervalUnit.DAY_TIME]: ([days, ms]: Int32Array) => intervalText(0, days!, 1_000_000n * BigInt(ms!)),
  [IntervalUnit.MONTH_DAY_NANO]: ([months, days, ns]: Float64Array) => {
    if (!Number.isSafeInteger(ns)) throw new Error(`an interval of ${ns} nanoseconds`);
    return intervalText(months!, days!, BigInt(ns!));
  },
};

const MAX_DIGITS_OF_128_BITS = 38;
const PREFIX_BYTES = 8;

const UNITS = {
  s: TimeUnit.SECOND,
  ms: TimeUnit.MILLISECOND,
  us: TimeUnit.MICROSECOND,
  ns: TimeUnit.NANOSECOND,
} as const;

/** The type that a column is written as. */
export function arrowType(column: TableColumn): DataType {
  const unit = UNITS[column.unit ?? 'ms'];
  switch (column.kind) {
    case 'text':
    case 'json':
      return utf8();
    case 'binary':
      return binary();
    case 'uuid':
      return fixedSizeBinary(16);
    case 'double':
      return float64();
    case 'float':
      return float32();
    case 'int':
      return column.bits === 8 ? int8() : column.bits === 16 ? int16() : int32();
    case 'uint':
      return column.bits === 8 ? uint8() : column.bits === 16 ? uint16() : uint32();
    case 'long':
      return int64();
    case 'ulong':
      return uint64();
    case 'boolean':
      return bool();
    case 'decimal': {
      const { precision = 38, scale = 0 } = column;
      return precision > MAX_DIGITS_OF_128_BITS ? decimal256(precision, scale) : decimal128(precision, scale);
    }
    case 'date':
      return dateDay();
    case 'timestamp':
      return timestamp(unit, column.zone ?? (column.isUtc === true ? 'UTC' : null));
    case 'time':
      // Times of UTC are a type of Parquet alone.
      return column.isUtc === true ? utf8() : time(unit);
    case 'duration':
      return duration(unit);
  }
}

/** Polars refuses a footer without a list of batches, which may be empty. */
class FooterBuilder extends Builder {
  override addVector(items: readonly unknown[], ...rest: unknown[]): number {
    if (items.length > 0) return super.addVector(items, ...rest);
    this.addInt32(0);
    return this.offset();
  }
}

/** A stream of record batches, or a file of them, with magic word and footer. */
export class ArrowStream {
  readonly #blocks: Block[] = [];
  #offset = 0;
  #schema: Table['schema'] | null = null;

  constructor(
    private readonly output: Output,
    private readonly columns: readonly TableColumn[],
    private readonly hasFooter: boolean,
  ) {}

  /** Whether no batch has been written; the first batch writes the schema. */
  get isEmpty(): boolean {
    return this.#schema === null;
  }

  async #emit(bytes: Uint8Array): Promise<void> {
    this.#offset += bytes.length;
    await this.output.write(this.output.holdsBytes ? bytes.slice() : bytes);
  }

  /** @param columns of one batch each, whose buffers may be reused once it has resolved */
  async writeBatch(columns: readonly Column<unknown>[]): Promise<void> {
    const entries = this.columns.map(({ name }, c) => [name, columns[c]!]);
    const table = tableFromColumns(entries as never);
    this.columns.forEach(({ kind }, c) => {
      if (kind === 'uuid') table.schema.fields[c]!.metadata = new Map([[EXTENSION_NAME, UUID_EXTENSION]]);
    });
    const geo = geoMetadata(this.columns);
    if (geo !== undefined) table.schema.metadata = new Map([['geo', geo]]);
    // Messages are written as they are made: first the schema, then the batch, whose buffers are not copied.
    const parts: Uint8Array[] = [];
    const sink = {
      write: (bytes: Uint8Array) => void parts.push(bytes),
      pad: (count: number) => void parts.push(new Uint8Array(count)),
      finish: () => null,
    };
    tableToIPC(table, { format: 'stream', sink } as Parameters<typeof tableToIPC>[1]);
    // The end mark comes after the last batch only.
    parts.pop();
    const schemaParts = partsOf(parts, 0, messageSizeOf(parts[0]!));
    if (this.#schema === null) {
      this.#schema = table.schema;
      if (this.hasFooter) await this.#emit(Buffer.from('ARROW1\0\0', 'latin1'));
      for (const part of parts.slice(0, schemaParts)) await this.#emit(part);
    }
    const batch = parts.slice(schemaParts);
    if (batch.length === 0) return;
    const metadataLength = messageSizeOf(batch[0]!);
    const bodyLength = batch.reduce((sum, { length }) => sum + length, -metadataLength);
    this.#blocks.push({ offset: this.#offset, metadataLength, bodyLength });
    for (const part of batch) await this.#emit(part);
  }

  async end(): Promise<void> {
    const ending: Uint8Array[] = [Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0)];
    if (this.hasFooter && this.#schema !== null) {
      const sink = {
        write: (bytes: Uint8Array) => void ending.push(bytes.slice()),
        pad: (count: number) => void ending.push(new Uint8Array(count)),
      };
      writeFooter(new FooterBuilder(sink), this.#schema, [], this.#blocks, null);
    }
    await this.#emit(Buffer.concat(ending));
  }
}

/** Bytes of a message before its body: `u32 0xFFFFFFFF │ u32 size of the metadata │ metadata`. */
function messageSizeOf(head: Uint8Array): number {
  return PREFIX_BYTES + new DataView(head.buffer, head.byteOffset).getUint32(4, true);
}

/** The number of parts from one on that add up to a number of bytes. */
function partsOf(parts: readonly Uint8Array[], from: number, sizeBytes: number): number {
  let count = 0;
  for (let size = 0; size < sizeBytes; count++) size += parts[from + count]!.length;
  return count;
}
