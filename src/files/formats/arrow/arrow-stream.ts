// Arrow IPC by flechette, one record batch at a time, so that the whole file is never held. Files (`.arrow`,
// `.feather`) have a magic word and a footer around the stream.

import {
  binary,
  bool,
  type Column,
  type DataType,
  dateDay,
  decimal128,
  decimal256,
  duration,
  fixedSizeBinary,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  type Table,
  TimeUnit,
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
import type { Output } from '../../disk/output.js';
import { geoMetadata } from '../geoparquet.js';
import type { TableColumn } from '../table.js';
import { EXTENSION_NAME, UUID_EXTENSION } from './arrow-types.js';

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

  /** Whether no batch has been written, with which the schema comes. */
  get isEmpty(): boolean {
    return this.#schema === null;
  }

  async #emit(bytes: Uint8Array): Promise<void> {
    this.#offset += bytes.length;
    await this.output.write(this.output.holdsBytes ? bytes.slice() : bytes);
  }

  /** @param columns of one batch each, whose buffers are not read any more when it has resolved */
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
      writeFooter(new Builder(sink), this.#schema, [], this.#blocks, null);
    }
    await this.#emit(Buffer.concat(ending));
  }
}

/** Bytes of a message before its body: `u32 0xFFFFFFFF │ u32 size of the metadata │ metadata`. */
function messageSizeOf(head: Uint8Array): number {
  return PREFIX_BYTES + new DataView(head.buffer, head.byteOffset).getUint32(4, true);
}

/** How many of the parts from one on have a number of bytes together. */
function partsOf(parts: readonly Uint8Array[], from: number, sizeBytes: number): number {
  let count = 0;
  for (let size = 0; size < sizeBytes; count++) size += parts[from + count]!.length;
  return count;
}
